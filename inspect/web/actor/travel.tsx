/** Time travel: where one stands in the journal of an actor, and how to move. */

import type { EventView, Reach } from '../../server/contract.ts';
import { ago, dateTime } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';

export interface TravelBarProps {
  /** Loaded events of the actor, oldest first. */
  readonly events: readonly EventView[];
  /** Position that is shown. */
  readonly at: number;
  readonly past: boolean;
  readonly reach: Reach;
  readonly to: (position: number | undefined) => void;
  readonly step: (by: -1 | 1) => void;
}

export function TravelBar({ events, at, past, reach, to, step }: TravelBarProps) {
  const index = indexAt(events, at);
  const event = events[index];
  const newest = events.length - 1;
  return (
    <div class="travel" data-past={past}>
      <button type="button" onClick={() => step(-1)} disabled={at <= (reach.from ?? at)} aria-label="One event back">
        ◀
      </button>
      <input
        type="range"
        min={0}
        max={Math.max(0, newest)}
        value={index}
        disabled={newest <= 0}
        aria-label="Position in the journal of this actor"
        aria-valuetext={event === undefined ? '' : `${event.type}, position ${event.position}`}
        onInput={({ currentTarget }) => {
          const chosen = Number(currentTarget.value);
          to(chosen === newest ? undefined : events[chosen]?.position);
        }}
      />
      <button type="button" onClick={() => step(1)} disabled={!past} aria-label="One event forward">
        ▶
      </button>
      <button type="button" onClick={() => to(undefined)} disabled={!past}>
        Now
      </button>
      <span class="travel-words">
        {event === undefined ? '' : `${index + 1} of ${events.length}`}
        {reach.missing > 0 && (
          <span class="faint" title={visible(reach.sentence)}>
            , {reach.missing} more are no longer kept
          </span>
        )}
      </span>
    </div>
  );
}

interface PastSignProps {
  readonly event: EventView | undefined;
  readonly position: number;
  readonly newer: number;
  readonly back: () => void;
}

export function PastSign({ event, position, newer, back }: PastSignProps) {
  const when = event === undefined ? '' : ` of ${dateTime(event.wallMs)} (${ago(event.wallMs, Date.now())})`;
  return (
    <div class="past-sign" role="status" data-past-position={position}>
      <span aria-hidden="true">⟲</span>
      <strong>You look at the past:</strong>
      <span>{`position ${position}${when}${newer === 0 ? '' : `, ${newer} newer`}`}</span>
      <button type="button" class="small" onClick={back}>
        Back to now (Esc)
      </button>
    </div>
  );
}

/** The last event at or before a position; 0 before the first. */
function indexAt(events: readonly EventView[], at: number): number {
  return Math.max(
    0,
    events.findLastIndex(({ position }) => position <= at),
  );
}
