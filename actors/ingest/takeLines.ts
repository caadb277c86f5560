/** Takes in notes that somebody kept as lines (`observe ingest`), in batches, and finds out what is missing among them. */
import type { Note } from '../../machines/note.ts';
import type { StreamName } from './coverage.ts';
import type { NoteOutcome } from './intake.ts';
import { Ledger } from './ledger.ts';
import { type BadLine, type NoteLine, noteLines } from './lines.ts';
import type { NoteSink } from './sink.ts';

export interface Refusal {
  readonly line: number;
  readonly reason: string;
}

export interface LinesReport {
  readonly counts: Readonly<Record<NoteOutcome['outcome'] | 'invalid', number>>;
  /** The first ones. */
  readonly refusals: readonly Refusal[];
  /** Notes that are missing below one that is there. */
  readonly lost: number;
}

/** Notes that share a commit. */
const batchSize = 100;
const refusalsAtMost = 100;

/** Rejects with StoreError when the store took no more; what was counted before is committed, and may be sent again. */
export async function takeLines(sink: NoteSink, chunks: AsyncIterable<Buffer>): Promise<LinesReport> {
  const taking = new Taking(sink);
  for await (const line of noteLines(chunks)) await taking.add(line);
  return taking.end();
}

class Taking {
  readonly #sink: NoteSink;
  readonly #counts = { changed: 0, noop: 0, duplicate: 0, rejected: 0, invalid: 0 };
  readonly #refusals: Refusal[] = [];
  readonly #streams = new Map<string, Stream>();
  #batch: { readonly line: number; readonly note: Note }[] = [];

  constructor(sink: NoteSink) {
    this.#sink = sink;
  }

  async add(line: NoteLine): Promise<void> {
    if (!('note' in line)) {
      this.#refuse('invalid', line);
      return;
    }
    this.#batch.push(line);
    if (this.#batch.length >= batchSize) await this.#flush();
  }

  async end(): Promise<LinesReport> {
    await this.#flush();
    let lost = 0;
    for (const { name, ledger, lastNoteWallMs } of this.#streams.values())
      lost += await this.#sink.account({ ...name, ...ledger.account(), lastNoteWallMs });
    return { counts: this.#counts, refusals: this.#refusals, lost };
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    const outcomes = await this.#sink.take(batch.map(({ note }) => note));
    for (const [at, { outcome, reason = outcome }] of outcomes.entries()) {
      const { line, note } = batch[at]!;
      if (outcome === 'rejected') this.#refuse('rejected', { line, problem: reason });
      else this.#counts[outcome] += 1;
      (await this.#streamOf(note)).saw(note);
    }
  }

  #refuse(as: 'invalid' | 'rejected', { line, problem }: BadLine): void {
    this.#counts[as] += 1;
    if (this.#refusals.length < refusalsAtMost) this.#refusals.push({ line, reason: problem });
  }

  async #streamOf({ producer, stream }: Note): Promise<Stream> {
    const key = `${producer} ${stream}`;
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const name = { producer, stream };
    const { taken } = await this.#sink.progress(name);
    const fresh = new Stream(name, taken);
    this.#streams.set(key, fresh);
    return fresh;
  }
}

class Stream {
  readonly name: StreamName;
  readonly ledger: Ledger;
  lastNoteWallMs = 0;

  constructor(name: StreamName, taken: number) {
    this.name = name;
    this.ledger = new Ledger(taken);
  }

  saw(note: Note): void {
    this.ledger.saw(note);
    this.lastNoteWallMs = Math.max(this.lastNoteWallMs, note.at.wallMs);
  }
}
