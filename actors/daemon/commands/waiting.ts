/** Waiting for committed facts, never for time: each wait ends with the fact, a stall, its bound, or the daemon. */
import type { AnyMachineSnapshot } from 'xstate';
import { waitFor } from 'xstate';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import type { SnapshotOf } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';

interface Wait<Snapshot> {
  readonly waitMs: number;
  readonly isReached: (snapshot: Snapshot) => boolean;
  /** Ends the wait when nobody is left to hear the answer. */
  readonly signal?: AbortSignal;
}

/** True when `isReached` held within `waitMs`; every wait ends when the daemon begins to leave. */
export async function reached<Kind extends ActorKind>(
  { host, leaving }: Pick<Runtime, 'host' | 'leaving'>,
  [kind, id]: readonly [Kind, string],
  { waitMs, isReached, signal }: Wait<SnapshotOf[Kind]>,
): Promise<boolean> {
  const current = host.snapshotOf(kind, id) as SnapshotOf[Kind] | undefined;
  if (current !== undefined && isReached(current)) return true;
  if (waitMs <= 0) return false;
  const test = (snapshot: AnyMachineSnapshot) => isReached(snapshot as SnapshotOf[Kind]);
  const ended = signal === undefined ? leaving : AbortSignal.any([signal, leaving]);
  try {
    await waitFor(host.actor(kind, id), test, { timeout: waitMs, signal: ended });
    return true;
  } catch {
    return false;
  }
}

/** Ends for a drain: the proof, or the visible stall. */
export const isDrained = (scope: ScopeSnapshot): boolean =>
  scope.hasTag('capacityReleased') || scope.matches({ termination: 'stalled' });

export async function awaitScopes(
  context: Pick<Runtime, 'host' | 'leaving'>,
  scopeIds: readonly string[],
  waitMs: number,
): Promise<void> {
  await Promise.all(
    scopeIds.map((scopeId) => reached(context, ['executionScope', scopeId], { waitMs, isReached: isDrained })),
  );
}
