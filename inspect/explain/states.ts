/** Where a snapshot stands: a path for each region, and what the chart itself says of the states. */
import type { AnyMachineSnapshot, AnyStateNode } from 'xstate';

/** `lifecycle.bound`, `coverage.unverified.gap`: one for each region, in document order. */
export const statePaths = (snapshot: AnyMachineSnapshot): readonly string[] =>
  leavesIn(snapshot).map(({ path }) => path.join('.'));

/** The descriptions of the innermost active states that have one, or of the state around. */
export const descriptionsOf = (snapshot: AnyMachineSnapshot): readonly string[] =>
  leavesIn(snapshot).flatMap((node) => descriptionOf(node) ?? []);

function leavesIn(snapshot: AnyMachineSnapshot): readonly AnyStateNode[] {
  const nodes = snapshot._nodes as readonly AnyStateNode[];
  return [...nodes].filter(({ type }) => type === 'atomic' || type === 'final').sort((a, b) => a.order - b.order);
}

function descriptionOf(node: AnyStateNode): string | undefined {
  return node.description ?? (node.parent && descriptionOf(node.parent));
}
