/** Where a chart stands, in the words of lists: leaf paths, ids of states, and what the chart says of the states that wait. */
import type { AnyStateMachine } from 'xstate';
import type { ActorKind } from '../../../machines/ids.ts';
import { descriptionsAt } from '../../explain/states.ts';

/** `lifecycle.reserved.unresolved`, one for each region. */
export function leafPaths(value: unknown, prefix = ''): string[] {
  if (typeof value === 'string') return [prefix + value];
  return Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([key, below]) =>
    leafPaths(below, `${prefix}${key}.`),
  );
}

/** Ids of all active states, parents included, as charts call them: `run.lifecycle.reserved`. */
export function activeIds(machine: AnyStateMachine, value: unknown): string[] {
  const ids = new Set<string>([machine.id]);
  for (const path of leafPaths(value)) {
    const keys = path.split('.');
    for (let depth = 1; depth <= keys.length; depth += 1) ids.add([machine.id, ...keys.slice(0, depth)].join('.'));
  }
  return [...ids];
}

/** What the chart says of the state that matters; null where it says nothing. */
export const waitOf = (kind: ActorKind, paths: readonly string[]): string | null =>
  descriptionsAt(kind, paths)[0] ?? null;
