/**
 * The notes of launchers, as somebody takes them in (INT-04): what is there, in order, and what is certainly lost
 * (INT-05, FAULT-10). A producer writes its numbers one after the other under a lock, so a number that is missing below
 * one that is there will never come. Nothing is removed before `taken` says that it is committed elsewhere; whoever is
 * killed in between reads the same again. All calls are synchronous and bounded by what is asked for.
 */

import { producerSchema } from '../machines/launcherNames.ts';
import type { Note } from '../machines/note.ts';
import { type Counter, readCounter } from './spoolCounter.ts';
import {
  namesIn,
  type OpenDirectory,
  putAside,
  readNote,
  unlinked,
  withDirectory,
  withProducer,
} from './spoolFiles.ts';
import { endName, noteName, readNames, type StreamNames } from './spoolNames.ts';

/** Numbers `from` to `to`, both included, for which there is no note. */
export interface LostNotes {
  readonly from: number;
  readonly to: number;
  /** `missing`: consumed and never written. `refused`: something stood there that is no note; it is kept under another name. */
  readonly why: 'missing' | 'refused';
  /** Of a refused one. */
  readonly file?: string;
  readonly reason?: string;
}

export interface NoteBatch {
  readonly notes: readonly Note[];
  readonly lost: readonly LostNotes[];
  /** Everything up to this number is in this batch or was in one before: commit it with the batch, then call `taken`. */
  readonly upTo: number;
  readonly more: boolean;
}

export interface BatchRequest {
  readonly stream: string;
  /** The last number of this stream that was committed; 0 for a new stream. */
  readonly after: number;
  /** At least one note or loss is given; a note has at most 16 KiB. */
  readonly limit: number;
}

export interface Producers {
  readonly names: readonly string[];
  /** Entries whose name no producer can have. */
  readonly strangers: number;
}

/** Who has ever noted something, in order of name. Throws SpoolError when the spool is not this user's own. */
export function listProducers(spoolDir: string): Producers {
  const names = withDirectory(spoolDir, namesIn) ?? [];
  const valid = names.filter((name) => producerSchema.safeParse(name).success);
  return { names: valid.sort(), strangers: names.length - valid.length };
}

export interface LookRequest {
  readonly spoolDir: string;
  readonly producer: string;
  /** Of this boot: whether somebody may still write to a stream depends on it. */
  readonly bootId: string;
}

/** One look at a producer's directory. Notes that come later are for the next look. */
export class SpoolLook {
  readonly producer: string;
  /** Of streams that have something to read or have ended, the current one last. */
  readonly streams: readonly string[];
  /** The stream that is written at present; undefined without a counter that makes sense. */
  readonly counter: Counter | undefined;
  /** Something stands in its place that makes no sense: what is behind the last note is not known to be lost. */
  readonly isCounterDamaged: boolean;
  /** Entries that are nobody's. */
  readonly strangers: number;
  readonly #spoolDir: string;
  readonly #names: ReadonlyMap<string, StreamNames>;
  readonly #settled: ReadonlyMap<string, number>;
  /** Why this look put a file aside, by its name: whoever reads the same again is told the same. */
  readonly #aside = new Map<string, string>();
  /** How many of a stream's notes this look has had removed: each is tried once, or a long spool would be walked per batch. */
  readonly #removed = new Map<string, number>();

  /** Throws SpoolError when the directory is not this user's own. A producer that is not there has nothing to say. */
  constructor({ spoolDir, producer, bootId }: LookRequest) {
    this.producer = producer;
    this.#spoolDir = spoolDir;
    const seen = withProducer(spoolDir, producer, (directory) => {
      const counter = readCounter(directory);
      // A listing may miss what is renamed into place while it is made. What the first one shows was there, and all that
      // is before it in the stream, when the second one began; and that misses nothing of it (readdir(3)).
      const first = readNames(namesIn(directory));
      return { counter, first, ...readNames(namesIn(directory)) };
    });
    this.isCounterDamaged = seen?.counter === 'damaged';
    this.counter = typeof seen?.counter === 'object' ? seen.counter : undefined;
    this.strangers = seen?.strangers ?? 0;
    this.#names = seen?.streams ?? new Map();
    const current = this.counter?.bootId === bootId ? this.counter.stream : undefined;
    this.#settled = settledIn(seen?.first.streams ?? new Map(), this.counter, bootId);
    this.streams = [...new Set([...this.#names.keys(), ...this.#settled.keys()])].sort(
      (a, b) => Number(a === current) - Number(b === current) || (a < b ? -1 : 1),
    );
  }

  /** The lowest number for which there is a note; undefined where there is none. */
  first(stream: string): number | undefined {
    return this.#names.get(stream)?.marks[0];
  }

  /** Whether this look has something behind `after`. */
  hasMore(stream: string, after: number): boolean {
    return after < (this.#settled.get(stream) ?? 0);
  }

  /**
   * Notes that were given a number, or asked for one, and are neither there nor behind anything that is: written at this
   * moment, or lost. They become certain losses with the next note, so this is to be shown and not to be recorded.
   * `after` is what was committed of the counter's stream.
   */
  unsettled(after: number): number {
    if (this.counter === undefined) return 0;
    const { stream, given, untold } = this.counter;
    return Math.max(0, given - Math.max(after, this.#settled.get(stream) ?? 0)) + untold;
  }

  /** What follows `after` in this stream, losses included. The same again until it is committed. Throws SpoolError. */
  read(request: BatchRequest): NoteBatch {
    const batch = withProducer(this.#spoolDir, this.producer, (directory) => this.#collect(directory, request));
    return batch ?? { notes: [], lost: [], upTo: request.after, more: false };
  }

  #collect(directory: OpenDirectory, { stream, after, limit }: BatchRequest): NoteBatch {
    const notes: Note[] = [];
    const lost: LostNotes[] = [];
    const settled = this.#settled.get(stream) ?? 0;
    let upTo = after;
    const { marks = [] } = this.#names.get(stream) ?? {};
    for (let at = firstAfter(marks, after); at < marks.length; at += 1) {
      const seq = marks[at]!;
      if (seq > settled || notes.length + lost.length >= Math.max(1, limit)) break;
      if (seq > upTo + 1) lost.push({ from: upTo + 1, to: seq - 1, why: 'missing' });
      const found = this.#at(directory, stream, seq);
      if ('note' in found) notes.push(found.note);
      else lost.push(found);
      upTo = seq;
    }
    const isLast = notes.length + lost.length < Math.max(1, limit);
    if (isLast && upTo < settled) {
      lost.push({ from: upTo + 1, to: settled, why: 'missing' });
      upTo = settled;
    }
    return { notes, lost, upTo, more: upTo < settled };
  }

  #at(directory: OpenDirectory, stream: string, seq: number): { readonly note: Note } | LostNotes {
    const name = noteName(stream, seq);
    const file = readNote(directory, name, { producer: this.producer, stream, seq });
    if (file !== 'missing' && 'note' in file) return file;
    const isAside = this.#aside.has(name) || this.#names.get(stream)?.refused.has(seq) === true;
    if (file === 'missing' && !isAside) return { from: seq, to: seq, why: 'missing' };
    if (file !== 'missing') {
      putAside(directory, name);
      this.#aside.set(name, file.refused);
    }
    const reason = this.#aside.get(name) ?? 'put aside before';
    return { from: seq, to: seq, why: 'refused', file: `${name}.refused`, reason };
  }

  /**
   * Removes what was committed: notes of this stream up to `upTo`. To be repeated after a crash with the last committed
   * number. Returns how many files are still there that should not be (a file system that turned read-only, say).
   */
  taken(stream: string, upTo: number): number {
    const { present = [], end = 0 } = this.#names.get(stream) ?? {};
    const before = this.#removed.get(stream) ?? 0;
    const until = Math.max(before, firstAfter(present, upTo));
    this.#removed.set(stream, until);
    const names = present.slice(before, until).map((seq) => noteName(stream, seq));
    if (end > 0 && end <= upTo) names.push(endName(stream, end));
    const left = withProducer(this.#spoolDir, this.producer, (directory) =>
      names.filter((name) => !unlinked(directory, name)),
    );
    return left?.length ?? 0;
  }
}

/** Up to here everything that is missing is lost. */
function settledIn(
  streams: ReadonlyMap<string, StreamNames>,
  counter: Counter | undefined,
  bootId: string,
): ReadonlyMap<string, number> {
  const settled = new Map([...streams].map(([stream, names]) => [stream, highest(names)]));
  if (counter === undefined) return settled;
  const { stream, given, settled: inVain } = counter;
  const seen = settled.get(stream) ?? 0;
  // A file whose number was not given out yet must not make the note that will get it look old. In another boot the
  // stream is over, and its counter was not synced: both the counter and the files say how far it had come.
  settled.set(stream, counter.bootId === bootId ? Math.max(Math.min(seen, given), inVain) : Math.max(seen, given));
  return settled;
}

const highest = ({ marks, end }: StreamNames): number => Math.max(marks.at(-1) ?? 0, end);

/** Index of the first number above `after`; there may be a hundred thousand, and a batch takes a few hundred. */
function firstAfter(marks: readonly number[], after: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]! > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
