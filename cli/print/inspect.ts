/** Where the inspector can be looked at. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { line } from './escape.ts';
import { duration } from './quantity.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';

export function inspectLines(opened: CallResults['inspect.open'], style: Style): string[] {
  const { url, inspectionUrl, expiresMs, control } = opened;
  return [
    line`${url}`,
    ...fields(
      [
        ['counts', `once, within ${duration(expiresMs)}`],
        ['may', control ? 'look, stop runs, cancel Goals, close worktrees' : 'look (--control to change something)'],
        ['protocol', inspectionUrl],
      ],
      style,
    ),
  ];
}

export const closedLines = ({ closed }: CallResults['inspect.close']): string[] => [
  closed ? 'the inspector is closed' : 'the inspector was not open',
];
