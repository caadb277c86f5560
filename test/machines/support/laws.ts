/** The invariants of section D that speak of a scope and its run, as laws over joint states and transitions. */
import { assessOwnership, holdsSlot } from '../../../machines/assessment.ts';
import { canonicalJson } from '../../../machines/canonical.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import { executionScopeTable } from '../tables/executionScope.ts';
import type { Joint, Law, Transition } from './explore.ts';
import { timeEvents } from './jointEvents.ts';
import type { Views } from './memoryHost.ts';
import { isTreeAlive } from './world.ts';

const isProved = (scope: ScopeSnapshot): boolean => scope.matches({ coverage: 'exitedProved' });
const isNeverLaunched = (scope: ScopeSnapshot): boolean => scope.matches({ coverage: 'neverLaunched' });
const isOver = (scope: ScopeSnapshot): boolean => isProved(scope) || isNeverLaunched(scope);
const isGap = (scope: ScopeSnapshot): boolean => scope.matches({ coverage: { unverified: 'gap' } });
const isReserved = (run: RunSnapshot): boolean => run.matches({ lifecycle: 'reserved' });
const isEnded = (run: RunSnapshot): boolean => run.matches({ lifecycle: 'ended' });
const isCancelled = (run: RunSnapshot): boolean => run.matches({ lifecycle: 'cancelled' });
const coverageOf = ({ value }: ScopeSnapshot): string => canonicalJson(value.coverage);

const times = new Set(timeEvents.map(({ name }) => name));
const typesOf = ({ event }: Transition): string[] => event.call.map(({ told: [type] }) => type);
const isAbout = (transition: Transition, prefix: string): boolean =>
  typesOf(transition).some((type) => type.startsWith(prefix));
const lifecycleKept = ({ before, after }: Transition): boolean =>
  canonicalJson(before.run.value.lifecycle) === canonicalJson(after.run.value.lifecycle);
const coverageKept = ({ before, after }: Transition): boolean => coverageOf(before.scope) === coverageOf(after.scope);
const isSubset = (part: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): boolean =>
  Object.keys(part).every((pid) => whole[pid] === part[pid]);

/** Only what nothing can prove any more can be answered for. */
const isAnsweredFor = (scope: ScopeSnapshot): boolean =>
  scope.context.assumed !== null && scope.matches({ coverage: 'unverified' });

const runLaws: readonly Law[] = [
  {
    name: 'I-01 an ended run stays ended and is never bound again',
    keeps: ({ before, after }) =>
      !isEnded(before.run) ||
      (isEnded(after.run) && canonicalJson(before.run.context.identity) === canonicalJson(after.run.context.identity)),
  },
  {
    name: 'I-02 the process of an ended run does not exist',
    holds: ({ run, world }) => !isEnded(run) || world.root === 'dead',
  },
  {
    name: 'I-03 no run ends out of reserved',
    keeps: ({ before, after }) => !(isReserved(before.run) && isEnded(after.run)),
  },
  {
    name: 'I-04 the image of a cancelled run, or of a scope that was never launched, never ran',
    holds: ({ run, scope, world }) => !(isCancelled(run) || isNeverLaunched(scope)) || !world.ran,
  },
  {
    name: 'I-04 cancelled or never launched means that no release was committed',
    holds: ({ run, scope }) => !(isCancelled(run) || isNeverLaunched(scope)) || scope.context.released === 'no',
  },
  {
    name: 'I-31 an unknown observation moves no run and overwrites no confirmed fact',
    keeps: (transition) =>
      transition.event.name !== 'process unseen' ||
      (lifecycleKept(transition) &&
        transition.before.run.context.lastConfirmed?.result === transition.after.run.context.lastConfirmed?.result),
  },
  {
    name: 'I-32 an exit report moves no lifecycle and no scope',
    keeps: (transition) =>
      !isAbout(transition, 'exit.reported') || (lifecycleKept(transition) && coverageKept(transition)),
  },
  { name: 'RUN-02 a run has at most one identity', holds: ({ run }) => run.context.identityVersion <= 1 },
  {
    name: 'RUN-03 an ended run has exactly one piece of evidence, and no other run has any',
    holds: ({ run }) => isEnded(run) === (run.context.end !== null),
  },
];

const scopeLaws: readonly Law[] = [
  {
    name: 'I-14 time ends no run and no scope (TIME-02)',
    keeps: (transition) => !times.has(transition.event.name) || (lifecycleKept(transition) && coverageKept(transition)),
  },
  {
    name: 'I-15 nobody of a proved scope lives',
    holds: ({ scope, world }) => !isProved(scope) || !isTreeAlive(world),
  },
  {
    name: 'I-16 without its guardian a scope is unverified until a proof',
    holds: ({ scope }) => !isGuardianLost(scope) || isGap(scope) || isOver(scope),
  },
  {
    name: 'I-17 a gap leaves to a proof, or to never launched without a release',
    keeps: ({ before, after }) =>
      !isGap(before.scope) ||
      isGap(after.scope) ||
      isProved(after.scope) ||
      (isNeverLaunched(after.scope) && before.scope.context.released === 'no'),
  },
  {
    name: 'I-19 a proved scope stays proved, by one of three proofs',
    keeps: ({ before, after }) =>
      !isOver(before.scope) ||
      (coverageOf(before.scope) === coverageOf(after.scope) &&
        canonicalJson(before.scope.context.proof) === canonicalJson(after.scope.context.proof)),
    holds: ({ scope }) => isProofFitting(scope),
  },
  {
    name: 'I-26 a slot is held until the release, or until somebody answers for the end that nothing proves',
    holds: ({ scope }) =>
      holdsSlot(scope) === !(isOver(scope) || isAnsweredFor(scope)) &&
      (assessOwnership(scope).state === 'exited') === isOver(scope),
  },
  {
    name: 'GRD-10 an assumption moves nothing and is no proof; the first one stays',
    keeps: (transition) =>
      !isAbout(transition, 'end.assumed') ||
      (coverageKept(transition) && lifecycleKept(transition) && transition.after.scope.context.proof === null),
  },
  {
    name: 'GRD-10 only what cannot be proved any more can be assumed',
    keeps: ({ before, after }) =>
      before.scope.context.assumed !== null ||
      after.scope.context.assumed === null ||
      isGap(before.scope) ||
      before.scope.context.guardianLast?.reason === 'namespace_mismatch',
  },
  {
    name: 'GRD-10 the assumption on record is never exchanged, and withdrawn only by the sight of life',
    keeps: ({ before, after }) =>
      before.scope.context.assumed === null ||
      before.scope.context.assumed.because === after.scope.context.assumed?.because ||
      (after.scope.context.assumed === null && after.scope.matches({ coverage: 'live' })),
  },
  {
    name: 'GRD-10 nobody answers for the end of what was seen alive since',
    holds: ({ scope }) => scope.context.assumed === null || !scope.matches({ coverage: 'live' }),
  },
  {
    name: 'I-28 witnesses never become fewer before a proof',
    keeps: ({ before, after }) =>
      isOver(before.scope) || isSubset(before.scope.context.witnesses, after.scope.context.witnesses),
  },
  {
    name: 'I-39 termination is settled exactly when the scope is over',
    holds: ({ scope }) => scope.matches({ termination: 'settled' }) === isOver(scope),
  },
  {
    name: 'a drain never changes coverage (section C.5)',
    keeps: (transition) => !isAbout(transition, 'drain.') || coverageKept(transition),
  },
  {
    name: 'a workload status never changes coverage (section C.5)',
    keeps: (transition) => !isAbout(transition, 'workload.') || coverageKept(transition),
  },
  {
    name: 'I-18 a publication that has begun is not drained by what supersedes it',
    keeps: ({ before, after, event }) =>
      event.name !== 'drain: superseded' ||
      before.scope.context.openSideEffects.length === 0 ||
      canonicalJson(before.scope.value.termination) === canonicalJson(after.scope.value.termination),
  },
];

const isGuardianLost = ({ context }: ScopeSnapshot): boolean =>
  context.guardianLast?.result === 'absent' || context.gaps.includes('guardian_gone');

function isProofFitting(scope: ScopeSnapshot): boolean {
  const kind = scope.context.proof?.kind;
  if (isNeverLaunched(scope)) return kind === 'never_launched';
  if (isProved(scope)) return kind === 'own_receipt' || kind === 'enclosing_receipt' || kind === 'boot_epoch';
  return kind === undefined;
}

const jointLaws: readonly Law[] = [
  {
    name: 'I-38 no image runs before its run is bound and its scope is released',
    holds: ({ run, scope, world }: Joint) =>
      !world.ran || (run.context.identity !== null && scope.context.released !== 'no'),
  },
  {
    name: 'L-07 a run behind a scope that is over is not left reserved',
    holds: ({ run, scope }: Joint) => !isOver(scope) || !isReserved(run),
  },
  {
    name: 'a bound run and a scope that is over: the run has ended',
    holds: ({ run, scope }: Joint) => !isProved(scope) || isEnded(run) || isCancelled(run),
  },
  {
    name: 'ruling 4: nothing is released once a drain has begun',
    keeps: ({ before, after }: Transition) =>
      before.scope.matches({ termination: 'idle' }) ||
      before.scope.context.released === after.scope.context.released ||
      before.scope.context.released !== 'no',
  },
];

export const laws: readonly Law[] = [...runLaws, ...scopeLaws, ...jointLaws];

/** Of a scope that others launched: the laws of every scope, and that nothing here can be known to be over. */
export const externalLaws: readonly Law[] = [
  ...scopeLaws,
  ...runLaws.filter(({ name }) => name.startsWith('I-04')),
  {
    name: 'GRD-11 what others launched is never proved and holds its slot, unless somebody answers for its end',
    holds: ({ scope }) => !isOver(scope) && holdsSlot(scope) === !isAnsweredFor(scope),
  },
];

/**
 * Situations that behave alike: whatever a guard or a law above asks, and nothing that only grows, such as the number of
 * drains. That the facts are enough for the guards is shown by the walk of the scope's table.
 */
export const views: Views = {
  executionScope: ({ value, context }) => [
    value,
    executionScopeTable.factsOf(context as never),
    context.released,
    context.slots !== null,
    context.proof,
    context.witnesses,
    context.witnessConflicts.length,
    context.assumed?.because,
  ],
  run: ({ value, context }) => [
    value,
    context.identity,
    context.identityVersion,
    context.end,
    context.lastConfirmed?.result,
  ],
};
