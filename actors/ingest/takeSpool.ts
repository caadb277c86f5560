/**
 * Takes in what launchers left in the spool, each stream where it was left off. A note leaves the spool only when what it
 * says is committed; whoever dies in between takes it in again, which changes nothing.
 */
import type { Note } from '../../machines/note.ts';
import { type LostNotes, listProducers, type NoteBatch, SpoolLook } from '../../persistence/spool.ts';
import { SpoolError } from '../../persistence/spoolError.ts';
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
  /** Notes that were refused, and files that are none, with why: the first ones. */
  readonly refusals: readonly { readonly producer: string; readonly seq: number; readonly reason: string }[];
  /** Producers whose directory is not this user's own, or cannot be read: nothing of them was taken in. */
  readonly unread: readonly { readonly producer: string; readonly reason: string }[];
  /** Producers whose counter is not what was written: whether notes behind the last one are lost is not known. */
  readonly damagedCounters: readonly string[];
  /** There was more than `maxCount`. */
  readonly more: boolean;
}

const batchSize = 100;
const refusalsAtMost = 100;

/**
 * Throws SpoolError when the spool is not this user's own; rejects with StoreError when the store takes nothing. What ails
 * the directory of one producer keeps back its notes, and nobody else's.
 */
export async function takeSpool(request: SpoolRequest): Promise<SpoolReport> {
  const taking = new Taking(request);
  for (const producer of listProducers(request.spoolDir).names) {
    try {
      const look = new SpoolLook({ spoolDir: request.spoolDir, producer, bootId: request.clock.bootId() });
      if (look.isCounterDamaged) taking.damagedCounter(producer);
      for (const stream of look.streams) await taking.stream(look, { producer, stream });
    } catch (error) {
      if (!(error instanceof SpoolError)) throw error;
      taking.unread(producer, error);
    }
  }
  return taking.report;
}

class Taking {
  readonly #request: SpoolRequest;
  readonly #counts = { changed: 0, noop: 0, duplicate: 0, rejected: 0 };
  readonly #refusals: { producer: string; seq: number; reason: string }[] = [];
  readonly #unread: { producer: string; reason: string }[] = [];
  readonly #damagedCounters: string[] = [];
  #left: number;
  #lost = 0;
  #more = false;

  constructor(request: SpoolRequest) {
    this.#request = request;
    this.#left = request.maxCount;
  }

  get report(): SpoolReport {
    const [counts, lost, refusals, unread] = [this.#counts, this.#lost, this.#refusals, this.#unread];
    return { counts, lost, refusals, unread, damagedCounters: this.#damagedCounters, more: this.#more };
  }

  unread(producer: string, { message }: SpoolError): void {
    this.#unread.push({ producer, reason: message });
  }

  damagedCounter(producer: string): void {
    this.#damagedCounters.push(producer);
  }

  async stream(look: SpoolLook, name: StreamName): Promise<void> {
    let { taken } = await this.#request.sink.progress(name);
    await this.#behind(look, name, taken);
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

  /**
   * What is still there although its stream is accounted for further: an earlier process had taken it in and not removed it,
   * or lines from elsewhere have named a later number. Nothing leaves the spool unread; the same again changes nothing.
   */
  async #behind(look: SpoolLook, { producer, stream }: StreamName, taken: number): Promise<void> {
    for (let after = (look.first(stream) ?? taken + 1) - 1; after < taken; ) {
      const { notes, upTo } = look.read({ stream, after, limit: batchSize });
      await this.#submit(
        notes.filter(({ seq }) => seq <= taken),
        producer,
      );
      after = upTo > after ? upTo : taken;
    }
    look.taken(stream, taken);
  }

  async #submit(notes: readonly Note[], producer: string): Promise<void> {
    const outcomes = await this.#request.sink.take(notes);
    for (const [at, { outcome, reason = outcome }] of outcomes.entries()) {
      this.#counts[outcome] += 1;
      if (outcome === 'rejected') this.#refuse({ producer, seq: notes[at]!.seq, reason });
    }
  }

  #refuse(refusal: SpoolReport['refusals'][number]): void {
    if (this.#refusals.length < refusalsAtMost) this.#refusals.push(refusal);
  }

  async #take({ notes, lost, upTo }: NoteBatch, name: StreamName): Promise<void> {
    const { sink, clock } = this.#request;
    await this.#submit(notes, name.producer);
    const { wallMs, bootId } = clock.now();
    for (const { from, why, file, reason } of lost)
      if (why === 'refused')
        this.#refuse({ producer: name.producer, seq: from, reason: `it is no note (${reason}); kept as ${file}` });
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
