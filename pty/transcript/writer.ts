/**
 * The writing side of a transcript: bytes first, then the index. It never throws into the path of the bytes: what the disk
 * refuses is counted exactly, noted as a gap, and marks the transcript as incomplete for good (PTY-07; a full disk kills no
 * agent). Nothing is synced before the end: what was written survives the death of this process, not a power cut.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { TranscriptUnavailableError, type WriteFailure, writeFailure } from './errors.ts';
import { IndexFile } from './indexFile.ts';
import { defaultSegmentBytes, type TranscriptHeader, transcriptVersion } from './layout.ts';
import { type LossReason, lossReason } from './records.ts';
import { RawSegments } from './segments.ts';

export interface TranscriptClock {
  wallMs(): number;
  /** Microseconds on a clock that nobody sets. */
  monotonicUs(): number;
}

const systemClock: TranscriptClock = {
  wallMs: () => Date.now(),
  monotonicUs: () => Math.round(performance.now() * 1_000),
};

export interface TranscriptFault extends WriteFailure {
  readonly reason: LossReason;
  /** How many bytes had been stored. */
  readonly offset: number;
}

export interface TranscriptOptions {
  /** Made here, 0700; its parent must exist, itself must not. */
  readonly dir: string;
  readonly header: Pick<TranscriptHeader, 'sessionId' | 'cols' | 'rows' | 'term'>;
  readonly segmentBytes?: number;
  /** What the raw bytes may take; whole segments of the oldest go. Without it, everything is kept. */
  readonly maxBytes?: number;
  readonly clock?: TranscriptClock;
  /** Called once per transcript, never from within a call of the writer. */
  readonly onFault?: (fault: TranscriptFault) => void;
}

export interface Appended {
  /** End of what is stored, in bytes since the start of the session. */
  readonly offset: number;
  /** How much of this batch is not. */
  readonly lostBytes: number;
}

/** How a transcript ended: `reason` names why it is not complete. */
export type TranscriptEnd = { readonly complete: true } | { readonly complete: false; readonly reason: string };

interface OpenGap {
  readonly atUs: number;
  readonly offset: number;
  readonly failure: WriteFailure;
  lostBytes: number;
}

export class TranscriptWriter {
  readonly #raw: RawSegments;
  readonly #index: IndexFile;
  readonly #options: TranscriptOptions;
  readonly #clock: TranscriptClock;
  readonly #startUs: number;
  #gap: OpenGap | undefined;
  #fault: TranscriptFault | undefined;
  #lostBytes = 0;
  #isEnded = false;
  #isClosed = false;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#startUs = this.#clock.monotonicUs();
    const { dir, segmentBytes = defaultSegmentBytes } = options;
    const { sessionId, cols, rows, term } = options.header;
    const startedAtMs = this.#clock.wallMs();
    this.#index = new IndexFile(dir, {
      version: transcriptVersion,
      sessionId,
      startedAtMs,
      cols,
      rows,
      term,
      segmentBytes,
    });
    try {
      this.#raw = new RawSegments(dir, segmentBytes);
    } catch (error) {
      this.#index.close();
      throw error;
    }
  }

  get offset(): number {
    return this.#raw.offset;
  }

  /** First byte that the cap has left. */
  get from(): number {
    return this.#raw.from;
  }

  get lostBytes(): number {
    return this.#lostBytes;
  }

  /** The first failure, for ever. */
  get fault(): TranscriptFault | undefined {
    return this.#fault;
  }

  /** Stores one batch of what the terminal said. */
  append(buffers: readonly Uint8Array[]): Appended {
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    if (bytes === 0) return { offset: this.offset, lostBytes: 0 };
    // Bytes without a line in the index could not be told from bytes of another time, so a full queue is a full disk.
    const flushed = this.#index.isFull ? this.#index.flush() : undefined;
    const { bytes: stored, error } =
      flushed !== undefined || this.#isEnded ? { bytes: 0, error: flushed } : this.#raw.write(buffers);
    if (stored > 0) {
      this.#closeGap();
      this.#index.push({ kind: 'output', atUs: this.#now(), end: this.offset });
    }
    const lostBytes = bytes - stored;
    if (lostBytes > 0) this.#lose(lostBytes, error);
    this.#flush();
    if (stored > 0) this.#rotate();
    return { offset: this.offset, lostBytes };
  }

  resize(cols: number, rows: number): void {
    this.#index.push({ kind: 'resize', atUs: this.#now(), cols, rows });
    this.#flush();
  }

  /**
   * Writes the last line and syncs. A transcript with losses ends as incomplete whatever the caller believes. Resolves with
   * whether it would survive a power cut; what could not be written reads as interrupted.
   */
  async end(end: TranscriptEnd): Promise<{ readonly durable: boolean }> {
    if (this.#isEnded) return { durable: false };
    this.#isEnded = true;
    this.#closeGap();
    const outcome = !end.complete ? end.reason : this.#fault === undefined ? 'complete' : this.#fault.reason;
    this.#index.push({ kind: 'end', atUs: this.#now(), offset: this.offset, outcome });
    this.#flush();
    try {
      await this.#raw.sync();
      await this.#index.sync();
      await syncDirectory(this.#options.dir);
      return { durable: this.#index.isWritten };
    } catch (error) {
      this.#noteFault(error);
      return { durable: false };
    }
  }

  /** Lets the files go. Without an `end` before it, the transcript reads as interrupted. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isEnded = true;
    this.#raw.close();
    this.#index.close();
  }

  #now(): number {
    return this.#clock.monotonicUs() - this.#startUs;
  }

  #lose(bytes: number, error: unknown): void {
    this.#lostBytes += bytes;
    this.#gap ??= { atUs: this.#now(), offset: this.offset, failure: writeFailure(error), lostBytes: 0 };
    this.#gap.lostBytes += bytes;
    this.#noteFault(error);
  }

  /** A gap is written once its size is known: when a byte after it has been stored, or at the end. */
  #closeGap(): void {
    if (this.#gap === undefined) return;
    const { atUs, offset, lostBytes, failure } = this.#gap;
    this.#gap = undefined;
    const reason = lossReason(failure.code);
    // The bytes after it are stored already, but the line of the gap names where they begin.
    this.#index.push({ kind: 'gap', atUs, offset, lostBytes, reason, errno: failure.errno });
  }

  #flush(): void {
    if (this.#isClosed) return;
    const error = this.#index.flush();
    if (error !== undefined) this.#noteFault(error);
  }

  #rotate(): void {
    const { maxBytes } = this.#options;
    if (maxBytes === undefined) return;
    while (this.offset - this.from > maxBytes) {
      const dropped = this.#raw.dropOldest();
      if (dropped === undefined) return;
      this.#index.push({ kind: 'dropped', atUs: this.#now(), ...dropped });
      this.#flush();
    }
  }

  #noteFault(error: unknown): void {
    if (this.#fault !== undefined) return;
    const failure = writeFailure(error);
    const fault = { ...failure, reason: lossReason(failure.code), offset: this.offset };
    this.#fault = fault;
    queueMicrotask(() => this.#options.onFault?.(fault));
  }
}

/** Throws TranscriptUnavailableError, and leaves nothing behind then: no place for evidence, no session. */
export function openTranscript(options: TranscriptOptions): TranscriptWriter {
  let isMade = false;
  try {
    mkdirSync(options.dir, { mode: 0o700 });
    isMade = true;
    chmodSync(options.dir, 0o700);
    return new TranscriptWriter(options);
  } catch (error) {
    if (isMade) rmSync(options.dir, { recursive: true, force: true });
    throw new TranscriptUnavailableError(error);
  }
}

/** The names of new segments are entries of the directory and need a sync of their own. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
