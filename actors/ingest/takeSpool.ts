/**
 * Takes in what launchers left in the spool, each stream where it was left off. A note leaves the spool only when what it
 * says is committed; whoever dies in between takes it in again, which changes nothing.
 */
import type { Note } from '../../machines/note.ts';
import { type LostNotes, listProducers, type NoteBatch, SpoolLook } from '../../persistence/spool.ts';
import type { Clock } from '../observe/clock.ts';
import type { StreamName } from './coverage.ts';
import type { Loss } from './ledger.ts';
import type { NoteSink, TakenNote } from './sink.ts';

export interface SpoolRequest {
  readonly spoolDir: string;
  readonly sink: NoteSink;
  readonly clock: Clock;
  /** Notes at most; what is left waits for the next time. */
  readonly maxCount: number;
}

export interface SpoolReport {
  readonly counts: Readonly<Record<TakenNote['outcome'], number>>;
  readonly lost: number;
  /** Notes that were refused, with why: the first ones. */
  readonly refusals: readonly { readonly producer: string; readonly seq: number; readonly reason: string }[];
  /** There was more than `maxCount`. */
  readonly more: boolean;
}

const batchSize = 100;
const refusalsAtMost = 100;

/** Throws SpoolError when the spool is not this user's own; rejects with StoreError when the store takes nothing. */
export async function takeSpool(request: SpoolRequest): Promise<SpoolReport> {
  const taking = new Taking(request);
  for (const producer of listProducers(request.spoolDir).names) {
    const look = new SpoolLook({ spoolDir: request.spoolDir, producer, bootId: request.clock.bootId() });
    for (const stream of look.streams) await taking.stream(look, { producer, stream });
  }
  return taking.report;
}

class Taking {
  readonly #request: SpoolRequest;
  readonly #counts = { changed: 0, noop: 0, duplicate: 0, rejected: 0 };
  readonly #refusals: { producer: string; seq: number; reason: string }[] = [];
  #left: number;
  #lost = 0;
  #more = false;

  constructor(request: SpoolRequest) {
    this.#request = request;
    this.#left = request.maxCount;
  }

  get report(): SpoolReport {
    return { counts: this.#counts, lost: this.#lost, refusals: this.#refusals, more: this.#more };
  }

  async stream(look: SpoolLook, name: StreamName): Promise<void> {
    let { taken } = await this.#request.sink.progress(name);
    // What an earlier process had committed and not removed.
    look.taken(name.stream, taken);
    while (look.hasMore(name.stream, taken)) {
      if (this.#left <= 0) {
        this.#more = true;
        return;
      }
      const batch = look.read({ stream: name.stream, after: taken, limit: Math.min(batchSize, this.#left) });
      if (batch.upTo === taken) return;
      await this.#take(batch, name);
      look.taken(name.stream, batch.upTo);
      taken = batch.upTo;
    }
  }

  async #take({ notes, lost, upTo }: NoteBatch, name: StreamName): Promise<void> {
    const { sink, clock } = this.#request;
    const outcomes = await sink.take(notes);
    for (const [at, { outcome, reason = outcome }] of outcomes.entries()) {
      this.#counts[outcome] += 1;
      if (outcome === 'rejected' && this.#refusals.length < refusalsAtMost)
        this.#refusals.push({ producer: name.producer, seq: notes[at]!.seq, reason });
    }
    const { wallMs, bootId } = clock.now();
    const losses = lost.map((one) => lossOf(one, notes, { wallMs, bootId }));
    const lastNoteWallMs = notes.at(-1)?.at.wallMs ?? wallMs;
    this.#lost += await sink.account({ ...name, taken: upTo, losses, lastNoteWallMs });
    this.#left -= notes.length + lost.length;
  }
}

/** Between its neighbours, as far as there are any; what is later than nothing may be as late as now. */
function lossOf(
  { from, to }: LostNotes,
  notes: readonly Note[],
  now: { readonly wallMs: number; readonly bootId: string },
): Loss {
  const before = notes.findLast(({ seq }) => seq < from)?.at;
  const after = notes.find(({ seq }) => seq > to)?.at;
  const toWallMs = after?.wallMs ?? now.wallMs;
  const fromWallMs = Math.min(before?.wallMs ?? toWallMs, toWallMs);
  return { firstSeq: from, lastSeq: to, fromWallMs, toWallMs, bootId: after?.bootId ?? now.bootId };
}
