/**
 * The daemon's side of the scheduling worker, put together: the door that it comes in by, who it is, what it is given to
 * do, and the recovery that replaces it.
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import { Serial } from '../../runtime/serial.ts';
import { draft } from '../../runtime/submission.ts';
import type { FromWorker } from '../../worker/messages.ts';
import type { WorkerView } from '../api/views.ts';
import { admissionOf, isEnding, type Root } from '../root.ts';
import { Checks } from './checks.ts';
import { type Caller, type Door, openDoor, type Visitor } from './door.ts';
import type { Exclusive } from './exclusive.ts';
import type { CheckParts } from './parts.ts';
import { WorkerPresence } from './presence.ts';
import { RecoveryDriver } from './recoveryDriver.ts';
import type { RemoteLaunches } from './remoteLaunches.ts';
import { removeRetiredInputs } from './retiredInputs.ts';
import { targetOf } from './target.ts';

export interface WorkerServiceParts extends Omit<CheckParts, 'admission' | 'isAdmitting' | 'workerIdentity' | 'say'> {
  readonly root: () => Root;
  readonly remoteLaunches: RemoteLaunches;
  readonly exclusive: Exclusive;
}

export class WorkerService {
  readonly driver: RecoveryDriver;
  readonly #parts: WorkerServiceParts;
  readonly #presence: WorkerPresence;
  readonly #checks: Checks;
  readonly #turns = new Serial();
  readonly #configuredTarget: string | undefined;
  #door: Door | undefined;

  constructor(parts: WorkerServiceParts) {
    this.#parts = parts;
    this.#configuredTarget = targetOf(parts.store.nodeId, parts.config.checks);
    this.driver = new RecoveryDriver({
      ...parts,
      wantedTarget: () => this.#wantedTarget(),
      isNeeded: () => this.#configuredTarget !== undefined || this.#checks.isAnyOpen(),
    });
    this.#presence = new WorkerPresence({ ...parts, current: () => this.driver.worker });
    const admission = () => admissionOf(parts.root());
    this.#checks = new Checks({
      ...parts,
      admission: { ...parts, admission },
      isAdmitting: () => admission() === 'open',
      workerIdentity: () => this.driver.worker!.context,
      say: (message) => this.#presence.caller?.say(message) ?? false,
    });
  }

  /** None is launched while the daemon ends what it owns, or does not yet know what that is. */
  #wantedTarget(): string | undefined {
    const root = this.#parts.root();
    return isEnding(root) || admissionOf(root) === 'closed' ? undefined : this.#configuredTarget;
  }

  /** Opens the door and takes up whatever phase a recovery was in. */
  async start(): Promise<void> {
    const { places, guardian, log } = this.#parts;
    removeRetiredInputs(this.#parts);
    if (this.#configuredTarget === undefined && this.driver.fence === undefined) return;
    this.#door = await openDoor({
      path: places.workerSocket,
      guardianPath: guardian.path,
      uid: process.getuid?.() ?? -1,
      visit: (caller) => this.#visit(caller),
      tell: ({ error }) => {
        if (error === undefined) log.info('the door of the worker is open');
        else log.error({ code: (error as { code?: unknown }).code }, 'the worker has no door to come in by');
      },
    });
    // What the store does not take now is told with the next tick.
    await this.#tellTarget().catch((error) => log.warn({ code: error?.code }, 'the worker has no new target yet'));
    this.#presence.watchSilence();
    this.#followAdmission();
    this.driver.poke();
  }

  /** A worker that is wanted again, as after a stop that was given up, has nobody else to ask for it. */
  #followAdmission(): void {
    let wanted = this.#wantedTarget();
    this.#parts.root().subscribe(() => {
      const now = this.#wantedTarget();
      if (now === wanted) return;
      wanted = now;
      this.driver.poke();
    });
  }

  /** A daemon with other checks than its predecessor: the worker that lives is told, and has to tick for them. */
  async #tellTarget(): Promise<void> {
    const worker = this.driver.worker;
    const targetId = this.#configuredTarget;
    if (worker === undefined || targetId === undefined || worker.context.targetId === targetId) return;
    const { monoMs, bootId } = this.#parts.clock.now();
    const to = ['workerIncarnation', worker.context.incarnationId] as const;
    const payload = { targetId, changedAt: { monoMs, bootId } };
    await this.#parts.host.submit([draft('target.changed', { to, payload, by: 'daemon' })]);
  }

  /** What is said over one connection is answered in its order. */
  #visit(caller: Caller): Visitor {
    const turn = (job: () => Promise<void> | void) =>
      void this.#turns
        .run('worker', async () => job())
        .catch((error) => this.#parts.log.warn({ code: error?.code }, 'a word of the worker could not be committed'));
    return {
      heard: (message) => {
        // Answers to launches are waited for by turns, so they must not wait for one.
        if ('launchId' in message) this.#ofLaunch(caller, message);
        else turn(() => this.#heard(caller, message));
      },
      gone: () => {
        if (this.#presence.caller === caller) this.#parts.remoteLaunches.detach();
        this.#presence.forget(caller);
      },
    };
  }

  #ofLaunch(caller: Caller, message: Extract<FromWorker, { launchId: unknown }>): void {
    if (this.#presence.caller === caller) this.#parts.remoteLaunches.heard(message);
  }

  async #heard(caller: Caller, message: Exclude<FromWorker, { launchId: unknown }>): Promise<void> {
    if (message.type === 'register') return this.#register(caller, message);
    if (message.type === 'tick') return this.#tick(caller, message);
    if (this.#presence.caller !== caller) return void caller.say({ type: 'refused', code: 'not_registered_worker' });
    if (message.type === 'begin') return this.#checks.begin(message.checkId);
    return this.#checks.verdict(message);
  }

  async #register(caller: Caller, message: Extract<FromWorker, { type: 'register' }>): Promise<void> {
    const code = await this.#presence.register(caller, message).catch((error) => {
      // What could not be recorded now may be the next time: it comes again, over a new connection.
      caller.leave();
      throw error;
    });
    if (code !== undefined) {
      this.#parts.log.warn({ code, pid: caller.peer.process.pid }, 'somebody is not the worker');
      caller.say({ type: 'refused', code });
      return caller.leave();
    }
    caller.keep();
    this.#parts.remoteLaunches.attach((told) => caller.say(told));
    caller.say({ type: 'registered', targetId: this.driver.worker!.context.targetId });
    this.#checks.resume();
  }

  async #tick(caller: Caller, message: Extract<FromWorker, { type: 'tick' }>): Promise<void> {
    const code = await this.#presence.tick(caller, message);
    if (code !== undefined) {
      this.#parts.log.warn({ code, pid: caller.peer.process.pid }, 'a tick does not count');
      return void caller.say({ type: 'refused', code });
    }
    await this.#tellTarget();
    const { targetId } = this.driver.worker!.context;
    if (message.targetId !== targetId) caller.say({ type: 'target', targetId });
    else if (message.checkId !== null) await this.#checks.reconcile(message.checkId);
    else await this.#checks.offer();
  }

  /** Told of every commit. */
  follow(actor: { readonly kind: string; readonly id: string }, after: AnyMachineSnapshot): void {
    if (actor.kind === 'goal' || actor.kind === 'worktreeGeneration') this.#checks.changed();
    if (actor.kind === 'workerIncarnation' || actor.kind === 'recoveryFence') this.driver.poke();
    // It may have been the last thing that a worker was there for.
    if (actor.kind === 'goal' && this.#configuredTarget === undefined) this.driver.poke();
    if (actor.kind !== 'executionScope') return;
    this.#checks.changed();
    // Somebody may have answered for one that a recovery waits for.
    if (this.driver.fence?.matches('refused')) this.driver.poke();
    if (after.hasTag('capacityReleased') || after.matches({ coverage: { unverified: 'gap' } })) {
      void this.#turns
        .run('worker', () => this.#checks.followed(actor.id))
        .catch((error) => this.#parts.log.warn({ code: error?.code }, 'a check could not be settled'));
    }
  }

  view(): WorkerView {
    const fence = this.driver.fence;
    const worker: WorkerSnapshot | undefined = this.driver.worker;
    const { state, tickAgeMs } = this.#presence.health();
    const wanted = this.#configuredTarget !== undefined;
    const isComing = wanted && state === 'unavailable' && fence !== undefined && !fence.matches('refused');
    return {
      wanted,
      state: !wanted && (worker === undefined || worker.matches('exited')) ? 'none' : isComing ? 'starting' : state,
      incarnationId: worker?.context.incarnationId ?? null,
      scopeId: worker?.context.scopeId ?? null,
      pid: worker?.context.process?.pid ?? null,
      tickAgeMs,
      doorTrouble: this.#door?.trouble ?? null,
      heldBack: this.#checks.heldBack(),
      recovery: {
        phase: this.driver.isUnreadable ? 'unreadable' : fence === undefined ? 'idle' : String(fence.value),
        reason: fence?.context.reason ?? null,
        attempts: fence?.context.attempts ?? 0,
        retryInMs: this.#retryInMs(),
        evidence: (fence?.context.evidence ?? []).map(({ phase, reason, scopeIds }) => ({ phase, reason, scopeIds })),
      },
    };
  }

  #retryInMs(): number | null {
    const fence = this.driver.fence;
    const retryAt = fence?.matches('refused') ? fence.context.retryAt : null;
    return retryAt ? Math.max(0, Math.round(retryAt.monoMs - this.#parts.clock.monoMs())) : null;
  }

  async close(): Promise<void> {
    await this.#door?.close();
    this.#presence.close();
    this.#parts.remoteLaunches.detach();
    await this.driver.close();
  }
}
