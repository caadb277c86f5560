/** Reading records: who of which kind is there, and where they stand. */
import type { AnyMachineSnapshot } from 'xstate';
import type { SnapshotOf } from '../../actors/runtime/actorAccess.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { RunSnapshot } from '../../machines/run.ts';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import type { Delivery, Records, Step } from './model.ts';

export type Kind = keyof SnapshotOf;

type Found = ReadonlyArray<readonly [string, AnyMachineSnapshot]>;
const found = new WeakMap<Records, Partial<Record<Kind, Found>>>();

/** Every actor of a kind that exists, with its id. */
export function all<K extends Kind>(records: Records, kind: K): ReadonlyArray<readonly [string, SnapshotOf[K]]> {
  let kinds = found.get(records);
  if (kinds === undefined) {
    kinds = {};
    found.set(records, kinds);
  }
  kinds[kind] ??= Object.entries(records.actors).filter(
    (entry): entry is [string, AnyMachineSnapshot] => entry[1]?.machine.id === kind,
  );
  return kinds[kind] as unknown as ReadonlyArray<readonly [string, SnapshotOf[K]]>;
}

/** The actor of that id, or null before it exists. */
export function one<K extends Kind>(records: Records, _kind: K, id: string): SnapshotOf[K] | null {
  return (records.actors[id] ?? null) as SnapshotOf[K] | null;
}

/** Whether none of those that a step has changed is told otherwise. */
export function each<K extends Kind>(
  { before, after }: Pick<Step, 'before' | 'after'>,
  kind: K,
  keeps: (before: SnapshotOf[K], after: SnapshotOf[K]) => boolean,
): boolean {
  for (const [id, was] of all(before, kind)) {
    const is = after.actors[id] as SnapshotOf[K];
    if (is !== was && !keeps(was, is)) return false;
  }
  return true;
}

export const every = <K extends Kind>(
  records: Records,
  kind: K,
  holds: (snapshot: SnapshotOf[K]) => boolean,
): boolean => all(records, kind).every(([, snapshot]) => holds(snapshot));

/** Deliveries of a step that an actor took, of one type or of any that begins so. */
export const taken = ({ deliveries }: Step, type: string): readonly Delivery[] =>
  deliveries.filter(
    ({ event, outcome }) =>
      (outcome === 'changed' || outcome === 'noop') &&
      (event.type === type || (type.endsWith('.') && event.type.startsWith(type))),
  );

export const changedBy = (step: Step, type: string): readonly Delivery[] =>
  taken(step, type).filter(({ outcome }) => outcome === 'changed');

const pathOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value as Record<string, unknown>)
        .map(([key, inner]) => `${key}.${pathOf(inner)}`)
        .join('|');

const paths = new WeakMap<AnyMachineSnapshot, Record<string, string>>();

/** The state of one region, dotted: `unverified.gap`. */
export function regionOf(snapshot: AnyMachineSnapshot, region: string): string {
  let known = paths.get(snapshot);
  if (known === undefined) {
    known = {};
    paths.set(snapshot, known);
  }
  known[region] ??= pathOf((snapshot.value as Readonly<Record<string, unknown>>)[region]);
  return known[region];
}

/** The whole state value as one text, the same for the same states. */
export const stateOf = (snapshot: AnyMachineSnapshot): string =>
  typeof snapshot.value === 'string'
    ? snapshot.value
    : Object.keys(snapshot.value as object)
        .sort()
        .map((region) => `${region}=${regionOf(snapshot, region)}`)
        .join(' ');

export const coverageOf = (scope: ScopeSnapshot): string => regionOf(scope, 'coverage');
export const terminationOf = (scope: ScopeSnapshot): string => regionOf(scope, 'termination');
export const isProved = (scope: ScopeSnapshot): boolean => coverageOf(scope) === 'exitedProved';
export const isNeverLaunched = (scope: ScopeSnapshot): boolean => coverageOf(scope) === 'neverLaunched';
export const isOver = (scope: ScopeSnapshot): boolean => isProved(scope) || isNeverLaunched(scope);
export const isGap = (scope: ScopeSnapshot): boolean => coverageOf(scope) === 'unverified.gap';
export const isUnverified = (scope: ScopeSnapshot): boolean => coverageOf(scope).startsWith('unverified');
export const isBeforeRelease = (scope: ScopeSnapshot): boolean =>
  ['requested', 'launching', 'gated'].includes(coverageOf(scope));
export const isGuardianLost = ({ context }: ScopeSnapshot): boolean =>
  context.guardianLast?.result === 'absent' || context.gaps.includes('guardian_gone');

export const lifecycleOf = (snapshot: RunSnapshot | GenerationSnapshot): string => regionOf(snapshot, 'lifecycle');
export const isReserved = (run: RunSnapshot): boolean => lifecycleOf(run).startsWith('reserved');
export const isBound = (run: RunSnapshot): boolean => lifecycleOf(run) === 'bound';
export const isEnded = (run: RunSnapshot): boolean => lifecycleOf(run) === 'ended';
export const isCancelled = (run: RunSnapshot): boolean => lifecycleOf(run) === 'cancelled';
