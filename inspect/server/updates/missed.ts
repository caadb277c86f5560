/** What somebody who comes back has missed, out of the journal: what it does not tell any more is named as a gap. */
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import type { ActorRow, Message, UpdateMessage } from '../contract.ts';
import { type Fleet, keyOf } from '../fleet/fleet.ts';
import { messageOf, Positions } from './messages.ts';

/** Whoever has missed more loads the view anew, which is less. */
const mostMissed = 1_000;

export interface Missing {
  readonly daemon: Pick<InspectedDaemon, 'store'>;
  readonly fleet: Fleet;
  readonly after: number;
  readonly position: number;
}

/** Undefined where there is too much of it, where rows are gone, or where `after` is not of this journal. */
export function missedSince({ daemon, fleet, after, position }: Missing): UpdateMessage | undefined {
  if (position - after > mostMissed || !fleet.isComplete) return undefined;
  const entries = daemon.store.journal.page({ after, limit: mostMissed });
  // Positions are consecutive: fewer rows than positions are rows that a checkpoint took away, or that never were.
  if (entries.length !== position - after) return undefined;
  const positions = new Positions(mostMissed);
  const messages = entries.flatMap((entry): Message[] => {
    if (!entry.intact) return [];
    const envelope = entry.envelope as HostedEnvelope;
    positions.note(entry.eventId, keyOf(entry.actor), entry.position);
    const journaled = { position: entry.position, envelope, outcome: entry.outcome, state: null };
    return [messageOf(journaled, (id, source) => positions.of(id, source))];
  });
  // How a run ended stands in its scope.
  const isNew = ({ position: newest, scopeId }: ActorRow): boolean =>
    newest > after || (scopeId !== null && (fleet.row('executionScope', scopeId)?.position ?? 0) > after);
  const actors = [...fleet.rows].filter(isNew);
  return { type: 'committed', position, actors, messages, skipped: entries.length - messages.length };
}
