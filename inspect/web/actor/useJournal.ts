/** The journal of an actor as far as it was read, growing at both ends. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ActorAnswer, type EventView, type JournalAnswer, routes } from '../../server/contract.ts';
import { ask, pathOf } from '../data/server.ts';

const pageLength = 200;

export interface Journal {
  /** Oldest first. */
  readonly events: readonly EventView[];
  readonly newestFirst: readonly EventView[];
  readonly older: (() => void) | undefined;
}

export function useJournal({ kind, id, journal }: ActorAnswer): Journal {
  const known = useRef(new Map<number, EventView>());
  const [before, setBefore] = useState<number | null>(journal.before);
  const [, setLoaded] = useState(0);
  for (const event of journal.events) known.current.set(event.position, event);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const older = async (position: number) => {
    const path = pathOf(routes.actorJournal, { kind, id }, { before: position, limit: pageLength });
    const page = await ask<JournalAnswer>(path, { signal: stop.current.signal });
    for (const event of page.events) known.current.set(event.position, event);
    setBefore(page.before);
    setLoaded((count) => count + page.events.length);
  };
  const events = [...known.current.values()].sort((a, b) => a.position - b.position);
  return {
    events,
    newestFirst: events.toReversed(),
    // A page that does not come is asked for again by the same button.
    older: before === null ? undefined : () => void older(before).catch(() => undefined),
  };
}
