/** How far the notes of each producer were taken in, by stream: one life of its counter (machines/note.ts). */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';

export interface ProducerProgress {
  readonly producer: string;
  readonly stream: string;
  /** The highest number that was taken in or is known to be lost; the next note has a higher one. */
  readonly taken: number;
  /** Numbers below `taken` whose notes never came. */
  readonly lost: number;
  readonly lastNoteWallMs: number;
}

/** A damaged row throws StoreError `store_corrupt`: notes below a wrong number would be taken for taken, and removed. */
export interface ProducersTable {
  /** Zeros for a stream that nothing was taken from. */
  progress(producer: string, stream: string): Omit<ProducerProgress, 'producer' | 'stream'>;
  /** Never goes back: a repeat of what was taken changes nothing. */
  advance(progress: ProducerProgress): void;
  list(): readonly ProducerProgress[];
}

type Row = ProducerProgress & { readonly digest: string };

const digestOf = ({ producer, stream, taken, lost, lastNoteWallMs }: ProducerProgress): string =>
  rowDigest(producer, stream, taken, lost, lastNoteWallMs);

function intact({ digest, ...row }: Row): ProducerProgress {
  if (digest !== digestOf(row)) throw damagedRow(`progress of ${row.producer}`);
  return row;
}

export function createProducersTable(connection: Connection): ProducersTable {
  const from = `SELECT producer, stream, taken, lost, last_note_wall_ms AS lastNoteWallMs, digest FROM producers`;
  const progress = connection.prepare(`${from} WHERE producer = ? AND stream = ?`);
  const advance = connection.prepare(`INSERT INTO producers (producer, stream, taken, lost, last_note_wall_ms, digest)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (producer, stream) DO UPDATE SET taken = excluded.taken, lost = excluded.lost,
    last_note_wall_ms = excluded.last_note_wall_ms, digest = excluded.digest WHERE excluded.taken > producers.taken`);
  const list = connection.prepare(`${from} ORDER BY producer, last_note_wall_ms, stream`);

  return {
    progress(producer, stream) {
      const row = progress.get(producer, stream) as Row | undefined;
      const { taken, lost, lastNoteWallMs } =
        row === undefined ? { taken: 0, lost: 0, lastNoteWallMs: 0 } : intact(row);
      return { taken, lost, lastNoteWallMs };
    },
    advance(row) {
      const { producer, stream, taken, lost, lastNoteWallMs } = row;
      advance.run(producer, stream, taken, lost, lastNoteWallMs, digestOf(row));
    },
    list: () => (list.all() as Row[]).map(intact),
  };
}
