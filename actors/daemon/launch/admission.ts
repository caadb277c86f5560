/**
 * Whether a launch may begin (GOAL-04, RCPT-05). It delays or refuses and changes nothing: an answer is computed from the
 * shared assessment of what is still owned, at the moment of asking.
 */
import { assessOwnership, holdsOthersUp, holdsSlot } from '../../../machines/assessment.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import { lastResort } from '../../runtime/lastResort.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { PendingLaunches } from './pendingLaunches.ts';

type Parts = Pick<Runtime, 'host' | 'config' | 'storeFailure'> & {
  readonly pendingLaunches: Pick<PendingLaunches, 'admitted'>;
  readonly admission: () => 'open' | 'paused' | 'closed';
};

export interface SlotUse {
  readonly scopeId: string;
  readonly goalId: string | null;
}

/** Every scope that holds a slot: live ones, and unverified ones that nobody answers for (OWN-02). */
export function slotsInUse({ host }: Pick<Parts, 'host'>): readonly SlotUse[] {
  const used: SlotUse[] = [];
  for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false })) {
    if (holdsSlot(snapshot))
      used.push({ scopeId: id, goalId: snapshot === 'corrupt' ? null : snapshot.context.goalId });
  }
  return used;
}

/** One that is just being committed may stand in both. */
const heldSlots = (parts: Pick<Parts, 'host' | 'pendingLaunches'>): readonly string[] => [
  ...new Set([...slotsInUse(parts).map(({ scopeId }) => scopeId), ...parts.pendingLaunches.admitted]),
];

export const hasFreeSlot = (parts: Pick<Parts, 'host' | 'pendingLaunches' | 'config'>): boolean =>
  heldSlots(parts).length < parts.config.capacity;

/** Throws why the store takes nothing, `admission_closed`, `capacity_full` or `ownership_unverified`, each naming what stands in the way. */
export function assertAdmitted(parts: Parts, goalId: string): void {
  const failure = parts.storeFailure();
  if (failure !== undefined) throw failure;
  const gate = parts.admission();
  if (gate !== 'open') {
    throw new OperatingError({
      code: 'admission_closed',
      message: gate === 'paused' ? 'admission is paused' : 'the daemon admits no launches now',
      exitCode: 13,
      retryable: true,
      next: gate === 'paused' ? ['custody resume'] : ['custody status'],
    });
  }
  const scopeIds = heldSlots(parts);
  if (scopeIds.length >= parts.config.capacity) {
    throw new OperatingError({
      code: 'capacity_full',
      message: `all ${parts.config.capacity} slots are held`,
      exitCode: 13,
      retryable: true,
      next: ['custody processes', 'custody config'],
      details: { scopeIds },
    });
  }
  assertNothingUnverified(parts, goalId);
}

/** Continuing a Goal needs proof that nothing unaccounted for is still working on it. */
function assertNothingUnverified({ host }: Parts, goalId: string): void {
  const link = { name: 'goalId', value: goalId };
  for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false, link })) {
    const assessment = assessOwnership(snapshot);
    if (assessment.state !== 'unverified' || assessment.certainty === 'transient') continue;
    if (!holdsOthersUp(assessment)) continue;
    throw new OperatingError({
      code: 'ownership_unverified',
      message: `scope ${id} of this Goal is not proved to be gone: ${assessment.reason}`,
      exitCode: 6,
      next: ['custody processes --all', 'custody doctor', ...lastResort(id, assessment)],
      details: { scopeId: id, reason: assessment.reason },
    });
  }
}
