/** What a page has read of the journal of an actor. */
import type { EventView, JournalAnswer } from '../../server/contract.ts';

/** Events in one piece: between any two of them there is none of this actor that is not here. */
export interface HeldJournal {
  readonly events: ReadonlyMap<number, EventView>;
  /** Where older ones are asked for; null where there are none. */
  readonly before: number | null;
}

/** With the newest events. Where more was committed than these, what was read before lies beyond a hole, and is let go. */
export function withNewest(held: HeldJournal | undefined, { events, before }: JournalAnswer): HeldJournal {
  const oldest = events.at(-1)?.position;
  const isJoined = before === null || (oldest !== undefined && held?.events.has(oldest) === true);
  if (held === undefined || !isJoined) return { events: mapOf(events), before };
  return { events: new Map([...held.events, ...mapOf(events)]), before: before === null ? null : held.before };
}

export const withOlder = (held: HeldJournal, { events, before }: JournalAnswer): HeldJournal => ({
  events: new Map([...mapOf(events), ...held.events]),
  before,
});

const mapOf = (events: readonly EventView[]) => new Map(events.map((event) => [event.position, event]));
