import type { AnyMachineSnapshot } from 'xstate';

/** What a snapshot says and how it answers, without the functions that all of them share. */
export const contentOf = ({ status, value, context, tags, children, historyValue, _nodes }: AnyMachineSnapshot) => ({
  status,
  value,
  context,
  tags: [...tags].sort(),
  children,
  historyValue,
  nodes: _nodes.map(({ id }: { id: string }) => id).sort(),
});
