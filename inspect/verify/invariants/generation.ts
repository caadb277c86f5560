/** The invariants of section D that speak of worktree generations, and what one has to know of its runs and scopes. */
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { all, changedBy, each, every, isCancelled, isEnded, isOver, lifecycleOf, one, taken } from '../facts.ts';
import type { Invariant, Records } from '../model.ts';

const kind = 'worktreeGeneration';
const authorityOf = ({ value }: GenerationSnapshot): string => value.authority;
const isSettledThere = ({ context }: GenerationSnapshot): boolean =>
  Object.values(context.admitted).every(
    ({ run, scopes }) => run !== 'active' && Object.values(scopes).every((scope) => scope === 'proved'),
  );

/** Order of the lifecycle: nothing leads back, but the seal of one that was handed off is given up. */
const forward: Readonly<Record<string, readonly string[]>> = {
  open: ['open', 'closing', 'quarantined'],
  closing: ['closing', 'sealed', 'quarantined'],
  sealed: ['sealed', 'retired'],
  quarantined: ['quarantined'],
  retired: ['retired'],
};

export const generationInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-06',
    title: 'ownership epochs only grow, by one for each admission',
    keeps: (step) =>
      each(step, kind, (before, after) => {
        const admissions = Object.keys(after.context.admitted).length - Object.keys(before.context.admitted).length;
        return after.context.ownershipEpoch === before.context.ownershipEpoch + admissions && admissions >= 0;
      }),
  },
  {
    id: 'I-20',
    title: 'whoever is in control is one, and control changes only from a released generation',
    keeps: (step) =>
      each(step, kind, (before, after) => {
        const isLeaving = before.context.controller === 'custody' && after.context.controller !== 'custody';
        return !isLeaving || (authorityOf(before) !== 'observe' && isReady(after));
      }),
    holds: (records) =>
      every(
        records,
        kind,
        (generation) => authorityOf(generation) === 'observe' || generation.context.controller === 'custody',
      ),
  },
  {
    id: 'I-21',
    title: 'a generation that is only observed admits nobody and nothing is launched for it',
    keeps: (step) =>
      changedBy(step, 'run.admitted').every(({ to }) => {
        const before = one(step.before, kind, to);
        return before === null || (authorityOf(before) === 'managed' && lifecycleOf(before) === 'open');
      }),
  },
  {
    id: 'I-22',
    title: 'sealed means: runs terminal, scopes proved, no open gap, nobody noted, contract verified, at the seal',
    keeps: (step) =>
      changedBy(step, 'seal.requested').every(({ to }) => {
        const before = one(step.before, kind, to);
        if (before === null) return true;
        const { coverageGaps, noted, notedBeyond, noWritersContract } = before.context;
        return (
          isSettledThere(before) &&
          coverageGaps.open.length === 0 &&
          Object.keys(noted).length + notedBeyond.count === 0 &&
          noWritersContract !== null &&
          isTrulySettled(step.before, before)
        );
      }),
  },
  {
    id: 'I-23',
    title:
      'from open to retired only forward, but that handing control over ends a seal; retired means a verified receipt for that seal',
    keeps: (step) =>
      each(step, kind, (before, after) => {
        const isForward = (forward[lifecycleOf(before)] ?? []).includes(lifecycleOf(after));
        const isGivenUp = taken(step, 'authority.handedOff').length > 0 && lifecycleOf(before) === 'sealed';
        return isForward || (isGivenUp && lifecycleOf(after) === 'closing');
      }) &&
      changedBy(step, 'retirement.receiptVerified').every(({ to, event }) => {
        const before = one(step.before, kind, to);
        return (
          before === null ||
          (event.verified === true && event.sealEpoch === before.context.sealEpoch && event.generationId === to)
        );
      }),
  },
  {
    id: 'BIND-03',
    title: 'a generation knows of every admitted run and its scope what they have come to (C.11)',
    holds: (records) => all(records, kind).every(([, generation]) => isInformed(records, generation)),
  },
  {
    id: 'PROMO-05',
    title: 'a handoff completes with the fact that it was waiting for',
    holds: (records) =>
      every(records, kind, (generation) => authorityOf(generation) !== 'quiescing' || !isReady(generation)),
  },
];

/** Its own accounts hold against the actors themselves. */
const isTrulySettled = (records: Records, { context }: GenerationSnapshot): boolean =>
  Object.entries(context.admitted).every(([runId, { scopes }]) => {
    const run = one(records, 'run', runId);
    const isRunOver = run === null || isEnded(run) || isCancelled(run);
    return (
      isRunOver &&
      Object.keys(scopes).every((scopeId) => {
        const scope = one(records, 'executionScope', scopeId);
        return scope === null || isOver(scope);
      })
    );
  });

function isInformed(records: Records, { context }: GenerationSnapshot): boolean {
  const isRunKnown = (runId: string, known: string): boolean => {
    const run = one(records, 'run', runId);
    return (
      run === null || run.context.generationId !== context.generationId || isTerminal(run) === (known !== 'active')
    );
  };
  const admitted = Object.entries(context.admitted).map(([runId, { run }]) => [runId, run] as const);
  const noted = Object.keys(context.noted).map((runId) => [runId, 'active'] as const); // whoever has ended is only counted
  return (
    Object.entries(context.admitted).every(([, { scopes }]) =>
      Object.entries(scopes).every(([scopeId, known]) => {
        const scope = one(records, 'executionScope', scopeId);
        return scope === null || isOver(scope) === (known === 'proved');
      }),
    ) && [...admitted, ...noted].every(([runId, run]) => isRunKnown(runId, run))
  );
}

const isTerminal = (run: Parameters<typeof isEnded>[0]): boolean => isEnded(run) || isCancelled(run);

function isReady(generation: GenerationSnapshot): boolean {
  const runs = Object.values(generation.context.admitted);
  const isMissingScope = runs.some(({ run, scopes }) => run !== 'cancelled' && Object.keys(scopes).length === 0);
  return lifecycleOf(generation) !== 'open' && isSettledThere(generation) && !isMissingScope;
}
