/**
 * Starts the guardians of what the worker runs, each nested in the worker's own scope, and opens a gate only when the
 * daemon says that the release is committed (ruling 6). A gate that was not opened closes with the link to the daemon.
 */
import { captureFiles } from '../../pty/launch/capture.ts';
import { GuardianLaunchError } from '../../pty/launch/errors.ts';
import { type GuardianExit, type Launch, launchGuardian } from '../../pty/launch/launch.ts';
import type { FromWorker, WorkerContext, WorkerLaunchRequest } from './messages.ts';

type Told = Pick<WorkerContext, 'guardianPath' | 'installationId' | 'scopeDir'>;
type Say = (message: FromWorker) => void;

interface Held {
  readonly launch: Promise<Launch>;
  isOpened: boolean;
}

export class WorkerLaunches {
  readonly #held = new Map<string, Held>();
  readonly #context: Told;
  readonly #say: Say;

  constructor(context: Told, say: Say) {
    this.#context = context;
    this.#say = say;
  }

  async spawn(request: WorkerLaunchRequest): Promise<void> {
    const launchId = request.scopeId;
    const held: Held = { launch: this.#started(request), isOpened: false };
    this.#held.set(launchId, held);
    try {
      const launch = await held.launch;
      void launch.exited.then((exit) => this.#gone(request, exit));
      this.#say({ type: 'ready', launchId, ready: launch.ready });
    } catch (error) {
      this.#held.delete(launchId);
      this.#say({ type: 'failed', launchId, ...faultOf(error) });
    }
  }

  /** Also a place for its output that cannot be opened is a launch that fails, and not the end of the worker. */
  async #started(request: WorkerLaunchRequest): Promise<Launch> {
    const { guardianPath, installationId, scopeDir } = this.#context;
    const files = captureFiles(request.scopeDir);
    const whole = { ...request, guardianPath, installationId, upSocketDir: scopeDir, stdio: files.stdio };
    return launchGuardian(whole).finally(() => files.close());
  }

  #gone({ scopeId: launchId }: WorkerLaunchRequest, { code, signal }: GuardianExit): void {
    this.#held.delete(launchId);
    this.#say({ type: 'gone', launchId, code, signal });
  }

  async open(launchId: WorkerLaunchRequest['scopeId']): Promise<void> {
    const held = this.#held.get(launchId);
    if (held === undefined || held.isOpened) return;
    held.isOpened = true;
    const launch = await held.launch;
    const opened = await launch.openGate().then(answerOf, refusalOf);
    this.#say({ type: 'gate', launchId, answer: opened });
  }

  async abandon(launchId: string): Promise<void> {
    const held = this.#held.get(launchId);
    if (held === undefined || held.isOpened) return;
    await held.launch.then(
      (launch) => launch.abandon(),
      () => undefined,
    );
  }

  /** Nobody can say any more that a release was committed, so none of those that wait for it may run. */
  abandonUnopened(): void {
    for (const launchId of this.#held.keys()) void this.abandon(launchId);
  }
}

type GateAnswer = Extract<FromWorker, { type: 'gate' }>['answer'];

const answerOf = (answer: { released: true } | { execFailed: number }): GateAnswer =>
  'released' in answer ? { kind: 'released' } : { kind: 'execFailed', errno: answer.execFailed };

function refusalOf(error: unknown): GateAnswer {
  const { code, step } = error as Partial<GuardianLaunchError>;
  const kind = code === 'not_released' ? 'notReleased' : 'uncertain';
  return { kind, step: (step ?? code ?? 'unknown').slice(0, 64) };
}

function faultOf(error: unknown): Pick<Extract<FromWorker, { type: 'failed' }>, 'code' | 'phase' | 'errno' | 'step'> {
  if (error instanceof GuardianLaunchError) {
    const { code, phase, errno, step } = error;
    return { code, phase, errno, step: step?.slice(0, 64) ?? null };
  }
  const { code = 'internal_error' } = error as { readonly code?: string };
  return { code: String(code).slice(0, 64), phase: 'spawn', errno: null, step: null };
}
