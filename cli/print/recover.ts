/** The scheduling worker, and what stands in the way of its replacement. */
import type { RecoverView, WorkerView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import { scopeLines } from './processes.ts';
import { duration } from './quantity.ts';
import type { Style } from './style.ts';
import { type Cell, fields } from './table.ts';
import { spaced, stateInWords } from './words.ts';

/** `ticking, pid 4711`, `stalled for 40 s`, `none`. */
export function workerCell({ wanted, state, pid, tickAgeMs, recovery }: WorkerView, style: Style): Cell {
  if (state === 'none') return { text: 'none (no checks are configured)', paint: style.dim };
  // While one is replaced, the pid on record is that of its predecessor.
  const who = pid === null || (state === 'starting' && recovery.phase !== 'idle') ? '' : `, pid ${pid}`;
  const since = state === 'stalled' && tickAgeMs !== null ? ` for ${duration(tickAgeMs)}` : '';
  const phase = recovery.phase === 'idle' ? '' : `, recovery ${stateInWords(recovery.phase)}`;
  const paint = state === 'ticking' ? style.green : wanted ? style.yellow : style.dim;
  return { text: `${state}${since}${who}${phase}`, paint };
}

export function recoverLines({ worker, blockers, explanation }: RecoverView, style: Style): string[] {
  const { recovery } = worker;
  return [
    ...fields(
      [
        ['worker', workerCell(worker, style)],
        ['recovery', stateInWords(recovery.phase)],
        [
          recovery.phase === 'idle' ? 'last one because' : 'began because',
          recovery.reason === null ? undefined : spaced(recovery.reason),
        ],
        ['attempts', recovery.attempts === 0 ? undefined : recovery.attempts],
        ['next attempt', recovery.retryInMs === null ? undefined : `in ${duration(recovery.retryInMs)}`],
      ],
      style,
    ),
    line`${explanation}`,
    ...recovery.evidence.map(({ phase, reason, scopeIds }) =>
      style.dim(line`  ${stateInWords(phase)}: ${spaced(reason)} ${scopeIds.join(', ')}`),
    ),
    ...(blockers.length === 0 ? [] : scopeLines(blockers, style)),
  ];
}
