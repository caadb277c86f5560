/** Whether XState would do anything besides going from states to states; where not, the states alone can be learned. */
import type { AnyMachineSnapshot, AnyStateNode } from 'xstate';

export const nodesOf = ({ _nodes }: AnyMachineSnapshot): readonly AnyStateNode[] => _nodes;

/** Nothing is done on the way in, nothing runs there, and nothing ends with it. */
export const isEnteredSilently = (node: AnyStateNode): boolean =>
  node.entry.length === 0 &&
  node.invoke.length === 0 &&
  (node.initial?.actions?.length ?? 0) === 0 &&
  node.type !== 'final';

/** It has started nobody, and remembers no states that it was in before. */
export const standsAlone = ({ children, historyValue }: AnyMachineSnapshot): boolean =>
  Object.keys(children).length === 0 && Object.keys(historyValue).length === 0;
