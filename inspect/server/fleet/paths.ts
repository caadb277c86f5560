/** Where a chart stands, in the words of lists: leaf paths, ids of states, and what the chart says of the states that wait. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';

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

const described = new Map<ActorKind, ReadonlyMap<string, string>>();

/** What the chart says of the first of these states that it describes and that does not end there; null for none. */
export function waitOf(kind: ActorKind, paths: readonly string[]): string | null {
  let known = described.get(kind);
  if (known === undefined) {
    known = new Map(waiting(definitions[kind].machine.root));
    described.set(kind, known);
  }
  for (const path of paths) {
    const words = known.get(path);
    if (words !== undefined) return words;
  }
  return null;
}

function waiting(node: AnyStateNode): [string, string][] {
  const below = Object.values(node.states).flatMap(waiting);
  const leads = node.ownEvents.length > 0 && node.type !== 'final';
  return leads && node.description !== undefined ? [[node.path.join('.'), node.description], ...below] : below;
}
