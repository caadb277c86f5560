/** Journal entries, one a line. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { EventView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

export function eventLines({ events, nextPosition }: CallResults['events'], style: Style): string[] {
  const rows = events.map((event) => [
    event.position,
    { text: time(event), paint: style.dim },
    event.actor.id,
    event.type,
    outcome(event, style),
    `by ${event.producer.kind} ${event.producer.id}`,
  ]);
  return [
    ...table({ heading: ['position', 'time', 'actor', 'event', 'outcome', ''], rows, empty: 'no events', style }),
    ...(events.length > 0 ? [style.dim(`more: custody events --since ${nextPosition}`)] : []),
  ];
}

/** For streams, where no later line can widen a column. */
export function eventLine(event: EventView, style: Style): string {
  const { text, paint } = outcome(event, style);
  return [
    String(event.position).padStart(6),
    style.dim(time(event)),
    line`${event.actor.id.padEnd(11)}`,
    line`${event.type}`,
    paint(line`${text}`),
  ].join('  ');
}

const time = ({ wallMs }: EventView): string => new Date(wallMs).toISOString();

const outcome = ({ outcome: text }: EventView, style: Style) => ({
  text,
  paint: text === 'rejected' ? style.yellow : style.dim,
});
