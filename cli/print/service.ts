/** The daemon as a service of its user. */
import type { Style } from './style.ts';
import { fields } from './table.ts';

export interface ServiceState {
  readonly unitFile: string;
  readonly state: 'none' | 'ours' | 'foreign';
  /** In the words of the service manager; `unknown` where it cannot be asked. */
  readonly active: string;
  readonly enabled: string;
  /** Of the daemon that it has started and that serves. */
  readonly pid: number | null;
}

const states = { none: 'not installed', ours: 'installed', foreign: 'not ours' } as const;

export function serviceLines({ unitFile, state, active, enabled, pid }: ServiceState, style: Style): string[] {
  return fields(
    [
      ['service', { text: states[state], paint: state === 'foreign' ? style.yellow : (text) => text }],
      ['unit', unitFile],
      ['active', active],
      ['enabled', enabled],
      ['daemon', pid === null ? 'none of it serves' : `pid ${pid}`],
    ],
    style,
  );
}
