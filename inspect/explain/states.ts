/**
 * Where an actor stands: a path for each region of its chart, and what the chart says of it. Every region is always in some
 * state, and most of them have nothing to add to the first one, which is the life that the chart is named for.
 */
import type { AnyMachineSnapshot, AnyStateNode } from 'xstate';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';

/** `lifecycle.bound`, `coverage.unverified.gap`: one for each region, in document order. */
export const statePaths = (snapshot: AnyMachineSnapshot): readonly string[] =>
  leavesIn(snapshot).map(({ path }) => path.join('.'));

/** States and regions that have nothing to add: nothing has happened there, or facts and waits of the actor say it better. */
export const quietStates: Readonly<Record<ActorKind, readonly string[]>> = {
  goal: ['integration.idle', 'convergence.converged'],
  run: ['exitReport'],
  worktreeGeneration: ['authority.managed'],
  executionScope: ['workload.notReleased', 'termination'],
  ptySession: ['capture.capturing', 'capture.draining', 'capture.unrecorded', 'capture.incomplete', 'scope.unsettled'],
  workerIncarnation: [],
  recoveryFence: [],
};

/** Beside these no other region matters any more: what it says of a life that goes on is no longer so. */
export const lastStates: Readonly<Partial<Record<ActorKind, readonly string[]>>> = {
  goal: ['workflow.done', 'workflow.cancelled'],
  worktreeGeneration: ['lifecycle.quarantined', 'lifecycle.retired'],
  executionScope: ['coverage.exitedProved', 'coverage.neverLaunched'],
};

/** What the chart says of these states, the first region first; `paths` in any order, as stored rows have them. */
export function descriptionsAt(kind: ActorKind, paths: readonly string[]): readonly string[] {
  const nodes = paths
    .map((path) => nodeAt(kind, path))
    .filter((node) => node !== undefined)
    .sort((one, other) => one.order - other.order);
  const [first, ...others] = nodes;
  if (first === undefined) return [];
  const isLast = lastStates[kind]?.includes(first.path.join('.')) ?? false;
  const told = isLast ? [first] : [first, ...others.filter((node) => !isQuiet(kind, node))];
  return told.flatMap((node) => descriptionOf(node) ?? []);
}

const isQuiet = (kind: ActorKind, { path }: AnyStateNode): boolean =>
  path.some((_, depth) => quietStates[kind].includes(path.slice(0, depth + 1).join('.')));

function nodeAt(kind: ActorKind, path: string): AnyStateNode | undefined {
  let node: AnyStateNode | undefined = definitions[kind].machine.root;
  for (const key of path.split('.')) node = node && (node.states as Record<string, AnyStateNode>)[key];
  return node;
}

function leavesIn(snapshot: AnyMachineSnapshot): readonly AnyStateNode[] {
  const nodes = snapshot._nodes as readonly AnyStateNode[];
  return [...nodes].filter(({ type }) => type === 'atomic' || type === 'final').sort((a, b) => a.order - b.order);
}

/** Of the innermost state that has a description, or of the state around it. */
function descriptionOf(node: AnyStateNode): string | undefined {
  return node.description ?? (node.parent && descriptionOf(node.parent));
}
