/**
 * A recorded terminal that is moved forward in time. Going on costs what lies between; going back begins again, because
 * nothing undoes what a terminal was told.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type headless from '@xterm/headless';
import { charsetNames, innerOf } from '../../../pty/screen/internals.ts';
import { repaint } from '../../../pty/screen/repaint.ts';
import { atLeastTwo, createEmulator, written } from '../../../pty/transcript/emulator.ts';
import { indexName } from '../../../pty/transcript/layout.ts';
import { readTranscript, type TranscriptSummary } from '../../../pty/transcript/reader.ts';
import { type Moment, timeline } from '../../../pty/transcript/timeline.ts';
import type { Instant, ScreenAt } from './protocol.ts';

export class Playback {
  readonly dir: string;
  readonly #terminal: headless.Terminal;
  readonly #moments: AsyncGenerator<Moment, void, undefined>;
  /** Read, and not shown yet. */
  #pending: Moment | undefined;
  #title = '';
  #offset = 0;
  #atUs: number | null = null;
  /** Time of the last thing that was shown, which may have brought no bytes. */
  #shownUs = 0;
  #missing: ScreenAt['missing'] = null;
  #isAtEnd = false;
  readonly #indexBytes: number;

  private constructor(summary: TranscriptSummary, indexBytes: number) {
    this.#indexBytes = indexBytes;
    const { cols, rows } = summary.header;
    this.dir = summary.dir;
    this.#terminal = createEmulator({ cols, rows, scrollback: 0 });
    this.#terminal.onTitleChange((title) => {
      this.#title = title;
    });
    this.#moments = timeline(summary);
  }

  /** Undefined where no recording can be read. */
  static async open(dir: string): Promise<Playback | undefined> {
    const indexBytes = indexBytesOf(dir);
    const reading = await readTranscript(dir);
    return reading.header === undefined ? undefined : new Playback(reading, indexBytes);
  }

  /** Whether all of what was there at the beginning is shown, and more has come since. */
  get isOutgrown(): boolean {
    return this.#isAtEnd && indexBytesOf(this.dir) !== this.#indexBytes;
  }

  /** Whether that instant lies behind what is shown. */
  isPast(at: Instant): boolean {
    return 'offset' in at ? at.offset < this.#offset : at.timeMs * 1_000 < this.#shownUs;
  }

  /** Stays between two pieces of output where `signal` says so, and goes on from there. */
  async to(at: Instant, signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      this.#pending ??= (await this.#moments.next()).value ?? undefined;
      const moment = this.#pending;
      this.#isAtEnd = moment === undefined;
      if (moment === undefined || isBehind(moment, at)) return;
      this.#pending = undefined;
      this.#shownUs = moment.atUs;
      if (moment.kind === 'resize') {
        const { cols, rows } = atLeastTwo(moment.cols, moment.rows);
        this.#terminal.resize(cols, rows);
      }
      if (moment.kind === 'missing')
        this.#missing = { bytes: (this.#missing?.bytes ?? 0) + moment.bytes, reason: moment.reason };
      if (moment.kind === 'bytes') await this.#show(moment, at);
    }
  }

  async screen(): Promise<ScreenAt> {
    const { cols, rows, buffer } = this.#terminal;
    const { cursorX, cursorY, baseY } = buffer.active;
    const charsets = await charsetNames();
    const painted = repaint(this.#terminal, {
      charsets,
      title: this.#title,
      historyRows: 0,
      unfinished: new Uint8Array(),
    });
    return {
      offset: this.#offset,
      timeMs: this.#atUs === null ? null : this.#atUs / 1_000,
      cols,
      rows,
      lines: Array.from(
        { length: rows },
        (_, row) => buffer.active.getLine(baseY + row)?.translateToString(true) ?? '',
      ),
      cursor: {
        x: Math.min(cursorX, cols - 1),
        y: cursorY,
        visible: !innerOf(this.#terminal).coreService.isCursorHidden,
      },
      title: this.#title,
      missing: this.#missing,
      base64: Buffer.from(painted).toString('base64'),
    };
  }

  async close(): Promise<void> {
    await this.#moments.return();
    this.#terminal.dispose();
  }

  async #show(moment: Extract<Moment, { kind: 'bytes' }>, at: Instant): Promise<void> {
    const end = moment.offset + moment.bytes.length;
    const until = 'offset' in at ? Math.min(end, at.offset) : end;
    await written(this.#terminal, moment.bytes.subarray(0, until - moment.offset));
    this.#offset = until;
    this.#atUs = moment.atUs;
    if (until < end) this.#pending = { ...moment, offset: until, bytes: moment.bytes.subarray(until - moment.offset) };
  }
}

/** Every batch of output has a line in the index: when it does not grow, there is no more to show. */
const indexBytesOf = (dir: string): number => statSync(join(dir, indexName), { throwIfNoEntry: false })?.size ?? 0;

/** Whether nothing of it belongs to that instant. Whatever comes at an offset without being output belongs to what precedes it. */
function isBehind(moment: Moment, at: Instant): boolean {
  if ('timeMs' in at) return moment.atUs > at.timeMs * 1_000;
  return moment.kind === 'bytes' && moment.offset >= at.offset;
}
