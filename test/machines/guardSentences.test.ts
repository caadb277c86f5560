import { describe, expect, it } from 'vitest';
import { chartOf } from '../../inspect/diagrams/chart.ts';
import { guardSentence, guardsWithSentence } from '../../machines/guardSentences.ts';
import { definitions } from '../../machines/registry.ts';

describe.each(Object.values(definitions))('the guards of a $kind', (definition) => {
  const { kind } = definition;
  const asked = [...new Set(chartOf(definition).transitions.flatMap(({ guards }) => guards))].sort();

  it('have a sentence each, and no sentence is about anything else', () => {
    expect([...guardsWithSentence(kind)].sort()).toEqual(asked);
    expect(asked.every((guard) => Object.hasOwn(definition.machine.implementations.guards, guard))).toBe(true);
  });

  it('are told in clauses that say two different things', () => {
    for (const guard of asked) {
      const { holds, fails } = guardSentence(kind, guard);
      expect(holds).not.toBe(fails);
      for (const clause of [holds, fails]) expect(clause).toMatch(/^[a-z].{8,}[^.!? ]$/);
    }
  });
});

describe('guardSentence', () => {
  it('tells of a condition on another region', () => {
    expect(guardSentence('worktreeGeneration', 'in authority.managed').holds).toBe('it has authority at managed');
    expect(guardSentence('workerIncarnation', 'in exited').fails).toBe('it does not have state exited');
  });

  it('knows of no other names', () => {
    expect(() => guardSentence('run', 'isHappy')).toThrow(RangeError);
    expect(() => guardSentence('run', 'toString')).toThrow(RangeError);
  });
});
