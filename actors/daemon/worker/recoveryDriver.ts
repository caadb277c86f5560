/**
 * Carries a recovery through the phases of the fence (REC-02): it looks at the recorded state, does the one thing that is
 * due there, and commits what came of it. So a daemon that dies anywhere is followed by one that goes on from the record
 * (REC-09). It keeps no state of its own but timers and what it is waiting for.
 */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { FenceSnapshot } from '../../../machines/recoveryFence.ts';
import { type FencedWorker, recoveryBackoffMs } from '../../../machines/recoveryFenceParts.ts';
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import { intact } from '../../runtime/actorAccess.ts';
import { createSequence, type Runtime } from '../../runtime/runtime.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { LaunchCoordinator } from '../launch/coordinator.ts';
import { endScopes, endWorker, whyNotGone } from './ending.ts';
import { type Exclusive, recoveryVerb } from './exclusive.ts';
import { isOutOfTheWay, rescan, rescanPayload, unreleasedScopes } from './ownedByWorkers.ts';
import { livingWorkers, runtimeIdOf, workerLaunch } from './workerLaunch.ts';

export interface DriverParts
  extends Pick<
    Runtime,
    'host' | 'store' | 'config' | 'places' | 'clock' | 'guardian' | 'worker' | 'log' | 'leaving' | 'startedMonoMs'
  > {
  readonly launches: Pick<LaunchCoordinator, 'request'>;
  readonly exclusive: Exclusive;
  /** What a worker is wanted for at this moment; undefined while none is, as during a stop. */
  readonly wantedTarget: () => string | undefined;
  /** Whether anything is configured, or left over, that a worker is there for. */
  readonly isNeeded: () => boolean;
}

const by = 'recovery';

type Phase = Payload<'recovery.failed'>['phase'];

export class RecoveryDriver {
  readonly #parts: DriverParts;
  readonly #nextId: (what: string) => string;
  #turning: Promise<void> | undefined;
  #isDue = false;
  #isAskedFor = false;
  #stopClock: (() => void) | undefined;
  #release: (() => void) | undefined;
  /** The one that was told to go, because there is nothing for it to do any more. */
  #dismissed: string | undefined;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#nextId = createSequence(parts.store);
    parts.exclusive.onFreed(() => this.poke());
  }

  get fence(): FenceSnapshot | undefined {
    const fence = this.#record;
    return fence === 'corrupt' ? undefined : fence;
  }

  /** Nobody can tell how far a recovery had come then, so nothing is launched; everything else goes on (OWN-10). */
  get isUnreadable(): boolean {
    return this.#record === 'corrupt';
  }

  get #record(): FenceSnapshot | 'corrupt' | undefined {
    return intact(this.#parts.host, 'recoveryFence', runtimeIdOf(this.#parts.store));
  }

  /** The incarnation that was launched last, whatever has become of it. */
  get worker(): WorkerSnapshot | undefined {
    const fence = this.fence?.context;
    const current = fence?.replacement ?? fence?.old;
    const worker = current && intact(this.#parts.host, 'workerIncarnation', current.incarnationId);
    return worker === 'corrupt' || worker === null ? undefined : worker;
  }

  /** Something has changed that a phase may wait for. */
  poke(): void {
    this.#isDue = true;
    this.#turning ??= this.#turns();
  }

  /** `recover --now`: what is refused is tried again at once. Resolves when there is nothing left to do but to wait. */
  async askFor(): Promise<void> {
    this.#isAskedFor = true;
    this.poke();
    await this.#turning;
  }

  /** Resolves when the turn that is under way is over. */
  async close(): Promise<void> {
    this.#stopClock?.();
    await this.#turning;
  }

  async #turns(): Promise<void> {
    const { leaving, log, clock, config } = this.#parts;
    while (this.#isDue && !leaving.aborted) {
      this.#isDue = false;
      try {
        await this.#turn();
      } catch (error) {
        if (leaving.aborted) break;
        // The store may take nothing just now; the record says where to go on.
        log.warn({ code: (error as { code?: unknown })?.code }, 'a recovery could not be carried on');
        this.#wakeAt(clock.monoMs() + config.retryBackoffMs);
      }
    }
    this.#turning = undefined;
    // What came between the last look and this line.
    if (this.#isDue && !leaving.aborted) this.poke();
  }

  async #turn(): Promise<void> {
    if (this.isUnreadable) return;
    const fence = this.fence ?? (await this.#established());
    if (fence === undefined) return;
    if (!this.#mayWork(fence)) return;
    if (fence.matches('idle')) await (this.#parts.isNeeded() ? this.#begin(fence) : this.#dismiss());
    else if (fence.matches('stoppingOld')) await this.#stopOld(fence);
    else if (fence.matches('rescanning')) await this.#rescan(fence);
    else if (fence.matches('refused')) await this.#retry(fence);
    else if (fence.matches('launchPermitted')) await this.#launch(fence);
    else await this.#awaitTick(fence);
  }

  /** A fence is made when a worker is wanted for the first time. */
  async #established(): Promise<FenceSnapshot | undefined> {
    const { host, store, wantedTarget } = this.#parts;
    if (wantedTarget() === undefined) return undefined;
    const runtimeId = runtimeIdOf(store);
    const to = ['recoveryFence', runtimeId] as const;
    await host.submit([draft('fence.established', { to, payload: { runtimeId }, by })]);
    return this.fence;
  }

  /** Between its first and its last phase a recovery keeps everybody else out; at rest it keeps nobody. */
  #mayWork(fence: FenceSnapshot): boolean {
    // A worker that is not wanted now is launched when it is, and a stop may come before.
    const hasNothingToLaunch = fence.matches('launchPermitted') && this.#parts.wantedTarget() === undefined;
    if (fence.matches('idle') || fence.matches('refused') || hasNothingToLaunch) {
      this.#release?.();
      this.#release = undefined;
      return true;
    }
    return this.#hold();
  }

  /** Before the record says that a recovery has begun, so that nobody comes between. */
  #hold(): boolean {
    this.#release ??= this.#parts.exclusive.tryHold(recoveryVerb);
    return this.#release !== undefined;
  }

  async #begin(fence: FenceSnapshot): Promise<void> {
    const isAskedFor = this.#isAskedFor;
    this.#isAskedFor = false;
    const reason = this.#reasonToBegin(fence) ?? (isAskedFor ? this.#lostBelow() : undefined);
    if (reason === undefined || !this.#hold()) return;
    const living = livingWorkers(this.#parts);
    const last = fence.context.replacement;
    // One that somebody answers for is none that could be ended, and none whose end will be told.
    const gone = last !== null && last.settledBy === null && this.#isOutOfTheWay(last) ? null : last;
    const old = living.at(-1) ?? gone;
    await this.#tell('recovery.started', { old: old && named(old), liveWorkers: living.length, reason });
  }

  /** Undefined while the worker does what it is there for, or none is wanted. */
  #reasonToBegin({ context }: FenceSnapshot): string | undefined {
    if (this.#parts.wantedTarget() === undefined) return undefined;
    const worker = this.worker;
    if (context.replacement === null || worker === undefined) return 'worker_missing';
    if (worker.matches('exited')) return 'worker_exited';
    if (worker.matches('suspect')) return 'worker_silent';
    if (worker.matches('ownershipUnverified')) return 'worker_unverified';
    return worker.matches('stopping') ? 'worker_stopping' : undefined;
  }

  /**
   * Something that the worker launched is out of sight for good. Its guardian can still prove the end of that, but only with
   * its own, so the worker has to end for it; nobody but a person decides that.
   */
  #lostBelow(): string | undefined {
    const isLost = rescan(this.#parts).unverified.length > 0;
    return isLost && this.#parts.wantedTarget() !== undefined ? 'nested_unverified' : undefined;
  }

  /** Nothing is left that a worker would be there for. Asked for once: what keeps its end from being proved is shown as for any other scope. */
  async #dismiss(): Promise<void> {
    const worker = livingWorkers(this.#parts).at(-1);
    if (worker === undefined || worker.incarnationId === this.#dismissed || !this.#hold()) return;
    this.#dismissed = worker.incarnationId;
    await endWorker(this.#parts, worker, 0);
    await endScopes(this.#parts, [worker.scopeId], `unneeded:${worker.incarnationId}`);
    this.poke();
  }

  async #stopOld({ context }: FenceSnapshot): Promise<void> {
    const { old, attempts } = context;
    if (old === null) return this.#failed('stoppingOld', 'old_unknown');
    await endWorker(this.#parts, old, attempts);
    await endScopes(this.#parts, [old.scopeId], `recovery:${old.incarnationId}:${attempts}`);
    // What its scope has proved is relayed to the fence, in the commit of the proof.
    if (this.fence?.matches('stoppingOld')) await this.#failed('stoppingOld', whyNotGone(this.#parts, old.scopeId));
    else this.poke();
  }

  /** Also what was launched while the old worker was being ended, and by its predecessors (REC-03). */
  async #rescan({ context }: FenceSnapshot): Promise<void> {
    const left = unreleasedScopes(this.#parts);
    if (left.length > 0) await endScopes(this.#parts, left, `rescan:${this.#nextId('fence')}`);
    await this.#tell('ownership.rescanned', {
      ...rescanPayload(rescan(this.#parts)),
      retryAt: this.#retryAt(context.attempts),
    });
  }

  async #retry({ context }: FenceSnapshot): Promise<void> {
    const { clock, wantedTarget, exclusive } = this.#parts;
    if (wantedTarget() === undefined || exclusive.holder !== undefined) return;
    const { retryAt, old } = context;
    if (old !== null && old.settledBy === null && this.#isOutOfTheWay(old)) return this.#beginAnew();
    const isDue = retryAt === null || retryAt.bootId !== clock.bootId() || clock.monoMs() >= retryAt.monoMs;
    if (!isDue && !this.#isAskedFor) return this.#wakeAt(retryAt.monoMs);
    const reason = this.#isAskedFor ? 'operator' : 'backoff';
    if (!this.#hold()) return;
    this.#isAskedFor = false;
    await this.#tell('recovery.retry', { reason });
  }

  /** The fence was never told of a proof, and will not be: somebody has answered for the old one, or a record was damaged. */
  async #beginAnew(): Promise<void> {
    if (livingWorkers(this.#parts).length > 0 || !this.#hold()) return;
    await this.#tell('recovery.started', { old: null, liveWorkers: 0, reason: 'old_gone' });
  }

  #isOutOfTheWay({ scopeId }: Pick<FencedWorker, 'scopeId'>): boolean {
    return isOutOfTheWay(this.#parts, scopeId);
  }

  async #launch({ context }: FenceSnapshot): Promise<void> {
    const { launches, wantedTarget, log } = this.#parts;
    const target = wantedTarget();
    if (target === undefined) return;
    const { scopeId, incarnationId, recipe, drafts } = workerLaunch(
      this.#parts,
      target,
      () => wantedTarget() !== undefined,
    );
    const pending = await launches.request({ scopeId, recipe, drafts, next: ['custody recover'] }).catch((error) => {
      log.warn({ code: error?.code }, 'a worker could not be launched');
      return undefined;
    });
    if (pending === undefined) return this.#failed('launchPermitted', 'launch_refused', context.attempts);
    // The launch goes on by its effects, and its scope is followed: this only says why, if nothing comes of it.
    void pending.outcome.then(async (outcome) => {
      if (outcome.kind === 'released') return;
      const reasonCode = outcome.kind === 'refused' ? outcome.code : 'exec_failed';
      const to = ['workerIncarnation', incarnationId] as const;
      await this.#parts.host
        .submit([draft('worker.launchFailed', { to, payload: { reasonCode }, by })])
        .catch(() => {});
    });
  }

  /** Only a tick of its own makes the replacement the worker (REPL-07). That it cannot come any more is known here. */
  async #awaitTick({ context }: FenceSnapshot): Promise<void> {
    const { clock, config, startedMonoMs } = this.#parts;
    const { replacement } = context;
    const worker = this.worker;
    if (replacement === null || worker === undefined) return this.#failed('awaitingTick', 'replacement_unknown');
    if (replacement.settledBy !== null || worker.matches('exited'))
      return this.#failed('awaitingTick', 'worker_exited');
    if (worker.matches('ownershipUnverified')) return this.#failed('awaitingTick', 'worker_unverified');
    const { monoMs, bootId } = worker.context.requestedAt;
    // One that a former daemon launched has to find this one first.
    const untilMonoMs = Math.ceil(Math.max(monoMs, startedMonoMs) + config.startupMs);
    if (bootId === clock.bootId() && clock.monoMs() < untilMonoMs) return this.#wakeAt(untilMonoMs);
    return this.#failed('awaitingTick', 'startup_silence');
  }

  #failed(phase: Phase, reason: string, attempts = this.fence?.context.attempts ?? 0): Promise<void> {
    this.#parts.log.warn({ phase, reason }, 'a recovery is refused');
    return this.#tell('recovery.failed', { phase, reason, retryAt: this.#retryAt(attempts) });
  }

  #retryAt(attempts: number): Payload<'recovery.failed'>['retryAt'] {
    const { clock, config } = this.#parts;
    const limits = { firstMs: config.retryBackoffMs, mostMs: config.retryBackoffLongestMs };
    return { monoMs: Math.ceil(clock.monoMs() + recoveryBackoffMs(attempts, limits)), bootId: clock.bootId() };
  }

  async #tell<Type extends FenceFact>(type: Type, payload: Payload<Type>): Promise<void> {
    const { host, store } = this.#parts;
    const to = ['recoveryFence', runtimeIdOf(store)] as const;
    assertAccepted(await host.submit([draft(type, { to, payload, by, eventId: this.#nextId(type) })]));
    this.poke();
  }

  #wakeAt(monoMs: number): void {
    this.#stopClock?.();
    this.#stopClock = this.#parts.clock.wakeAt(monoMs, () => this.poke());
  }
}

type FenceFact = 'recovery.started' | 'recovery.failed' | 'recovery.retry' | 'ownership.rescanned';

const named = ({ incarnationId, scopeId }: Pick<FencedWorker, 'incarnationId' | 'scopeId'>) => ({
  incarnationId,
  scopeId,
});
