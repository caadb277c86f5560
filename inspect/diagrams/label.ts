/** What is written at a transition and inside of a state, with the room that it takes. */
import type { ChartState, ChartTransition } from './chart.ts';
import { type Font, widthOf, wrap } from './text.ts';

export type Role = 'title' | 'event' | 'guard' | 'action' | 'tag';

export interface Line {
  readonly text: string;
  readonly role: Role;
}

export interface Written {
  readonly lines: readonly Line[];
  /** px */
  readonly width: number;
  /** px */
  readonly height: number;
}

export const fonts: Readonly<Record<Role, Font>> = {
  title: { size: 14, bold: true },
  event: { size: 12, bold: true },
  guard: { size: 11 },
  action: { size: 11 },
  tag: { size: 10 },
};

/** Distance between base lines, px. */
export const lineHeight: Readonly<Record<Role, number>> = { title: 20, event: 16, guard: 14, action: 14, tag: 14 };

/** Widest line of a label, px. */
const labelWidth = 190;
/** What a transition that stays is written in, inside of its state, px. */
const stayingWidth = 260;

/** XState's own events under the names that people know them by. */
export function nameOfEvent(event: string): string {
  if (event === '') return 'always';
  const after = /^xstate\.after\.(\d+)\./.exec(event);
  if (after) return `after ${after[1]} ms`;
  const done = /^xstate\.(done|error)\.(?:state|actor)\.(.*)$/.exec(event);
  return done ? `${done[1]}: ${done[2]}` : event;
}

export function labelOf(transition: ChartTransition): Written {
  return written(linesOf(transition, labelWidth));
}

function linesOf({ event, guard, actions }: ChartTransition, width: number): Line[] {
  return [
    ...wrap(nameOfEvent(event), fonts.event, width).map((text) => ({ text, role: 'event' as const })),
    ...(guard === null ? [] : wrap(`[${guard}]`, fonts.guard, width).map((text) => ({ text, role: 'guard' as const }))),
    ...(actions.length === 0
      ? []
      : wrap(`/ ${actions.join(', ')}`, fonts.action, width).map((text) => ({ text, role: 'action' as const }))),
  ];
}

/** Title, tags, and what is done on the way in and out. */
export function headingOf(state: ChartState): Written {
  const done = [...state.entry.map((name) => `entry / ${name}`), ...state.exit.map((name) => `exit / ${name}`)];
  return written([
    { text: state.key, role: 'title' },
    ...state.tags.map((text) => ({ text: `#${text}`, role: 'tag' as const })),
    ...done
      .flatMap((text) => wrap(text, fonts.action, stayingWidth))
      .map((text) => ({ text, role: 'action' as const })),
  ]);
}

export const stayingLabelOf = (transition: ChartTransition): Written => written(linesOf(transition, stayingWidth));

function written(lines: readonly Line[]): Written {
  return {
    lines,
    width: Math.ceil(Math.max(...lines.map(({ text, role }) => widthOf(text, fonts[role])))) + 4,
    height: lines.reduce((sum, { role }) => sum + lineHeight[role], 0) + 2,
  };
}
