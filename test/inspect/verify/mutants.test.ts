/** Every way in which a chart can be broken by one guard or one relay is in the list, and is noticed. */
import { describe, expect, it } from 'vitest';
import { mutantName, shippedCharts } from '../../../inspect/verify/charts.ts';
import { configurations } from '../../../inspect/verify/configurations/all.ts';
import { explore } from '../../../inspect/verify/explore.ts';
import { mutants, relayMutants } from '../../../inspect/verify/mutants.ts';
import { configurationsOf } from '../../../inspect/verify/verdict.ts';
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
      configurations.flatMap((one) => [...explore(one, shippedCharts, { states: 8_000 }).space.relayed]),
    );
    const listed = new Set(relayMutants.map(({ from, to, type }) => `${from} → ${to}: ${type}`));
    expect([...met].filter((relay) => !listed.has(relay))).toEqual([]);
  });

  it('has no mutant that no configuration could notice', () => {
    expect(mutants.filter((mutant) => configurationsOf(mutant).length === 0).map(mutantName)).toEqual([]);
  });
});
