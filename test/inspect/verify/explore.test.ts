/** The checker finds nothing in the shipped machines, and the shortest story where one of them is broken on purpose. */
import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { shippedCharts, withMachine } from '../../../inspect/verify/charts.ts';
import { configurations } from '../../../inspect/verify/configurations/all.ts';
import { nestedScopes } from '../../../inspect/verify/configurations/nestedScopes.ts';
import { runAndScope } from '../../../inspect/verify/configurations/runAndScope.ts';
import { explore } from '../../../inspect/verify/explore.ts';
import { verdictOn } from '../../../inspect/verify/verdict.ts';
import { executionScopeMachine } from '../../../machines/executionScope.ts';

/** Few enough for every commit; `custody verify` goes on until it has seen everything. */
const states = 12_000;
/** A Goal has a record of its own for nearly every state, so each takes longer. */
const goalStates = 4_000;

describe('the shipped machines', () => {
  it.for(configurations.map((configuration) => [configuration.name, configuration] as const))(
    'keep every invariant of %s',
    async ([, configuration], { annotate }) => {
      const most = configuration.name.startsWith('goal-') ? goalStates : states;
      const verdict = verdictOn(configuration, shippedCharts, { states: most, seed: 1 });
      expect(verdict.violation).toBeNull();
      expect(verdict.states).toBeGreaterThan(1_000);
      await annotate(`${verdict.states} joint states in ${verdict.seconds.toFixed(1)} s`);
    },
  );

  it('are explored to the end where that takes seconds', () => {
    const verdict = verdictOn(nestedScopes, shippedCharts, { seed: 1 });
    expect(verdict).toMatchObject({ exhausted: true, violation: null, atBounds: 0 });
    expect(verdict.states).toBeGreaterThan(20_000);
  });

  it('are explored alike each time', () => {
    const [one, other] = [1, 1].map((seed) => verdictOn(nestedScopes, shippedCharts, { states: 5_000, seed }));
    expect(one?.states).toBe(other?.states);
    expect(one?.transitions).toBe(other?.transitions);
  });
});

describe('a machine that is broken on purpose', () => {
  const believing = executionScopeMachine.provide({ guards: { epochUniform: () => true } }) as AnyStateMachine;
  const verdict = verdictOn(runAndScope, withMachine('executionScope', believing), { seed: 1 });

  it('is found out by the shortest story, which ends with the lie that it believed', () => {
    expect(verdict.exhausted).toBe(false);
    expect(verdict.violation?.invariant).toBe('due');
    expect(verdict.violation?.story).toEqual(['S1: prepared', 'S1: gap, record lost', 'S1: mixed boots']);
  });

  it('is shown as a sequence diagram of everything that was said', () => {
    const { diagram = '' } = verdict.violation ?? {};
    expect(diagram).toMatch(/^sequenceDiagram\n {2}participant daemon\n/);
    expect(diagram).toContain('daemon->>S1: coverage.gap');
    expect(diagram).toContain('daemon->>S1: boot.epochEnded');
    expect(diagram).toContain('S1->>R1: admission.cancelled');
  });

  it('is found by what is true of the world as well, where nothing is due to the lie', () => {
    const words = runAndScope.words.map(({ due: _, ...word }) => word);
    const { violation } = verdictOn({ ...runAndScope, words }, withMachine('executionScope', believing), { seed: 1 });
    expect(violation?.invariant).toBe('I-15');
    expect(violation?.truth).toMatchObject({ trees: { S1: { root: 'gated' } } });
  });
});

describe('a bound', () => {
  it('ends the exploration and is owned up to', () => {
    const exploration = explore(runAndScope, shippedCharts, { states: 500 });
    expect(exploration.endedBy).toBe('states');
    expect(verdictOn(runAndScope, shippedCharts, { states: 500, seed: 1 }).exhausted).toBe(false);
  });
});
