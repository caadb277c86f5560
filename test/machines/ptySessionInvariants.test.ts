/**
 * A session with its scope, its run and the processes behind them, explored together (section D): every order of launch,
 * ends, evidence, capture and typing. `CUSTODY_SOAK` puts all of it together.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import {
  acceptableResult,
  isInterrupted,
  isSessionSettled,
  ptySessionMachine,
  type SessionSnapshot,
} from '../../machines/ptySession.ts';
import { type Exploration, explore, type Law } from './support/explore.ts';
import { limited, sessionAlphabet } from './support/sessionEvents.ts';
import { sessionLaws as laws, sessionViews as views } from './support/sessionLaws.ts';

const isSoak = process.env.CUSTODY_SOAK !== undefined;
const options = { laws, views, session: limited };

const without = (...parts: string[]) =>
  sessionAlphabet.filter(({ name }) => !parts.some((part) => name.includes(part)));

const ends = without(
  'capture',
  'input',
  'output',
  'resized',
  'enclosing',
  'superseded',
  'about another',
  'process seen',
);
const recording = without(
  'not started',
  'abandoned',
  'forged',
  'ran false',
  'enclosing',
  'superseded',
  'result',
  'stop',
);

const explorations: ReadonlyArray<readonly [string, () => Exploration]> = isSoak
  ? [
      ['whatever happens', () => explore({ ...options, events: sessionAlphabet })],
      [
        'where the end of the agent changes nothing for the rest',
        () => explore({ ...options, events: sessionAlphabet, input: { onRootExit: 'wait' } }),
      ],
    ]
  : [
      ['however it ends', () => explore({ ...options, events: ends })],
      [
        'where the end of the agent changes nothing for the rest',
        () => explore({ ...options, events: ends, input: { onRootExit: 'wait' } }),
      ],
      ['whatever is recorded and typed', () => explore({ ...options, events: recording })],
    ];

describe.each(explorations)('a session, its scope and its run, %s', (_, run) => {
  let exploration: Exploration;
  beforeAll(() => {
    exploration = run();
  }, 1_800_000);

  it.each(laws.map(({ name }) => name))('%s', (law) => {
    expect(exploration.broken?.law === law ? exploration.broken.story : []).toEqual([]);
  });

  it('are explored to the end', async ({ annotate }) => {
    expect(exploration.broken).toBeNull();
    expect(exploration.states).toBeGreaterThan(5_000);
    await annotate(`${exploration.states} joint states`);
  });
});

it('is moved by every event that tells something true, and by none that does not (PTY-02, PTY-05)', () => {
  const events = without('enclosing', 'superseded', 'result', 'process seen', 'not started');
  const { occurred } = explore({ ...options, laws: [], events });
  const silent = events.map(({ name }) => name).filter((name) => !occurred.has(name));
  expect(silent.sort()).toEqual([
    'doubt about another scope',
    'forged status for the session',
    'forged status receipt',
    'proof of another scope',
  ]);
});

/** The laws are not kept by never getting anywhere. */
describe('a session can', () => {
  it.each<readonly [string, (session: SessionSnapshot) => boolean]>([
    ['bring a result that counts', (session) => acceptableResult(session) !== null],
    ['be interrupted (PTY-10)', isInterrupted],
    ['be settled', isSessionSettled],
    ['go without a status', (session) => session.matches({ workload: 'indeterminate' })],
    [
      'keep a fault beside its first failure (PTY-06)',
      ({ context }) => context.firstFailure !== null && context.faults.length > 0,
    ],
  ])('%s', async (name, isSo) => {
    const never: Law = { name, holds: ({ session }) => !isSo(session) };
    const { broken } = explore({ ...options, laws: [never], events: sessionAlphabet });
    expect(broken?.law).toBe(name);
  });
});

describe('without a guard', () => {
  const killers: ReadonlyArray<readonly [string, string]> = [
    ['statusAuthentic', 'I-33'],
    ['schemaValid', 'PTY-03'],
    ['deadlineStillDue', 'PTY-09'],
    ['captureEof', 'PTY-07'],
    ['isUnrecorded', 'PRIV-02'],
    ['scopeMatches', 'PTY-05'],
  ];

  it.for(killers)('ptySession %s, %s breaks', async ([guard, id], { annotate }) => {
    const mutant = ptySessionMachine.provide({ guards: { [guard]: () => true } }) as AnyStateMachine;
    const { broken } = explore({ ...options, events: sessionAlphabet, machines: { ptySession: mutant } });
    expect(broken?.law.startsWith(id)).toBe(true);
    await annotate(`${guard}: ${broken?.story.join(', ')}`);
  });

  it('has a law for every guard of the chart', () => {
    const guards = Object.keys(ptySessionMachine.implementations.guards);
    expect(killers.map(([guard]) => guard).sort()).toEqual(guards.sort());
  });
});
