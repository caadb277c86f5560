/** The messages that were read so far, and more of them at either end. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Message, type Party, routes, type SequenceAnswer } from '../../server/contract.ts';
import { ask, pathOf } from '../data/server.ts';
import { useChanges } from '../data/useChanges.ts';

const pageLength = 400;
/** Messages that are kept; the oldest are let go, and can be read again. */
const most = 20_000;

export interface SequenceFilter {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly goal?: string | undefined;
}

export interface Sequence {
  readonly parties: readonly Party[];
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly error: Error | undefined;
  readonly loaded: boolean;
  readonly earlier: (() => void) | undefined;
}

interface Held {
  readonly parties: ReadonlyMap<string, Party>;
  readonly messages: readonly Message[];
  readonly from: number;
  readonly to: number;
  readonly moreBefore: boolean;
}

export function useSequence({ kind, id, goal }: SequenceFilter): Sequence {
  const [held, setHeld] = useState<Held | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const current = useRef<Held | undefined>(undefined);
  const stop = useRef(new AbortController());
  const busy = useRef(false);
  /** Something was committed since the answer that is under way was asked for. */
  const stale = useRef(false);
  const load = useCallback(
    async (range: { after?: number; before?: number }) => {
      if (busy.current) return;
      busy.current = true;
      const { signal } = stop.current;
      try {
        let more = true;
        for (let next = range; more; next = { after: current.current!.to }) {
          stale.current = false;
          const path = pathOf(routes.sequence, {}, { ...next, limit: pageLength, kind, id, goal });
          const answer = await ask<SequenceAnswer>(path, { signal });
          current.current = merged(current.current, answer);
          more = (next.after !== undefined && answer.moreAfter) || stale.current;
        }
        setHeld(current.current);
        setError(undefined);
      } catch (failure) {
        if (!signal.aborted) setError(failure as Error);
      } finally {
        if (!signal.aborted) busy.current = false;
      }
    },
    [kind, id, goal],
  );
  useEffect(() => {
    stop.current = new AbortController();
    current.current = undefined;
    busy.current = false;
    setHeld(undefined);
    void load({});
    return () => stop.current.abort();
  }, [load]);
  const newer = useCallback(() => {
    stale.current = true;
    if (current.current !== undefined) void load({ after: current.current.to });
  }, [load]);
  useChanges(undefined, newer);
  return {
    parties: held === undefined ? [] : [...held.parties.values()],
    messages: held?.messages ?? [],
    error,
    loaded: held !== undefined,
    earlier: held?.moreBefore ? () => void load({ before: held.from }) : undefined,
  };
}

function merged(before: Held | undefined, answer: SequenceAnswer): Held {
  const messages = new Map([...(before?.messages ?? []), ...answer.messages].map((one) => [messageKey(one), one]));
  const sorted = [...messages.values()].sort((a, b) => a.position - b.position);
  const older = before === undefined || answer.from < before.from;
  return {
    parties: new Map([...(before?.parties ?? []), ...answer.parties.map((party) => [party.key, party] as const)]),
    messages: sorted.slice(-most),
    from: older ? answer.from : before.from,
    to: Math.max(before?.to ?? 0, answer.to),
    moreBefore: sorted.length > most || (older ? answer.moreBefore : before.moreBefore),
  };
}

export const messageKey = ({ position, to }: Message): string => `${position} ${to}`;
