/** Every way in which a chart can be broken by one guard or one relay is in the list, and is noticed. */
import { describe, expect, it } from 'vitest';
import { type Mutant, mutantName, shippedCharts } from '../../../inspect/verify/charts.ts';
import { configurations } from '../../../inspect/verify/configurations/all.ts';
import { equivalents } from '../../../inspect/verify/equivalents.ts';
import { explore } from '../../../inspect/verify/explore.ts';
import { mutants, relayMutants } from '../../../inspect/verify/mutants.ts';
import { configurationsOf, mutantVerdict } from '../../../inspect/verify/verdict.ts';
import { definitions } from '../../../machines/registry.ts';

describe('the list of mutants', () => {
  const names = mutants.map(mutantName);

  it('has every guard that a chart names', () => {
    const guards = Object.values(definitions).flatMap(({ kind, machine }) =>
      Object.keys(machine.implementations.guards).map((guard) => `${kind}.${guard} := true`),
    );
    expect(names).toEqual(expect.arrayContaining(guards));
  });

  it('has both answers of a guard that is asked under a not', () => {
    expect(names).toContain('run.claimsEnded := false');
    expect(names).toContain('recoveryFence.everyScopeProved := false');
    expect(names).not.toContain('run.rootScope := false');
  });

  it('has every relay that the explorations meet', () => {
    const met = new Set(
      configurations
        .filter(({ cast }) => cast.length > 1)
        .flatMap((one) => [...explore(one, shippedCharts, { states: 8_000 }).space.relayed]),
    );
    const listed = new Set(relayMutants.map(({ from, to, type }) => `${from} → ${to}: ${type}`));
    expect([...met].filter((relay) => !listed.has(relay))).toEqual([]);
  });

  it('has no mutant that no configuration could notice', () => {
    expect(mutants.filter((mutant) => configurationsOf(mutant).length === 0).map(mutantName)).toEqual([]);
  });
});

/** Both kinds of every chart's; `custody verify` tries all of them. */
const few: readonly Mutant[] = [
  ...relayMutants.filter(({ from, to }) => from !== to),
  { kind: 'goal', guard: 'selectsTodo', answer: true },
  { kind: 'goal', guard: 'selectsCurrentStep', answer: false },
  { kind: 'run', guard: 'managed', answer: true },
  { kind: 'worktreeGeneration', guard: 'allSettled', answer: true },
  { kind: 'executionScope', guard: 'receiptComplete', answer: true },
  { kind: 'ptySession', guard: 'captureEof', answer: true },
  { kind: 'workerIncarnation', guard: 'tickExact', answer: true },
  { kind: 'recoveryFence', guard: 'everyScopeProved', answer: true },
  { kind: 'recoveryFence', guard: 'everyScopeProved', answer: false },
];

describe('a mutant', () => {
  it.for(few.map((mutant) => [mutantName(mutant), mutant] as const))('%s is noticed', ([, mutant]) => {
    const verdict = mutantVerdict(mutant, { states: 60_000 });
    expect(verdict.killed).toBe(true);
    expect(verdict.invariant).not.toBeNull();
  });

  it('is called equivalent only by its name, and where an invariant that is checked says why', () => {
    const names = new Set(mutants.map(mutantName));
    expect(Object.keys(equivalents).filter((name) => !names.has(name))).toEqual([]);
    const withScopes = configurations.filter(({ cast }) => cast.some(({ kind }) => kind === 'executionScope'));
    for (const { invariants } of withScopes) expect(invariants.map(({ id }) => id)).toContain('OWN-06');
  });
});
