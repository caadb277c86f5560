/**
 * A scope, its run and the processes behind them, explored together: every order of launch, evidence, drains, claims and
 * clocks, with forgeries and repetitions, against a world that moves by itself. `CUSTODY_SOAK` puts all of it together.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import { runMachine } from '../../machines/run.ts';
import { type Exploration, explore } from './support/explore.ts';
import { externalEvents, type JointEvent, jointEvents, timeEvents } from './support/jointEvents.ts';
import { externalLaws, laws, views } from './support/laws.ts';
import { emptyWorld } from './support/world.ts';

const isSoak = process.env.CUSTODY_SOAK !== undefined;

const without = (...parts: string[]): JointEvent[] =>
  jointEvents.filter(({ name }) => !parts.some((part) => name.includes(part)));
const ofScope = ({ call }: JointEvent): boolean => call.length > 1 || call[0]?.to === 'executionScope';

const core = without('witness', 'publication', 'superseded');
const witnessing = without('publication', 'superseded', 'enclosing', 'drain', 'uncertain').filter(ofScope);
const publishing = without('witness', 'enclosing', 'gap', 'inspection').filter(ofScope);

/** What nobody may ever be moved by. */
const powerless = [
  ...['forged status receipt', 'forged exit receipt', 'partial exit receipt', 'mixed boots', 'the same boot'],
  ...['enclosing receipt, guardian alive', 'enclosing receipt without launcherRelation'],
  ...['enclosing receipt without inferred', 'enclosing receipt with survivors'],
  ...['stale sample: ended', 'unstable sample: ended', 'another process seen ended', 'another process bound'],
  ...['unverified process bound', 'another scope proved', 'status of another scope', 'gate of another scope'],
  ...['deadline reached', 'deadline reached for the run'],
];

const explorations: ReadonlyArray<readonly [string, () => Exploration]> = [
  ['where the end of the root ends the rest', () => explore({ laws, views, events: isSoak ? jointEvents : core })],
  [
    'where the end of the root changes nothing for the rest',
    () => explore({ laws, views, events: isSoak ? jointEvents : core, input: { onRootExit: 'wait' } }),
  ],
  ['while observers bring witnesses', () => explore({ laws, views, events: witnessing })],
  ['while something is being published', () => explore({ laws, views, events: publishing })],
];

describe.each(explorations)('a scope and its run, %s', (_, run) => {
  let exploration: Exploration;
  beforeAll(() => {
    exploration = run();
  });

  it.each(laws.map(({ name }) => name))('%s', (law) => {
    expect(exploration.broken?.law === law ? exploration.broken.story : []).toEqual([]);
  });

  it('are explored to the end', async ({ annotate }) => {
    expect(exploration.broken).toBeNull();
    expect(exploration.states).toBeGreaterThan(500);
    await annotate(`${exploration.states} joint states`);
  });
});

it('is moved by every event that tells something true, and by none that does not (OWN-04, OBS-09, GRD-05)', () => {
  const { occurred } = explore({ laws: [], views, events: core });
  const silent = core.map(({ name }) => name).filter((name) => !occurred.has(name));
  expect(silent.sort()).toEqual([...powerless].sort());
});

describe('a scope that others launched (GRD-11)', () => {
  const world = { ...emptyWorld, root: 'alive', escapee: true, ran: true } as const;
  const events = [...externalEvents, ...without('not started').filter(ofScope)];

  it('is never proved, never launched by us and never let go, whatever is said', () => {
    const exploration = explore({ laws: externalLaws, views, events, world, input: { kind: 'external' } });
    expect(exploration.broken).toBeNull();
    expect(exploration.states).toBeGreaterThan(50);
  });
});

/** Guards whose loss some law of section D notices; the others are missed by their rows (see the tables). */
const killers: ReadonlyArray<readonly ['executionScope' | 'run', string, string, readonly JointEvent[]]> = [
  ['executionScope', 'neverReleased', 'I-17', core],
  ['executionScope', 'guardianGone', 'I-15', core],
  ['executionScope', 'receiptAuthentic', 'I-15', core],
  ['executionScope', 'receiptComplete', 'I-02', core],
  ['executionScope', 'epochUniform', 'I-15', core],
  ['executionScope', 'observedAlive', 'I-16', core],
  ['executionScope', 'observedAbsent', 'I-15', core],
  ['executionScope', 'enclosingContains', 'I-02', core],
  ['executionScope', 'noSurvivors', 'I-02', core],
  ['executionScope', 'notCommitted', 'I-18', publishing],
  ['executionScope', 'notAssumed', 'GRD-', core],
  ['executionScope', 'inForeignNamespace', 'GRD-', core],
  ['run', 'identityVerified', 'I-02', core],
  ['run', 'observedEnded', 'I-31', core],
  ['run', 'sampleBasisCurrent', 'I-02', core],
  ['run', 'receiptNamesProcess', 'I-02', core],
  ['run', 'rootScope', 'I-02', core],
];

describe('without a guard', () => {
  const charts = { executionScope: executionScopeMachine as AnyStateMachine, run: runMachine as AnyStateMachine };

  it.for(killers)('%s %s, %s breaks', async ([kind, guard, id, events], { annotate }) => {
    const mutant = charts[kind].provide({ guards: { [guard]: () => true } }) as AnyStateMachine;
    const { broken } = explore({ laws, views, events, machines: { [kind]: mutant } });
    expect(broken?.law.slice(0, 4)).toBe(id);
    await annotate(`${guard}: ${broken?.story.join(', ')}`);
  });

  it('neverReleased, a released image is taken for one that never ran (GRD-07, I-04)', () => {
    const mutant = executionScopeMachine.provide({ guards: { neverReleased: () => true } }) as AnyStateMachine;
    const onlyI04 = laws.filter(({ name }) => name.startsWith('I-04'));
    const { broken } = explore({ laws: onlyI04, views, events: core, machines: { executionScope: mutant } });
    expect(broken?.story).toContain('bound and released');
  });
});

it('hears of time in the explored alphabet (I-14, TIME-02)', () => {
  expect(timeEvents.every((event) => core.includes(event))).toBe(true);
});
