/** The daemon as seen from outside. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';

export interface DaemonState {
  readonly running: boolean;
  /** Whether this very command started it. */
  readonly started: boolean;
  readonly pid: number;
  readonly version: string;
  readonly startNumber: number;
  readonly stateDir: string;
  readonly socket: string;
}

export function daemonLines(state: DaemonState, style: Style): string[] {
  return fields(
    [
      ['daemon', { text: state.started ? 'started' : 'running', paint: style.green }],
      ['pid', state.pid],
      ['version', state.version],
      ['start', `number ${state.startNumber}`],
      ['state', state.stateDir],
      ['socket', state.socket],
    ],
    style,
  );
}

export function stopLines(result: CallResults['daemon.stop'], style: Style): string[] {
  return [result.stopped ? 'daemon stopped' : style.yellow('daemon not stopped'), ...named(result, style)];
}

export function drainLines(result: CallResults['drain'], style: Style): string[] {
  const lines = named(result, style);
  return lines.length === 0 ? ['there was nothing to drain'] : lines;
}

function named({ settled, unverified, blocked, assumed = [] }: CallResults['drain'], style: Style): string[] {
  return [
    ...(settled.length > 0 ? [line`proved: ${settled.join(' ')}`] : []),
    ...(unverified.length > 0 ? [style.yellow(line`ended, not proved: ${unverified.join(' ')}`)] : []),
    ...(assumed.length > 0 ? [style.yellow(line`assumed to be gone, not proved: ${assumed.join(' ')}`)] : []),
    ...(blocked.length > 0 ? [style.red(line`blocked by: ${blocked.join(' ')}`)] : []),
  ];
}
