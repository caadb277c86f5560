/**
 * Carries one launch from the request to the open gate (C.11-3, ruling 6) in two commits: receipt space, then everything
 * that the launch is recorded by; guardian and gated child, then both identities and the release; then the gate byte.
 * Whatever goes wrong before the second commit leaves an image that never ran.
 */
import { assertNoTransaction } from '../../../persistence/transaction.ts';
import { EvidenceUnavailableError, GuardianLaunchError } from '../../../pty/launch/errors.ts';
import type { Draft } from '../../host/outcome.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import { abandonedMessage, explain, LaunchStopped } from './launchStopped.ts';
import type { PendingLaunch, PendingLaunches } from './pendingLaunches.ts';
import type { Recipe } from './recipe.ts';
import type { SlotPool } from './slotPool.ts';
import { coordinatorRole as by, evidenceUnavailable, prepared, release, type StepParts, spawn } from './steps.ts';

type Parts = StepParts & Pick<Runtime, 'log'> & { readonly slotPool: SlotPool };

export interface LaunchRequest {
  readonly scopeId: string;
  readonly recipe: Recipe;
  /** What the launch is recorded by, up to and including `scope.requested`. */
  readonly drafts: readonly Draft[];
  /** Commands that help where one of them is refused. */
  readonly next: readonly string[];
}

/** Waited for behind the gate, where the disk has had the time of a handshake: a release needs a name that lasts. */
async function evidence(named: Promise<void>): Promise<void> {
  try {
    await named;
  } catch (cause) {
    throw new EvidenceUnavailableError(cause);
  }
}

export class LaunchCoordinator {
  readonly #parts: Parts;
  readonly #pendingLaunches: PendingLaunches;

  constructor(parts: Parts, pendingLaunches: PendingLaunches) {
    this.#parts = parts;
    this.#pendingLaunches = pendingLaunches;
  }

  /**
   * Reserves receipt space and commits the request; the effect of that commit carries the launch on. Throws what stands in
   * the way, and nothing is recorded then: no space, no request.
   */
  request(request: LaunchRequest): Promise<PendingLaunch> {
    return this.#pendingLaunches.reserving(this.#reserve(request));
  }

  async #reserve({ scopeId, recipe, drafts, next }: LaunchRequest): Promise<PendingLaunch> {
    const pending = this.#pendingLaunches.add(scopeId, recipe);
    try {
      const { slots, named } = await pending.timed('slots', () => this.#parts.slotPool.take(scopeId));
      pending.slots = slots;
      pending.named = named;
      const all = [...drafts, prepared(scopeId, pending.slots)];
      await pending.timed('reserve commit', async () => assertAccepted(await this.#parts.host.submit(all), next));
      return pending;
    } catch (error) {
      this.#pendingLaunches.drop(scopeId);
      await this.#parts.slotPool.giveBack(scopeId);
      throw error instanceof EvidenceUnavailableError ? evidenceUnavailable(error) : error;
    }
  }

  /** Executor of `launchScope`. Reports by events and never throws for a launch that merely failed. */
  async launch(scopeId: string): Promise<void> {
    const pending = this.#pendingLaunches.get(scopeId);
    if (pending === undefined) return this.abandon(scopeId, 'recipe_lost');
    assertNoTransaction('launch');
    try {
      const started = await pending.timed('handshake', () => pending.start(() => spawn(this.#parts, scopeId, pending)));
      if (started === undefined) throw new LaunchStopped('abandoned', 'drain_requested');
      await evidence(pending.named);
      await pending.timed('release commit', () => release(this.#parts, scopeId, started));
    } catch (error) {
      await this.#giveUp(scopeId, pending, error);
    }
  }

  async #giveUp(scopeId: string, pending: PendingLaunch, error: unknown): Promise<void> {
    await pending.abandon();
    const { fact, reason, code, message, next } = explain(error);
    this.#parts.log.warn({ scopeId, code, reason }, 'launch ended before its release');
    const to = ['executionScope', scopeId] as const;
    try {
      const stopped =
        fact === 'notStarted'
          ? draft('launch.notStarted', { to, payload: { errno: code, phase: reason }, by })
          : draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason }, by });
      await this.#parts.host.submit([stopped]);
    } finally {
      // The caller is answered even when the store takes nothing any more; the resolver then finds the open attempt.
      pending.settle({ kind: 'refused', code, message, next });
    }
  }

  /** Executor of `openGate`. */
  async openGate(scopeId: string): Promise<void> {
    const pending = this.#pendingLaunches.get(scopeId);
    // Of a former daemon: its link broke, the guardian closed the gate, and the receipts say how it went.
    if (pending?.launch === undefined) return;
    try {
      const opened = await pending.timed('gate', () => pending.launch!.openGate());
      pending.settle('released' in opened ? { kind: 'released' } : { kind: 'execFailed', errno: opened.execFailed });
    } catch (error) {
      await this.#unconfirmed(scopeId, pending, error);
    } finally {
      pending.launch.unref();
      // Nobody waits now: the space of the next launch is prepared.
      void this.#parts.slotPool.fill();
    }
  }

  /** The guardian did not confirm. Either it had given up before the byte came, or nobody can tell (GRD-07). */
  async #unconfirmed(scopeId: string, pending: PendingLaunch, error: unknown): Promise<void> {
    const code = error instanceof GuardianLaunchError ? error.code : 'release_uncertain';
    this.#parts.log.warn({ scopeId, code }, 'the gate was not confirmed open');
    if (error instanceof GuardianLaunchError && code === 'not_released') {
      pending.settle({ kind: 'refused', code, message: error.message, next: error.next });
      return;
    }
    // The release stands whatever the store makes of the doubt; the caller waits for nothing else.
    pending.settle({ kind: 'released', doubt: code });
    const to = ['executionScope', scopeId] as const;
    await this.#parts.host.submit([draft('launch.releaseUncertain', { to, payload: { errno: code }, by })]);
  }

  /** Ends a launch that has not been released; the gated child is gone when this resolves (ruling 4). */
  async abandon(scopeId: string, reason: string): Promise<void> {
    const pending = this.#pendingLaunches.get(scopeId);
    await pending?.abandon();
    const to = ['executionScope', scopeId] as const;
    await this.#parts.host.submit([draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason }, by })]);
    pending?.settle({
      kind: 'refused',
      code: 'launch_abandoned',
      message: abandonedMessage(reason),
      next: [],
    });
  }
}
