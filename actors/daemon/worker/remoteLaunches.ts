/**
 * Launches whose guardian the worker starts (ruling "who launches what"): for the coordinator they look like its own. What
 * the worker has not been told to open was not opened: its gate closes with its link, or with the worker itself.
 */
import { GuardianLaunchError, type LaunchErrorCode } from '../../../pty/launch/errors.ts';
import type { GuardianExit, Launch, LaunchReady, LaunchRequest } from '../../../pty/launch/launch.ts';
import type { Clock } from '../../observe/clock.ts';
import { deferred } from '../../runtime/deferred.ts';
import type { FromWorker, ToWorker } from '../../worker/messages.ts';

type Request = Omit<LaunchRequest, 'stdio'>;
type Say = (message: ToWorker) => boolean;
type About = Extract<FromWorker, { launchId: unknown }>;
type Opened = Awaited<ReturnType<Launch['openGate']>>;

export class RemoteLaunches {
  readonly #clock: Pick<Clock, 'monoMs' | 'wakeAt'>;
  readonly #launches = new Map<string, RemoteLaunch>();
  #say: Say | undefined;

  constructor(clock: Pick<Clock, 'monoMs' | 'wakeAt'>) {
    this.#clock = clock;
  }

  attach(say: Say): void {
    this.detach();
    this.#say = say;
  }

  /** The worker is not connected any more: what was not released by now never will be. */
  detach(): void {
    this.#say = undefined;
    for (const launch of this.#launches.values()) launch.lost();
    this.#launches.clear();
  }

  /** Resolves when both identities are known. Throws GuardianLaunchError; nothing runs then. */
  async launch(request: Request): Promise<Launch> {
    const say = this.#say;
    if (say === undefined) throw failure('spawn_failed', 'spawn', 'worker_absent');
    const launch = new RemoteLaunch({ request, say, clock: this.#clock });
    this.#launches.set(request.scopeId, launch);
    void launch.exited.then(() => {
      if (this.#launches.get(request.scopeId) === launch) this.#launches.delete(request.scopeId);
    });
    return launch.started();
  }

  heard(message: About): void {
    const launch = this.#launches.get(message.launchId);
    if (launch !== undefined) launch.heard(message);
    // Too late for this daemon, or of a former one: nobody waits for it, so its gate stays shut.
    else if (message.type === 'ready') this.#say?.({ type: 'abandon', launchId: message.launchId });
  }
}

interface Parts {
  readonly request: Request;
  readonly say: Say;
  readonly clock: Pick<Clock, 'monoMs' | 'wakeAt'>;
}

class RemoteLaunch {
  readonly #parts: Parts;
  readonly #ready = deferred<LaunchReady>();
  readonly #gate = deferred<Opened>();
  readonly #gone = deferred<GuardianExit>();
  readonly exited: Promise<GuardianExit> = this.#gone.promise;
  #isAsked = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    // Whoever waits is told; where nobody does, that is no fault.
    for (const { promise } of [this.#ready, this.#gate]) promise.catch(() => undefined);
  }

  async started(): Promise<Launch> {
    const { request, say } = this.#parts;
    const { scopeId: launchId } = request;
    say({ type: 'spawn', launchId, request: toldOf(request) } as ToWorker);
    const stop = this.#bound(() => {
      say({ type: 'abandon', launchId } as ToWorker);
      this.#end(failure('handshake_timeout', 'handshake', null));
    });
    const ready = await this.#ready.promise.finally(stop);
    return {
      pid: ready.guardian.pid,
      ready,
      exited: this.exited,
      openGate: () => this.#open(),
      abandon: () => this.#abandon(),
      acknowledgeOutput: () => {},
      unref: () => {},
    };
  }

  heard(message: About): void {
    if (message.type === 'ready') this.#ready.resolve(message.ready);
    else if (message.type === 'failed') this.#end(failureTold(message));
    else if (message.type === 'gate') this.#answered(message.answer);
    else this.#end(this.#lateFailure('guardian_ended'), message);
  }

  lost(): void {
    this.#end(this.#lateFailure('worker_lost'));
  }

  /** Before the request to open nothing can have run; afterwards nobody can tell (GRD-07). */
  #lateFailure(step: string): GuardianLaunchError {
    return this.#isAsked ? failure('release_uncertain', 'gate', step) : failure('guardian_died', 'handshake', step);
  }

  #end(
    error: GuardianLaunchError,
    { code = null, signal = null }: { code?: number | null; signal?: string | null } = {},
  ) {
    this.#ready.reject(error);
    this.#gate.reject(error);
    this.#gone.resolve({ code, signal: signal as NodeJS.Signals | null });
  }

  #answered(answer: Extract<FromWorker, { type: 'gate' }>['answer']): void {
    if (answer.kind === 'released') this.#gate.resolve({ released: true });
    else if (answer.kind === 'execFailed') this.#gate.resolve({ execFailed: answer.errno });
    else
      this.#gate.reject(
        failure(answer.kind === 'notReleased' ? 'not_released' : 'release_uncertain', 'gate', answer.step),
      );
  }

  #open(): Promise<Opened> {
    if (this.#isAsked) return this.#gate.promise;
    const { request, say } = this.#parts;
    if (!say({ type: 'open', launchId: request.scopeId } as ToWorker)) {
      return Promise.reject(failure('not_released', 'gate', 'worker_absent'));
    }
    this.#isAsked = true;
    const stop = this.#bound(() => this.#gate.reject(failure('release_uncertain', 'gate', 'silent')));
    return this.#gate.promise.finally(stop);
  }

  #abandon(): Promise<GuardianExit> {
    const { request, say } = this.#parts;
    if (!this.#isAsked && !say({ type: 'abandon', launchId: request.scopeId } as ToWorker)) this.lost();
    const stop = this.#bound(() => this.lost());
    return this.exited.finally(stop);
  }

  /** A worker that was stopped answers nothing, and whoever waits for the launch has to go on: twice a handshake. */
  #bound(over: () => void): () => void {
    const { clock, request } = this.#parts;
    return clock.wakeAt(clock.monoMs() + 2 * request.handshakeMs, over);
  }
}

/** The worker adds what is its own: the guardian's executable, the installation, and where it enrols. */
function toldOf(request: Request): Record<string, unknown> {
  const { scopeId, scopeDir, slots, argv, env, cwd, umask, handshakeMs, graceMs, budgetMs } = request;
  return { scopeId, scopeDir, slots, argv, env, cwd, umask, handshakeMs, graceMs, budgetMs };
}

const failureTold = ({ code, phase, errno, step }: Extract<FromWorker, { type: 'failed' }>) =>
  new GuardianLaunchError({ code: knownCode(code), phase, errno, step: step ?? code });

const failure = (code: LaunchErrorCode, phase: 'spawn' | 'handshake' | 'gate', step: string | null) =>
  new GuardianLaunchError({ code, phase, step });

const codes: ReadonlySet<string> = new Set<LaunchErrorCode>([
  'request_invalid',
  'guardian_missing',
  'spawn_failed',
  'guardian_refused',
  'guardian_died',
  'handshake_timeout',
  'protocol_error',
  'not_released',
]);

const knownCode = (code: string): LaunchErrorCode => (codes.has(code) ? (code as LaunchErrorCode) : 'spawn_failed');
