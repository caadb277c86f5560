/** The invariants of section D that speak of execution scopes, over every scope of a configuration. */
import { assessOwnership, holdsSlot } from '../../../machines/assessment.ts';
import { canonicalJson } from '../../../machines/canonical.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import {
  changedBy,
  coverageOf,
  each,
  every,
  isGap,
  isGuardianLost,
  isNeverLaunched,
  isOver,
  isProved,
  isUnverified,
  taken,
  terminationOf,
} from '../facts.ts';
import type { Invariant, Step } from '../model.ts';

const coverageKept = (step: Step): boolean =>
  each(step, 'executionScope', (before, after) => coverageOf(before) === coverageOf(after));
const isSubset = (part: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): boolean =>
  Object.keys(part).every((pid) => whole[pid] === part[pid]);
const isAnsweredFor = (scope: ScopeSnapshot): boolean => scope.context.assumed !== null && isUnverified(scope);

function isProofFitting(scope: ScopeSnapshot): boolean {
  const kind = scope.context.proof?.kind;
  if (isNeverLaunched(scope)) return kind === 'never_launched';
  if (isProved(scope)) return kind === 'own_receipt' || kind === 'enclosing_receipt' || kind === 'boot_epoch';
  return kind === undefined;
}

const scopes = 'executionScope';

export const proofInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-04',
    title: 'cancelled or never launched means that no release was committed',
    holds: (records) => every(records, scopes, (scope) => !isNeverLaunched(scope) || scope.context.released === 'no'),
  },
  {
    id: 'I-14',
    title: 'no word of a clock ends, proves, seals, retires or hands off anything',
    keeps: (step) => !step.isClock || (coverageKept(step) && noneMovedByClock(step)),
  },
  {
    id: 'I-16',
    title: 'a scope whose guardian is gone is unverified until a proof',
    holds: (records) => every(records, scopes, (scope) => !isGuardianLost(scope) || isGap(scope) || isOver(scope)),
  },
  {
    id: 'OWN-06',
    title: 'a scope that is unverified just now has no gap: every gap leads to where only a proof leads out of',
    holds: (records) =>
      every(
        records,
        scopes,
        (scope) => coverageOf(scope) !== 'unverified.transient' || scope.context.gaps.length === 0,
      ),
  },
  {
    id: 'I-17',
    title: 'a gap leaves to a proof only, or to never launched where no release was committed',
    keeps: (step) =>
      each(
        step,
        scopes,
        (before, after) =>
          !isGap(before) ||
          isGap(after) ||
          isProved(after) ||
          (isNeverLaunched(after) && before.context.released === 'no'),
      ),
  },
  {
    id: 'I-19',
    title: 'a proved scope stays proved, by one of the proofs that there are',
    holds: (records) => every(records, scopes, isProofFitting),
    keeps: (step) =>
      each(
        step,
        scopes,
        (before, after) =>
          !isOver(before) ||
          (coverageOf(before) === coverageOf(after) &&
            canonicalJson(before.context.proof) === canonicalJson(after.context.proof)),
      ),
  },
  {
    id: 'I-26',
    title:
      'a slot is held exactly until the release, by what is not an effect, nor others’, nor answered for, nor residents alone',
    holds: (records) => every(records, scopes, (scope) => holdsSlot(scope) === isToHoldSlot(scope)),
  },
  {
    id: 'I-27',
    title: 'only what is proved or never ran is assessed as exited, so nothing else loses its artifacts',
    holds: (records) =>
      every(records, scopes, (scope) => (assessOwnership(scope).state === 'exited') === isOver(scope)),
  },
  {
    id: 'I-28',
    title: 'witnesses never become fewer before a proof',
    keeps: (step) =>
      each(
        step,
        scopes,
        (before, after) => isOver(before) || isSubset(before.context.witnesses, after.context.witnesses),
      ),
  },
  {
    id: 'I-39',
    title: 'termination is settled exactly when the scope is over',
    holds: (records) => every(records, scopes, (scope) => (terminationOf(scope) === 'settled') === isOver(scope)),
  },
];

function isToHoldSlot(scope: ScopeSnapshot): boolean {
  if (isOver(scope) || scope.context.kind === 'effect' || scope.context.controller !== null) return false;
  if (isAnsweredFor(scope)) return false;
  return !(scope.context.residentsOnly && coverageOf(scope) === 'live');
}

const noneMovedByClock = (step: Step): boolean =>
  each(step, 'run', (before, after) => canonicalJson(before.value) === canonicalJson(after.value)) &&
  each(step, 'worktreeGeneration', (before, after) => canonicalJson(before.value) === canonicalJson(after.value));

export const orderInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-18',
    title: 'a publication that has begun is not drained by what supersedes, cancels or reassigns it',
    keeps: (step) =>
      changedBy(step, 'drain.requested').every(({ to, event }) => {
        const before = step.before.actors[to] as ScopeSnapshot | null;
        const isYielding = ['superseded', 'cancelled', 'reassigned'].includes(String(event.cause));
        return !isYielding || before === null || before.context.openSideEffects.length === 0;
      }),
  },
  {
    id: 'GRD-07',
    title: 'a gate is opened by a committed release alone, and nothing is released once a drain has begun (ruling 4)',
    keeps: (step) =>
      each(
        step,
        scopes,
        (before, after) =>
          before.context.released !== 'no' || after.context.released === 'no' || terminationOf(before) === 'idle',
      ) &&
      step.effects.every(
        (effect) => !effect.startsWith('openGate') || taken(step, 'launch.releaseCommitted').length > 0,
      ),
  },
  {
    id: 'GRD-10',
    title: 'who answers for an end moves nothing and proves nothing; the first one stays until life is seen',
    keeps: (step) =>
      (taken(step, 'end.assumed').length === 0 || coverageKept(step)) &&
      each(
        step,
        scopes,
        ({ context: before }, after) =>
          before.assumed === null ||
          before.assumed.because === after.context.assumed?.because ||
          (after.context.assumed === null && coverageOf(after) === 'live'),
      ),
    holds: (records) =>
      every(records, scopes, (scope) => scope.context.assumed === null || coverageOf(scope) !== 'live'),
  },
  {
    id: 'GRD-11',
    title: 'what others have launched is never proved by what only our own launches have',
    holds: (records) =>
      every(
        records,
        scopes,
        (scope) => scope.context.kind !== 'external' || !isNeverLaunched(scope) || scope.context.slots === null,
      ),
    keeps: (step) =>
      each(
        step,
        scopes,
        (before, after) => before.context.kind !== 'external' || (!isOver(after) && after.context.slots === null),
      ),
  },
  {
    id: 'STOP-05',
    title: 'neither a drain nor the end of the root changes what is proved of the tree',
    keeps: (step) =>
      step.deliveries.some(({ event }) => !/^(drain|workload|sideEffect|residents)\./.test(event.type)) ||
      coverageKept(step),
  },
];
