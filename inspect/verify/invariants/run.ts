/** The invariants of section D that speak of runs, and of what a run and its scope know of each other. */
import { canonicalJson } from '../../../machines/canonical.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import {
  all,
  changedBy,
  each,
  every,
  isBound,
  isCancelled,
  isEnded,
  isOver,
  isReserved,
  lifecycleOf,
  one,
  taken,
  terminationOf,
} from '../facts.ts';
import type { Invariant, Records, Step } from '../model.ts';

const lifecycleKept = (step: Step): boolean =>
  each(step, 'run', (before, after) => lifecycleOf(before) === lifecycleOf(after));

export const runInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-01',
    title: 'an ended run stays ended and is never bound again',
    keeps: (step) =>
      each(
        step,
        'run',
        (before, after) =>
          !isEnded(before) ||
          (isEnded(after) && canonicalJson(before.context.identity) === canonicalJson(after.context.identity)),
      ),
  },
  {
    id: 'I-03',
    title: 'no run ends out of reserved',
    keeps: (step) => each(step, 'run', (before, after) => !(isReserved(before) && isEnded(after))),
  },
  {
    id: 'I-06',
    title: 'a run has at most one identity, and one generation',
    keeps: (step) =>
      each(
        step,
        'run',
        (before, after) =>
          before.context.generationId === null || before.context.generationId === after.context.generationId,
      ),
    holds: (records) => every(records, 'run', (run) => run.context.identityVersion <= 1 && isIdentityUnique(records)),
  },
  {
    id: 'I-31',
    title: 'an unknown observation moves nothing and overwrites no confirmed fact',
    keeps: (step) =>
      taken(step, 'process.observed').every(({ event }) => event.result !== 'unknown') ||
      (lifecycleKept(step) && each(step, 'run', (before, after) => confirmedOf(before) === confirmedOf(after))),
  },
  {
    id: 'I-32',
    title: 'an exit report moves no lifecycle and no scope',
    keeps: (step) =>
      taken(step, 'exit.reported').length === 0 ||
      (lifecycleKept(step) &&
        each(step, 'executionScope', (before, after) => canonicalJson(before.value) === canonicalJson(after.value))),
  },
  {
    id: 'RUN-03',
    title: 'an ended run has exactly one piece of evidence, and no other run has any',
    holds: (records) => every(records, 'run', (run) => isEnded(run) === (run.context.end !== null)),
  },
];

const confirmedOf = (run: RunSnapshot): string => canonicalJson(run.context.lastConfirmed);

function isIdentityUnique(records: Records): boolean {
  const known = all(records, 'run').flatMap(([, { context }]) =>
    context.identity === null ? [] : [canonicalJson(context.identity)],
  );
  return new Set(known).size === known.length;
}

const runOf = (records: Records, runId: string | null): RunSnapshot | null =>
  runId === null ? null : one(records, 'run', runId);

/** What one of them learns the other has to know in the same commit (C.11). */
export const runScopeInvariants: readonly Invariant<never>[] = [
  {
    id: 'L-07',
    title: 'a run whose scope is over is neither reserved nor bound any more',
    holds: (records) =>
      all(records, 'executionScope').every(([id, scope]) => {
        const run = runOf(records, scope.context.runId);
        if (run === null || run.context.rootScopeId !== id || !isOver(scope)) return true;
        return isEnded(run) || isCancelled(run);
      }),
  },
  {
    id: 'I-04',
    title: 'a run is cancelled only with a scope whose gate never opened',
    holds: (records) =>
      all(records, 'run').every(([, run]) => {
        const scope = run.context.rootScopeId === null ? null : one(records, 'executionScope', run.context.rootScopeId);
        return !isCancelled(run) || scope === null || scope.context.released === 'no';
      }),
  },
  {
    id: 'L-01',
    title: 'a bound run ends with the authentic status of its root',
    keeps: (step) =>
      changedBy(step, 'workload.statusReceipt').every(({ to }) => {
        const scope = one(step.before, 'executionScope', to);
        const runId = scope?.context.runId ?? null;
        const run = runOf(step.before, runId);
        return (
          run === null ||
          run.context.rootScopeId !== to ||
          !isBound(run) ||
          isEnded(runOf(step.after, runId) as RunSnapshot)
        );
      }),
  },
  {
    id: 'STOP-06',
    title: 'where the end of the root ends the rest, its status asks for the drain',
    keeps: (step) =>
      changedBy(step, 'workload.statusReceipt').every(({ to, event }) => {
        const scope = one(step.after, 'executionScope', to);
        if (scope === null || scope.context.onRootExit !== 'terminate' || isOver(scope)) return true;
        if (event.how === 'notReleased' || event.how === 'execFailed') return true;
        return terminationOf(scope) !== 'idle';
      }),
  },
  {
    id: 'I-38',
    title: 'a gate is opened only for a run that is bound',
    keeps: (step) =>
      step.effects.every((effect) => {
        const scope = effect.startsWith('openGate ')
          ? one(step.after, 'executionScope', effect.slice('openGate '.length))
          : null;
        const run = runOf(step.after, scope?.context.runId ?? null);
        return run === null || run.context.rootScopeId !== scope?.context.scopeId || run.context.identity !== null;
      }),
  },
];
