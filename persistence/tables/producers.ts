/** How far the notes of each producer were taken in, by stream: one life of its counter (machines/note.ts). */
import type { Connection } from '../connection.ts';

export interface ProducerProgress {
  readonly producer: string;
  readonly stream: string;
  /** The highest number that was taken in or is known to be lost; the next note has a higher one. */
  readonly taken: number;
  /** Numbers below `taken` whose notes never came. */
  readonly lost: number;
  readonly lastNoteWallMs: number;
}

export interface ProducersTable {
  /** Zeros for a stream that nothing was taken from. */
  progress(producer: string, stream: string): Pick<ProducerProgress, 'taken' | 'lost'>;
  /** Never goes back: a repeat of what was taken changes nothing. */
  advance(progress: ProducerProgress): void;
  list(): readonly ProducerProgress[];
}

export function createProducersTable(connection: Connection): ProducersTable {
  const progress = connection.prepare('SELECT taken, lost FROM producers WHERE producer = ? AND stream = ?');
  const advance = connection.prepare(`INSERT INTO producers (producer, stream, taken, lost, last_note_wall_ms)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (producer, stream) DO UPDATE SET taken = excluded.taken, lost = excluded.lost,
    last_note_wall_ms = excluded.last_note_wall_ms WHERE excluded.taken > producers.taken`);
  const list = connection.prepare(`SELECT producer, stream, taken, lost, last_note_wall_ms AS lastNoteWallMs
    FROM producers ORDER BY producer, last_note_wall_ms, stream`);

  return {
    progress: (producer, stream) =>
      (progress.get(producer, stream) as Pick<ProducerProgress, 'taken' | 'lost'> | undefined) ?? { taken: 0, lost: 0 },
    advance: ({ producer, stream, taken, lost, lastNoteWallMs }) =>
      void advance.run(producer, stream, taken, lost, lastNoteWallMs),
    list: () => list.all() as ProducerProgress[],
  };
}
