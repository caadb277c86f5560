/** The invariants of section D that speak of sessions, and what a session has to know of its scope. */
import { canonicalJson } from '../../../machines/canonical.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import { acceptableResult, type SessionSnapshot } from '../../../machines/ptySession.ts';
import { all, each, every, isGap, isOver, one, regionOf, taken, terminationOf } from '../facts.ts';
import type { Invariant, Records, Step } from '../model.ts';

const kind = 'ptySession';
const workloadOf = (session: SessionSnapshot): string => regionOf(session, 'workload');
const isFinished = (session: SessionSnapshot): boolean => ['final', 'indeterminate'].includes(workloadOf(session));

/** Every session with its scope. */
const couples = (records: Records): ReadonlyArray<readonly [SessionSnapshot, ScopeSnapshot]> =>
  all(records, kind).flatMap(([, session]) => {
    const scope = one(records, 'executionScope', session.context.scopeId);
    return scope === null ? [] : [[session, scope] as const];
  });

export const sessionInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-33',
    title: 'a structured result counts only with an authentic status and a valid schema, and before any failure',
    holds: (records) =>
      every(records, kind, (session) => {
        if (acceptableResult(session) === null) return true;
        return (
          session.context.status !== null && session.context.firstFailure === null && workloadOf(session) === 'final'
        );
      }),
    keeps: (step) =>
      each(step, kind, (before, after) => {
        const isNew = before.context.structured !== after.context.structured;
        return !isNew || taken(step, 'result.reported').every(({ event }) => event.valid === true);
      }),
  },
  {
    id: 'I-33',
    title: 'an invalid result is the first failure of what was running',
    keeps: (step) =>
      taken(step, 'result.reported').every(
        ({ to, event }) => event.valid === true || one(step.after, kind, to)?.context.firstFailure !== null,
      ),
  },
  {
    id: 'I-34',
    title: 'what went wrong first in a session stays its cause',
    keeps: (step) =>
      each(
        step,
        kind,
        ({ context: before }, { context: after }) =>
          before.firstFailure === null || canonicalJson(before.firstFailure) === canonicalJson(after.firstFailure),
      ),
  },
  {
    id: 'PTY-02',
    title: 'capture is complete only where the end marker was read, and unrecorded only by choice',
    holds: (records) =>
      every(records, kind, (session) => {
        const capture = regionOf(session, 'capture');
        if (capture === 'complete') return session.context.capture?.eof === true && session.context.recorded;
        return capture !== 'unrecorded' || (session.context.capture?.eof === true && !session.context.recorded);
      }),
  },
];

/** What one of them learns the other has to know in the same commit (C.11, PTY-04). */
export const sessionScopeInvariants: readonly Invariant<never>[] = [
  {
    id: 'PTY-05',
    title: 'a session says that its scope is proved exactly when it is',
    holds: (records) =>
      couples(records).every(([session, scope]) => (session.value.scope === 'proved') === isOver(scope)),
  },
  {
    id: 'PTY-01',
    title: 'a session hears that its scope cannot be accounted for',
    holds: (records) =>
      couples(records).every(([session, scope]) => {
        const isUncertain = !isOver(scope) && (isGap(scope) || terminationOf(scope) === 'stalled');
        return !isUncertain || session.value.scope !== 'unsettled';
      }),
  },
  {
    id: 'L-15',
    title: 'a session whose scope is over waits for nothing more of its agent',
    holds: (records) => couples(records).every(([session, scope]) => !isOver(scope) || isFinished(session)),
  },
  {
    id: 'PTY-03',
    title: 'a released session runs, and has ended once the status of its root is known',
    holds: (records) =>
      couples(records).every(([session, { context }]) => {
        if (context.released === 'no') return !workloadOf(session).startsWith('running');
        return workloadOf(session) !== 'launching' && (context.status === null || isFinished(session));
      }),
    keeps: (step) => each(step, kind, isStatusBelieved),
  },
  {
    id: 'PTY-04',
    title: 'a session that is ending has asked its scope for the drain, and one that is drained is ending',
    holds: (records) => couples(records).every(([session, scope]) => isEndAsked(session, scope)),
    keeps: (step) => isTold(step),
  },
];

const isStatusBelieved = (before: SessionSnapshot, after: SessionSnapshot): boolean =>
  before.context.status !== null || after.context.status === null || isFinished(after);

const isEndAsked = (session: SessionSnapshot, scope: ScopeSnapshot): boolean =>
  workloadOf(session) !== 'ending' || isOver(scope) || terminationOf(scope) !== 'idle';

/** Unless the end follows from the end of its agent: then its status tells it all. */
const isTold = (step: Step): boolean =>
  taken(step, 'drain.requested').every(({ to, event }) => {
    if (event.cause === 'natural') return true;
    return couples(step.after).every(
      ([session, scope]) => scope.context.scopeId !== to || isFinished(session) || workloadOf(session) === 'ending',
    );
  });
