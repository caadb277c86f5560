/** The journal of an actor as far as it was read, growing at both ends. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ActorAnswer, type EventView, type JournalAnswer, routes } from '../../server/contract.ts';
import { ask, pathOf } from '../data/server.ts';
import { type HeldJournal, withNewest, withOlder } from './heldJournal.ts';

const pageLength = 200;

export interface Journal {
  /** Oldest first. */
  readonly events: readonly EventView[];
  readonly newestFirst: readonly EventView[];
  readonly older: (() => void) | undefined;
}

export function useJournal({ kind, id, journal }: ActorAnswer): Journal {
  const held = useRef<HeldJournal | undefined>(undefined);
  const taken = useRef<JournalAnswer | undefined>(undefined);
  const [, setLoaded] = useState(0);
  if (taken.current !== journal) held.current = withNewest(held.current, journal);
  taken.current = journal;
  const { events: known, before } = held.current!;
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const older = async (position: number) => {
    const path = pathOf(routes.actorJournal, { kind, id }, { before: position, limit: pageLength });
    const page = await ask<JournalAnswer>(path, { signal: stop.current.signal });
    // Asked for at another end meanwhile.
    if (held.current?.before !== position) return;
    held.current = withOlder(held.current, page);
    setLoaded((count) => count + 1);
  };
  const events = [...known.values()].sort((a, b) => a.position - b.position);
  return {
    events,
    newestFirst: events.toReversed(),
    // A page that does not come is asked for again by the same button.
    older: before === null ? undefined : () => void older(before).catch(() => undefined),
  };
}
