/** The tests that every table gets: one by one for a person to read, all out of a single walk. */

import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { holds } from './model.ts';
import { flatten, rowsOf, statesOf } from './nodes.ts';
import { type GuardTerm, namedGuards, type Row, spell, type Table, titleOf } from './table.ts';
import { factsOf, type Step, spellStep, walk } from './walk.ts';

interface Findings {
  /** Per row how often it fired. */
  readonly fired: Map<Row, number>;
  /** Per row and leaf of its guards: that leaf alone decided against the row. */
  readonly decided: Map<Row, Set<string>>;
  /** Per leaf state: events that no row lists for its situation, and that were refused. */
  readonly unlisted: Map<string, Set<string>>;
  readonly disagreements: Map<string, string[]>;
  situations: number;
}

export function testTable(table: Table): void {
  const findings: Findings = {
    fired: new Map(),
    decided: new Map(),
    unlisted: new Map(),
    disagreements: new Map(),
    situations: 0,
  };
  describe(`table of ${table.name}`, () => {
    beforeAll(() => {
      findings.situations = walk(table, { onStep: (step) => note(table, findings, step) });
    });
    testAgreement(table);
    testRows(table, findings);
    testUnlisted(table, findings);
    testMutants(table);
  });
}

function note(table: Table, findings: Findings, step: Step): undefined {
  const { verdict, sample, configuration, disagreement } = step;
  if (disagreement !== null) addTo(findings.disagreements, sample.type, spellStep(step));
  for (const row of verdict.fired) findings.fired.set(row, (findings.fired.get(row) ?? 0) + 1);
  for (const [row, leaf] of decidersOf(table, step)) {
    const leaves = findings.decided.get(row) ?? new Set();
    findings.decided.set(row, leaves.add(leaf));
  }
  if (verdict.candidates.length > 0 || disagreement !== null) return;
  for (const leaf of configuration)
    findings.unlisted.set(leaf, (findings.unlisted.get(leaf) ?? new Set()).add(sample.type));
}

function addTo(lists: Map<string, string[]>, key: string, text: string): void {
  const list = lists.get(key) ?? [];
  // A wrong row disagrees in hundreds of situations; the first ones tell enough.
  if (list.length < 5) lists.set(key, [...list, text]);
}

/** Leaves whose other answer alone would have let the row through. */
function* decidersOf(table: Table, { verdict, configuration, facts, sample }: Step): Generator<readonly [Row, string]> {
  const situation = { configuration, facts: factsOf(facts, sample.facts) };
  for (const row of verdict.candidates) {
    const term = { and: row.guards };
    if (row.guards.length === 0 || holds(table, situation, term)) continue;
    for (const leaf of leavesIn(term)) {
      const flipped = (part: GuardTerm): boolean => holds(table, situation, part) !== (spell(part) === leaf);
      if (evaluate(term, flipped)) yield [row, leaf];
    }
  }
}

function evaluate(term: GuardTerm, answer: (leaf: GuardTerm) => boolean): boolean {
  if (typeof term === 'string' || 'in' in term) return answer(term);
  if ('not' in term) return !evaluate(term.not, answer);
  return 'and' in term
    ? term.and.every((part) => evaluate(part, answer))
    : term.or.some((part) => evaluate(part, answer));
}

/** Named guards and conditions on other regions, each once. */
function leavesIn(term: GuardTerm): string[] {
  if (typeof term === 'string' || 'in' in term) return [spell(term)];
  if ('not' in term) return leavesIn(term.not);
  return [...new Set(('and' in term ? term.and : term.or).flatMap(leavesIn))];
}

function testAgreement(table: Table): void {
  it('has the states of the chart, their first children, tags and entry actions', () => {
    const inOrder = (states: object) => Object.entries(states).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(inOrder(statesOf(table.machine))).toEqual(inOrder(table.states));
  });

  it('has a row for every transition of the chart, and no other rows', () => {
    const comparable = (rows: readonly Row[]) => rows.map(comparableRow).sort();
    expect(comparable(rowsOf(table.machine))).toEqual(comparable(table.rows));
  });

  it('knows every guard that the chart declares, and the chart uses every one of them', () => {
    const declared = Object.keys(table.machine.implementations.guards).sort();
    expect(declared).toEqual(Object.keys(table.guards).sort());
    expect([...new Set(table.rows.flatMap(({ guards }) => namedGuards(guards)))].sort()).toEqual(declared);
  });
}

/** Alternatives of one state and event are tried in order, so the order of those counts. */
function comparableRow(row: Row, _index: number, all: readonly Row[]): string {
  const alternatives = all.filter(({ from, event }) => from === row.from && event === row.event);
  const { from, event, to, actions } = row;
  return JSON.stringify([from, event, alternatives.indexOf(row), flatten({ and: row.guards }), to, actions]);
}

function testRows(table: Table, findings: Findings): void {
  describe('rows', () => {
    it('agrees with the chart in every situation that can be reached', () => {
      expect([...findings.disagreements.values()].flat()).toEqual([]);
      expect(findings.situations).toBeGreaterThan(table.starts.length);
    });

    it.each(table.rows.map((row) => [titleOf(row), row] as const))('accepts %s', (_, row) => {
      expect(findings.fired.get(row) ?? 0).toBeGreaterThan(0);
    });

    const conditions = table.rows.flatMap((row) =>
      leavesIn({ and: row.guards }).map((leaf) => [leaf, titleOf(row), row] as const),
    );
    it.each(conditions)('lets %s decide alone in %s', (leaf, _, row) => {
      expect(findings.decided.get(row)?.has(leaf) ?? false).toBe(!row.moot?.includes(leaf));
    });
  });
}

function testUnlisted(table: Table, findings: Findings): void {
  const events = [...new Set(table.samples.map(({ type }) => type))];
  const leaves = Object.entries(table.states).filter(([, { initial, parallel }]) => !initial && !parallel);
  it.each(leaves.map(([path]) => path))('is reached and refuses what no row lists: %s', (leaf) => {
    const listed = new Set(table.rows.map(({ event }) => event));
    expect(events.filter((event) => listed.has(event)).length).toBe(listed.size);
    expect(findings.unlisted.get(leaf)?.size ?? 0).toBeGreaterThan(0);
  });
}

/** A guard that always says yes must be noticed by some row (section D). */
function testMutants(table: Table): void {
  it.for(Object.keys(table.guards))('kills the mutant in which %s is always true', async (guard, { annotate }) => {
    const mutant = table.machine.provide({ guards: { [guard]: () => true } }) as AnyStateMachine;
    const killer = firstDisagreement(table, mutant);
    if (killer === null) expect.fail(`nothing depends on ${guard}`);
    await annotate(`${guard} is missed in ${spellStep(killer)}`);
  });
}

export function firstDisagreement(table: Table, mutant: AnyStateMachine): Step | null {
  let found: Step | null = null;
  walk(table, {
    mutant,
    onStep: (step) => {
      if (step.disagreement !== null) found = step;
      return found !== null;
    },
  });
  return found;
}
