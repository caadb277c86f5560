/** The invariants of section D and the rules of PTY that speak of a session together with its scope and its run. */
import { canonicalJson } from '../../../machines/canonical.ts';
import {
  acceptableResult,
  armedDeadlines,
  isSessionSettled,
  ptySessionDefinition,
  type SessionSnapshot,
} from '../../../machines/ptySession.ts';
import type { Law, Records, Transition } from './explore.ts';
import { views } from './laws.ts';
import type { Views } from './memoryHost.ts';

const isIn = (session: SessionSnapshot, ...states: string[]): boolean =>
  states.some((state) => session.matches({ workload: state } as never));
const isBefore = (session: SessionSnapshot): boolean => isIn(session, 'launching', 'running');
const isOver = (session: SessionSnapshot): boolean => isIn(session, 'final', 'indeterminate');
const isScopeOver = ({ scope }: Records): boolean => scope.hasTag('capacityReleased');
const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

const isOnlyToSession = ({ event }: Transition): boolean => event.call.every(({ to }) => to === 'ptySession');
const isCalled = ({ event }: Transition, ...names: string[]): boolean => names.includes(event.name);
const attempts = ({ scope }: Records): number => scope.context.drain?.attempts ?? 0;
const beganEnding = ({ before, after }: Transition): boolean =>
  isIn(after.session, 'ending') && !isIn(before.session, 'ending');

const resultLaws: readonly Law[] = [
  {
    name: 'I-33 a result counts only with an authentic status, after the agent has ended',
    holds: ({ session, scope, world }) =>
      acceptableResult(session) === null ||
      (scope.context.status !== null && isSame(session.context.status, scope.context.status) && world.root === 'dead'),
  },
  {
    name: 'I-33 a session has no other status than its scope',
    holds: ({ session, scope }) =>
      session.context.status === null || isSame(session.context.status, scope.context.status),
  },
  {
    name: 'PTY-03 a result that does not fit its schema is none',
    keeps: (transition) =>
      !isCalled(transition, 'invalid result') || transition.after.session.context.structured === null,
  },
  {
    name: 'I-34 the first failure stays, and so do the result and every fault',
    keeps: ({ before: { session: before }, after: { session: after } }) =>
      (before.context.firstFailure === null || isSame(before.context.firstFailure, after.context.firstFailure)) &&
      (before.context.structured === null || before.context.structured === after.context.structured) &&
      before.context.faults.every((fault, place) => isSame(fault, after.context.faults[place])),
  },
  {
    name: 'ruling 7: a launch that failed never ran',
    holds: ({ session, world }) => session.context.firstFailure?.cause !== 'launch' || !world.ran,
  },
];

const endLaws: readonly Law[] = [
  {
    name: 'the agent of a session that is final or indeterminate does not run',
    holds: ({ session, world }) => !isOver(session) || world.root !== 'alive',
  },
  {
    name: 'L-15 nobody waits for a session whose scope is over',
    holds: (joint) => !isScopeOver(joint) || isOver(joint.session),
  },
  {
    name: 'PTY-04 whoever is ending has a drain under way',
    holds: ({ session, scope }) => !isIn(session, 'ending') || !scope.matches({ termination: 'idle' }),
  },
  {
    name: 'PTY-04 one drain for one end',
    keeps: (transition) =>
      !isOnlyToSession(transition) ||
      attempts(transition.after) - attempts(transition.before) <= (beganEnding(transition) ? 1 : 0),
  },
  {
    name: 'ruling 4: a drain that somebody ordered reaches the session in the same commit',
    holds: (joint) => {
      const { cause } = joint.scope.context.drain ?? {};
      return cause === undefined || cause === 'natural' || isScopeOver(joint) || !isBefore(joint.session);
    },
  },
  {
    name: 'a session runs exactly from the release on',
    holds: ({ session, scope }) =>
      scope.context.released === 'no' ? !isIn(session, 'running') : !isIn(session, 'launching'),
  },
];

const ownershipLaws: readonly Law[] = [
  {
    name: 'PTY-05 what is said to a session moves neither coverage nor run',
    keeps: (transition) =>
      !isOnlyToSession(transition) ||
      (isSame(transition.before.scope.value.coverage, transition.after.scope.value.coverage) &&
        isSame(transition.before.run.value, transition.after.run.value)),
  },
  {
    name: 'PTY-05 a session takes its scope for proved exactly when it is over',
    holds: (joint) => joint.session.matches({ scope: 'proved' }) === isScopeOver(joint),
  },
  {
    name: 'PTY-05 a session knows of a lost guardian and of a stalled drain',
    holds: (joint) =>
      isScopeOver(joint) ||
      !joint.session.matches({ scope: 'unsettled' }) ||
      !(joint.scope.matches({ coverage: { unverified: 'gap' } }) || joint.scope.matches({ termination: 'stalled' })),
  },
  {
    // What waits behind a gate that was given up never runs; its guardian ends it.
    name: 'I-26 nobody of a session that is given back runs',
    holds: ({ session, world: { root, escapee } }) =>
      !ptySessionDefinition.isReleased(session) || (root !== 'alive' && !escapee),
  },
  {
    name: 'PTY-08 looking, typing and resizing order nothing and move no deadline',
    keeps: (transition) =>
      !isCalled(transition, 'input sent', 'resized') ||
      (attempts(transition.before) === attempts(transition.after) &&
        isSame(armedDeadlines(transition.before.session), armedDeadlines(transition.after.session))),
  },
  {
    name: 'PTY-09 a stale deadline starts no end',
    keeps: (transition) => !isCalled(transition, 'stale deadline') || !beganEnding(transition),
  },
  {
    name: 'I-14 a deadline ends no session, no run and no scope',
    keeps: (transition) =>
      !isCalled(transition, 'deadline', 'stale deadline') ||
      (isOver(transition.before.session) === isOver(transition.after.session) &&
        isSame(transition.before.run.value, transition.after.run.value)),
  },
  {
    name: 'PTY-07 a capture that was cut short is never complete',
    keeps: (transition) =>
      !isCalled(transition, 'capture cut short') || !transition.after.session.matches({ capture: 'complete' }),
  },
  {
    name: 'PRIV-02 only what was not to be recorded ends unrecorded',
    holds: ({ session }) => !session.matches({ capture: 'unrecorded' }) || !session.context.recorded,
  },
  {
    name: 'ruling 14: a session that is settled stays so',
    keeps: ({ before, after }) => !isSessionSettled(before.session) || isSessionSettled(after.session),
  },
];

export const sessionLaws: readonly Law[] = [...resultLaws, ...endLaws, ...ownershipLaws];

/** Which event told of a failure makes no second situation; everything else that a guard or a law asks about does. */
export const sessionViews: Views = {
  ...views,
  executionScope: (snapshot) => [
    views.executionScope(snapshot),
    snapshot.context.status,
    snapshot.context.drain?.cause,
    Math.min(snapshot.context.drain?.attempts ?? 0, 2),
  ],
  ptySession: ({ value, context: { activity, structured, firstFailure, faults, status } }) => [
    value,
    activity.seq,
    structured,
    firstFailure && [firstFailure.cause, firstFailure.reason],
    faults.map(({ cause, reason }) => [cause, reason]),
    status,
  ],
};
