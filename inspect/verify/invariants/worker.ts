/** The invariants of section D that speak of workers and their replacement, and what they have to know of their scopes. */
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import { all, changedBy, each, isGap, isOver, one, taken, terminationOf } from '../facts.ts';
import type { Invariant, Records, Step } from '../model.ts';
import { unprovedOf } from '../words/workers.ts';

const isExited = (worker: WorkerSnapshot): boolean => worker.value === 'exited';
const fenceOf = (records: Records) => one(records, 'recoveryFence', 'X1');

export const workerInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-24',
    title: 'a replacement is launched only where every scope of its predecessors is proved, and nobody else is at work',
    keeps: (step) => changedBy(step, 'replacement.launched').length === 0 || unprovedOf(step.before).length === 0,
    holds: (records) => all(records, 'workerIncarnation').filter(([, worker]) => !isExited(worker)).length <= 1,
  },
  {
    id: 'I-24',
    title: 'a launch is permitted only by a look at everything that found nobody left',
    keeps: (step) =>
      fenceOf(step.after)?.value !== 'launchPermitted' ||
      fenceOf(step.before)?.value === 'launchPermitted' ||
      (unprovedOf(step.before).length === 0 &&
        taken(step, 'ownership.rescanned').every(({ event }) => event.rescanned === true)),
  },
  {
    id: 'I-25',
    title: 'a worker is healthy only by a tick of its own, and a replacement is the worker only by one',
    keeps: (step) => {
      const isHome = fenceOf(step.before)?.value === 'awaitingTick' && fenceOf(step.after)?.value === 'idle';
      const replacement = fenceOf(step.before)?.context.replacement?.incarnationId;
      return !isHome || taken(step, 'scheduler.tick').some(({ event }) => event.incarnationId === replacement);
    },
    holds: (records) =>
      all(records, 'workerIncarnation').every(
        ([, worker]) => worker.value !== 'healthy' || (worker.context.tick.seq > 0 && worker.context.process !== null),
      ),
  },
  {
    id: 'REC-02',
    title: 'a recovery that knows of a worker goes by way of its end, and one that finds several is refused',
    keeps: (step) => changedBy(step, 'recovery.started').every(() => isBegunRightly(step)),
  },
  {
    id: 'REC-03',
    title: 'who was ended is looked for only once its scope is proved',
    keeps: (step) => {
      const before = fenceOf(step.before);
      const after = fenceOf(step.after);
      if (before === null || after === null || after.value !== 'rescanning' || before.value === 'rescanning')
        return true;
      const { old } = after.context;
      const scope = old === null ? null : one(step.after, 'executionScope', old.scopeId);
      return scope === null || isOver(scope);
    },
  },
  {
    id: 'WRK-04',
    title: 'a worker is exited exactly when its scope is over, and unverified when that cannot be accounted for',
    holds: (records) =>
      all(records, 'workerIncarnation').every(([, worker]) => {
        const scope = one(records, 'executionScope', worker.context.scopeId);
        if (scope === null) return true;
        if (isExited(worker) !== isOver(scope)) return false;
        return isOver(scope) || !(isGap(scope) || terminationOf(scope) === 'stalled') || !isReliedUpon(worker);
      }),
  },
  {
    id: 'REPL-07',
    title: 'a fence does not wait for the tick of a worker that has ticked, nor for the end of one that is proved',
    keeps: (step) => isFenceInformed(step),
  },
];

const isReliedUpon = (worker: WorkerSnapshot): boolean =>
  ['healthy', 'starting', 'suspect', 'launching'].includes(String(worker.value));

function isBegunRightly(step: Step): boolean {
  const before = fenceOf(step.before);
  const after = fenceOf(step.after);
  const event = taken(step, 'recovery.started')[0]?.event;
  if (before === null || after === null || event === undefined) return true;
  const isOldGone = event.old !== null && unprovedOf(step.before).length === 0;
  const live = Number(event.liveWorkers);
  if (live > 1) return after.value === 'refused';
  if (event.old !== null && !isOldGone) return after.value === 'stoppingOld' || after.value === 'refused';
  return event.old !== null || live === 0 || after.value === 'refused';
}

/** What its worker and scopes tell in this very commit. */
function isFenceInformed(step: Step): boolean {
  const before = fenceOf(step.before);
  const after = fenceOf(step.after);
  if (before === null || after === null) return true;
  const { replacement, old } = before.context;
  if (before.value === 'awaitingTick' && replacement !== null) {
    const became = one(step.after, 'workerIncarnation', replacement.incarnationId)?.value;
    const was = one(step.before, 'workerIncarnation', replacement.incarnationId)?.value;
    if (became === 'healthy' && was !== 'healthy' && after.value === 'awaitingTick') return false;
  }
  if (before.value !== 'stoppingOld' || old === null || after.value !== 'stoppingOld') return true;
  const scope = one(step.after, 'executionScope', old.scopeId);
  const was = one(step.before, 'executionScope', old.scopeId);
  return scope === null || was === null || !isOver(scope) || isOver(was);
}

export const exitsOnce: Invariant<never> = {
  id: 'WRK-01',
  title: 'a worker that has exited stays so, and it keeps the process that it registered',
  keeps: (step) =>
    each(
      step,
      'workerIncarnation',
      (before, after) =>
        (!isExited(before) || isExited(after)) &&
        (before.context.process === null || before.context.process === after.context.process),
    ),
};
