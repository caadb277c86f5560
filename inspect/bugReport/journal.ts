/** The newest entries of the journal and the states of what is not settled, without anything that somebody wrote. */
import type { HostedEnvelope } from '../../actors/host/outcome.ts';
import { sha256 } from '../../machines/canonical.ts';
import { actorKinds } from '../../machines/ids.ts';
import type { StoreReader } from '../../persistence/reading.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';
import { allowed } from './redaction.ts';

const entriesAtMost = 1_000;
const actorsAtMost = 2_000;

/** One line of JSON each, oldest first. */
export const journalLines = ({ journal }: Pick<StoreReader, 'journal'>): readonly string[] =>
  journal
    .page({ newestFirst: true, limit: entriesAtMost })
    .toReversed()
    .map((entry) => JSON.stringify(lineOf(entry)));

/** Ids of events may hold a request id, which somebody chose; a digest still tells a repeat. */
function lineOf(entry: JournalEntry): unknown {
  const { position, actor } = entry;
  if (!entry.intact) return { position, actor: allowed(actor), damaged: true };
  const { type, outcome, version, eventId } = entry;
  const { at, payload } = entry.envelope as HostedEnvelope;
  // A reason that whoever runs in the session has chosen is no word of this program.
  const { reasonCode, ...rest } = payload;
  const kept = allowed(type === 'session.inputNeeded' ? rest : payload);
  const event = sha256(eventId).slice(0, 16);
  return { position, at, type, actor: allowed(actor), outcome, version, event, payload: kept };
}

/** How many there are of each kind, and where those stand that are not over. */
export function actorsOf({ actors }: Pick<StoreReader, 'actors'>): unknown {
  const counts = actorKinds.map((kind) => ({
    kind,
    all: actors.count(kind),
    open: actors.count(kind, { settled: false }),
  }));
  const open = actorKinds.flatMap((kind) =>
    actors
      .list(kind, { settled: false, newestFirst: true, limit: Math.floor(actorsAtMost / actorKinds.length) })
      .map(({ id }) => standing({ actors }, kind, id)),
  );
  return { counts, open };
}

function standing({ actors }: Pick<StoreReader, 'actors'>, kind: string, id: string): unknown {
  const [row] = actors.readMany(kind, [id]);
  if (row?.intact !== true) return { kind, id: allowed(id), damaged: true };
  const { value } = JSON.parse(row.snapshot) as { readonly value: unknown };
  return {
    kind,
    id: allowed(id),
    version: row.version,
    definitionVersion: row.definitionVersion,
    state: allowed(value, 'state'),
  };
}
