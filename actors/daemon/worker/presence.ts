/**
 * The worker as the daemon knows it at this moment: the one connection that was shown to be its own, and its newest tick. A
 * tick is journaled when it changes what is recorded, and remembered otherwise (section E); silence is measured here and
 * proves nothing (WRK-06).
 */
import { type ProcessIdentity, sameProcess } from '../../../machines/identity.ts';
import { type Tick, tickFault, type WorkerHealth, workerHealth } from '../../../machines/workerHealth.ts';
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import { workerDeadline } from '../../../machines/workerIncarnationContext.ts';
import { committed } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft, wasAccepted } from '../../runtime/submission.ts';
import type { FromWorker } from '../../worker/messages.ts';
import type { Caller } from './door.ts';
import { tokenHash } from './workerLaunch.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'adapter' | 'startedMonoMs' | 'log'> & {
  /** The incarnation that counts; undefined where none was launched. */
  readonly current: () => WorkerSnapshot | undefined;
};

type Registration = Extract<FromWorker, { type: 'register' }>;
type ToldTick = Extract<FromWorker, { type: 'tick' }>;

interface Registered {
  readonly caller: Caller;
  readonly incarnationId: string;
  readonly process: ProcessIdentity;
}

const by = 'worker';

export class WorkerPresence {
  readonly #parts: Parts;
  #registered: Registered | undefined;
  #lastTick: Tick | undefined;
  #stopClock: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The connection of the worker that counts. */
  get caller(): Caller | undefined {
    const { incarnationId, caller } = this.#registered ?? {};
    return incarnationId === this.#parts.current()?.context.incarnationId ? caller : undefined;
  }

  /** Undefined when the caller is the worker that counts; else why not. */
  async register(caller: Caller, message: Registration): Promise<string | undefined> {
    const worker = this.#parts.current();
    if (worker === undefined || committed(this.#parts.host, 'workerIncarnation', message.incarnationId) === undefined)
      return 'unknown_incarnation';
    if (worker.context.incarnationId !== message.incarnationId) return 'replaced';
    const process = this.#processOf(caller, message.scopeId);
    const fault = await this.#registrationFault(worker, message, process);
    if (fault !== undefined || process === undefined) return fault ?? 'not_registered_worker';
    this.#registered = { caller, incarnationId: message.incarnationId, process };
    if (this.#lastTick?.incarnationId !== message.incarnationId) this.#lastTick = undefined;
    this.watchSilence();
    return undefined;
  }

  async #registrationFault(
    worker: WorkerSnapshot,
    message: Registration,
    process: ProcessIdentity | undefined,
  ): Promise<string | undefined> {
    const { incarnationId, registrationId, launchTokenHash, scopeId } = worker.context;
    const { host } = this.#parts;
    const isSame =
      tokenHash(message.token) === launchTokenHash &&
      message.registrationId === registrationId &&
      message.scopeId === scopeId;
    if (!worker.matches('launching')) {
      // It comes back to another daemon, or over a new connection.
      if (!isSame) return 'other_token';
      const recorded = worker.context.process;
      const isIt = recorded !== null && process !== undefined && sameProcess(recorded, process);
      if (!isIt) return 'not_registered_worker';
      return worker.matches('exited') || worker.matches('stopping') ? 'stopping' : undefined;
    }
    if (process === undefined) return 'not_registered_worker';
    const payload = {
      launchTokenHash: tokenHash(message.token),
      registrationId: message.registrationId,
      scopeId: message.scopeId,
      process,
      isRegisteredPeer: true,
    };
    const to = ['workerIncarnation', incarnationId] as const;
    const [outcome] = await host.submit([draft('worker.registered', { to, payload, by })]);
    return wasAccepted(outcome!) ? undefined : 'other_token';
  }

  /** Undefined unless the caller is the very process that the guardian of that scope launched (WRK-03). */
  #processOf({ peer }: Caller, scopeId: string): ProcessIdentity | undefined {
    const { host, adapter } = this.#parts;
    const workload = committed(host, 'executionScope', scopeId)?.context.workload;
    if (!workload || workload.pid !== peer.process.pid) return undefined;
    try {
      const captured = adapter.capture(peer.process.pid, peer.process.pidfs ?? '');
      return captured.processToken === peer.process.start && sameProcess(workload, captured) ? workload : undefined;
    } catch {
      return undefined;
    }
  }

  /** Undefined when the tick counts; else which comparison it failed (WRK-02). */
  async tick(caller: Caller, told: ToldTick): Promise<string | undefined> {
    const worker = this.#parts.current();
    if (worker === undefined) return 'other_incarnation';
    const tick = this.#tickOf(caller, told);
    const fault = tickFault(worker.context, tick, this.#lastSeq(worker));
    if (fault !== undefined) return fault;
    this.#lastTick = tick;
    if (!worker.matches('healthy')) await this.#journal(tick);
    return undefined;
  }

  #tickOf(caller: Caller, told: ToldTick): Tick {
    const { incarnationId, runtimeId, registrationId, token, targetId, nodeId, seq, checkId } = told;
    const registered = this.#registered?.caller === caller ? this.#registered : undefined;
    // Read after the tick was heard, so that it can never seem older than it is (WRK-06).
    const { monoMs, bootId } = this.#parts.clock.now();
    return {
      incarnationId,
      runtimeId,
      registrationId,
      launchTokenHash: tokenHash(token),
      process: registered?.process ?? nobody(this.#parts.store.installationId),
      targetId,
      nodeId: nodeId as Tick['nodeId'],
      seq,
      sampledAt: { monoMs, bootId },
      completedCycle: checkId === null,
      isRegisteredPeer: registered !== undefined,
    };
  }

  #lastSeq({ context }: WorkerSnapshot): number {
    const remembered = this.#lastTick?.incarnationId === context.incarnationId ? this.#lastTick.seq : 0;
    return Math.max(remembered, context.tick.seq);
  }

  async #journal(tick: Tick): Promise<void> {
    const to = ['workerIncarnation', tick.incarnationId] as const;
    await this.#parts.host.submit([draft('scheduler.tick', { to, payload: tick, by })]);
    this.watchSilence();
  }

  /** The caller has gone; its silence is what counts from now on. */
  forget(caller: Caller): void {
    if (this.#registered?.caller === caller) this.#registered = undefined;
  }

  /** Looks when the present silence would have lasted too long, and says so if it has. */
  watchSilence(): void {
    this.#stopClock?.();
    const worker = this.#parts.current();
    const kind = worker?.matches('healthy') ? 'silence' : worker?.matches('starting') ? 'startup' : undefined;
    if (worker === undefined || kind === undefined) return;
    const { clock } = this.#parts;
    const untilMonoMs = this.#heardMonoMs(worker, kind) + worker.context[`${kind}Ms`];
    this.#stopClock = clock.wakeAt(untilMonoMs, () => {
      const isDue = clock.monoMs() >= this.#heardMonoMs(worker, kind) + worker.context[`${kind}Ms`];
      if (!isDue) return this.watchSilence();
      this.#silent(worker.context.incarnationId, kind).catch((error) => {
        this.#parts.log.warn({ code: error?.code }, 'the silence of a worker could not be recorded');
        this.#stopClock = clock.wakeAt(clock.monoMs() + 1_000, () => this.watchSilence());
      });
    });
  }

  /** Nothing was heard before this daemon began to listen; that is no silence of the worker. */
  #heardMonoMs({ context }: WorkerSnapshot, kind: 'silence' | 'startup'): number {
    const { startedMonoMs, clock } = this.#parts;
    const last =
      kind === 'startup' ? context.since : (this.#tickOfCurrent(context.incarnationId) ?? context.tick).sampledAt;
    return last.bootId === clock.bootId() ? Math.max(last.monoMs, startedMonoMs) : startedMonoMs;
  }

  async #silent(incarnationId: string, kind: 'silence' | 'startup'): Promise<void> {
    const { host, store } = this.#parts;
    const to = ['workerIncarnation', incarnationId] as const;
    const remembered = this.#tickOfCurrent(incarnationId);
    const before = committed(host, 'workerIncarnation', incarnationId);
    // What it said last is on record before its silence is, or the silence would be counted from an older tick.
    if (remembered !== undefined && before !== undefined && remembered.seq > before.context.tick.seq)
      await host.submit([draft('scheduler.tick', { to, payload: remembered, by })]);
    const worker = committed(host, 'workerIncarnation', incarnationId);
    if (worker === undefined) return;
    const payload = workerDeadline(kind, worker.context);
    const eventId = `${store.installationId}:dl:${payload.deadlineId}`;
    await host.submit([draft('deadline.reached', { to, payload, by: 'time-service', eventId })]);
  }

  #tickOfCurrent(incarnationId: string): Tick | undefined {
    return this.#lastTick?.incarnationId === incarnationId ? this.#lastTick : undefined;
  }

  health(): { readonly state: WorkerHealth; readonly tickAgeMs: number | null } {
    const worker = this.#parts.current();
    const isGone = worker === undefined || worker.matches('exited');
    const lastTick = worker === undefined ? undefined : this.#tickOfCurrent(worker.context.incarnationId);
    const since = { monoMs: worker ? this.#heardMonoMs(worker, 'startup') : 0, bootId: this.#parts.clock.bootId() };
    const basis = { worker: isGone ? null : { ...worker.context, since }, lastTick: lastTick ?? null };
    const { monoMs, bootId } = this.#parts.clock.now();
    const state = workerHealth({ ...basis, now: { monoMs, bootId } });
    return { state, tickAgeMs: lastTick === undefined ? null : Math.max(0, monoMs - lastTick.sampledAt.monoMs) };
  }

  close(): void {
    this.#stopClock?.();
  }
}

/** Stands for a sender whom the kernel did not name as the worker: no record is equal to it. */
const nobody = (installationId: string): ProcessIdentity => ({
  evidenceVersion: 1,
  installationId: installationId as ProcessIdentity['installationId'],
  platform: 'linux',
  bootId: 'unknown',
  pid: 1,
  processToken: 'unknown',
  uid: 0,
  namespace: '',
  adapterEvidence: '',
});
