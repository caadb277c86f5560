/** Plays a table: which rows fire for an event, where they lead, or which leaves of their guards refuse. */
import { type Facts, type GuardTerm, type Row, spell, type Table } from './table.ts';

/** Dotted paths of the active leaves, sorted. */
export type Configuration = readonly string[];

export interface Verdict {
  /** One per region at most; none means that the event is refused. */
  readonly fired: readonly Row[];
  readonly next: Configuration;
  /** Leaves of the guards that refuse, spelt as `whyRejected` spells them; empty where some row fired. */
  readonly refusals: readonly string[];
  /** Rows that were candidates, whether they fired or not. */
  readonly candidates: readonly Row[];
}

export interface Situation {
  readonly configuration: Configuration;
  readonly facts: Facts;
}

export function verdictOf(table: Table, situation: Situation, event: string): Verdict {
  const rows = rowsByEvent(table).get(event) ?? [];
  const fired = new Set<Row>();
  const candidates = new Set<Row>();
  for (const leaf of situation.configuration) {
    for (const node of pathsUp(leaf)) {
      const here = rows.filter((row) => row.from === node);
      for (const row of here) candidates.add(row);
      const first = here.find((row) => row.guards.every((term) => holds(table, situation, term)));
      if (first === undefined) continue;
      fired.add(first);
      break;
    }
  }
  const refusals =
    fired.size > 0 ? [] : [...candidates].flatMap((row) => refusalsOf(table, situation, { and: row.guards }));
  return {
    fired: [...fired],
    candidates: [...candidates],
    next: [...fired].reduce((at, row) => move(table, at, row), situation.configuration),
    refusals: [...new Set(refusals)].sort(),
  };
}

const eventIndexes = new WeakMap<Table, ReadonlyMap<string, readonly Row[]>>();

function rowsByEvent(table: Table): ReadonlyMap<string, readonly Row[]> {
  let index = eventIndexes.get(table);
  if (index === undefined) {
    const byEvent = new Map<string, Row[]>();
    for (const row of table.rows) byEvent.set(row.event, [...(byEvent.get(row.event) ?? []), row]);
    index = byEvent;
    eventIndexes.set(table, index);
  }
  return index;
}

const paths = new Map<string, readonly string[]>();

/** `a.b.c`, `a.b`, `a` and the root. */
export function pathsUp(leaf: string): readonly string[] {
  let found = paths.get(leaf);
  if (found === undefined) {
    const parts = leaf.split('.');
    found = [...parts.map((_, index) => parts.slice(0, parts.length - index).join('.')), ''];
    paths.set(leaf, found);
  }
  return found;
}

export const isWithin = (path: string, ancestor: string): boolean =>
  ancestor === '' || path === ancestor || path.startsWith(`${ancestor}.`);

export const isActive = (configuration: Configuration, path: string): boolean =>
  configuration.some((leaf) => isWithin(leaf, path));

export function holds(table: Table, situation: Situation, term: GuardTerm): boolean {
  if (typeof term === 'string') {
    const meaning = table.guards[term];
    if (meaning === undefined) throw new Error(`the table ${table.name} does not say what ${term} means`);
    return meaning(situation.facts);
  }
  if ('in' in term) return isActive(situation.configuration, term.in);
  if ('not' in term) return !holds(table, situation, term.not);
  if ('and' in term) return term.and.every((part) => holds(table, situation, part));
  return term.or.some((part) => holds(table, situation, part));
}

/** Leaves whose answer makes the whole term false; an `or` that has a true part refuses nothing. */
function refusalsOf(table: Table, situation: Situation, term: GuardTerm): string[] {
  if (holds(table, situation, term)) return [];
  if (typeof term === 'string' || 'in' in term) return [spell(term)];
  if ('not' in term) {
    const opposite = withoutNot(term.not);
    return opposite === undefined ? [spell(term)] : refusalsOf(table, situation, opposite);
  }
  return ('and' in term ? term.and : term.or).flatMap((part) => refusalsOf(table, situation, part));
}

/** De Morgan: what `not term` says with its negations moved to the leaves; undefined for a leaf. */
function withoutNot(term: GuardTerm): GuardTerm | undefined {
  if (typeof term === 'string' || 'in' in term) return undefined;
  if ('not' in term) return term.not;
  const negate = (part: GuardTerm): GuardTerm => ({ not: part });
  return 'and' in term ? { or: term.and.map(negate) } : { and: term.or.map(negate) };
}

function move(table: Table, from: Configuration, { to }: Row): Configuration {
  if (to === null) return from;
  const region = regionOf(table, to);
  return [...from.filter((leaf) => !isWithin(leaf, region)), ...descend(table, to)].sort();
}

/** In a parallel chart a transition replaces its own region and nothing else. */
const regionOf = (table: Table, path: string): string => (isParallel(table, '') ? (path.split('.')[0] ?? '') : '');

const isParallel = (table: Table, path: string): boolean => table.states[path]?.parallel === true;

/** Leaves that are entered when `path` is. */
export function descend(table: Table, path: string): string[] {
  const entry = table.states[path];
  if (isParallel(table, path)) return childrenOf(table, path).flatMap((childPath) => descend(table, childPath));
  return entry?.initial === undefined
    ? [path]
    : descend(table, path === '' ? entry.initial : `${path}.${entry.initial}`);
}

function childrenOf(table: Table, path: string): string[] {
  const depth = path === '' ? 1 : path.split('.').length + 1;
  return Object.keys(table.states).filter(
    (other) => other !== '' && isWithin(other, path) && other.split('.').length === depth,
  );
}
