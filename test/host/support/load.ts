/**
 * The load of the kill loop. An event id says everything about its event, so that who finds it in a journal can tell
 * what must have come of it.
 */
import type { Draft } from '../../../actors/host/outcome.ts';
import { seeded } from './random.ts';

export const ledgers = ['L0', 'L1', 'L2', 'L3'] as const;
const producer = { kind: 'load', id: 'load' };

/** Amounts above 100 are refused by the chart. */
export function amountOf(eventId: string): number {
  let sum = 7;
  for (const char of eventId) sum = (sum * 31 + char.charCodeAt(0)) % 1_009;
  return sum % 107;
}

export const ledgerOf = (eventId: string): string => ledgers[amountOf(`${eventId}?`) % ledgers.length] as string;

export const opening = (ledgerId: string): Draft => ({
  type: 'ledger.opened',
  actor: { kind: 'goal', id: ledgerId },
  producer,
  payload: { ledgerId },
});

/** Some events are passed on to every other ledger, under the same id. */
export function eventFor(eventId: string): Draft {
  const ledgerId = ledgerOf(eventId);
  const amount = amountOf(eventId);
  const isPassed = amount % 5 === 0 && amount <= 100;
  return {
    type: isPassed ? 'ledger.passed' : 'ledger.added',
    actor: { kind: 'goal', id: ledgerId },
    producer,
    eventId,
    payload: isPassed ? { amount, to: ledgers.filter((other) => other !== ledgerId) } : { amount },
  };
}

/** Calls of one to four events, now and then with an id that was used before. */
export function callsOf(round: string, seed: number): () => string[] {
  const random = seeded(seed);
  let next = 0;
  const fresh = () => {
    next += 1;
    return `${round}:${next}`;
  };
  return () => {
    const ids = Array.from({ length: 1 + random(4) }, fresh);
    if (next > 5 && random(4) === 0) ids.push(`${round}:${1 + random(next - 1)}`);
    return ids;
  };
}
