/** One session's screen, rendered from its transcript as far as somebody needs it. Lives in the thread of the screens. */
import type headless from '@xterm/headless';
import { atLeastTwo, createEmulator, written } from '../transcript/emulator.ts';
import { loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import { Follower, fromStart } from './follower.ts';
import { charsetNames, innerOf } from './internals.ts';
import type { Answered, ScreenPlace, ScreenSnapshot } from './protocol.ts';
import { repaint } from './repaint.ts';
import { Unfinished } from './unfinished.ts';

export interface ScreenEvents {
  /** What the terminal answers to a question of the program before `offset`; only where somebody wants it to. */
  reply(bytes: string, offset: number): void;
}

function isWithin(answered: Answered | null, offset: number): boolean {
  return answered !== null && offset >= answered.from && (answered.until === null || offset < answered.until);
}

/** Questions that were left to a viewer, in case that they were never shown to it. */
const leftMax = 64;

/** Room for what is rendered between two looks at other sessions: some milliseconds. */
const pieceBytes = 64 * 1024;
const piece = new Uint8Array(pieceBytes);

export class Screen {
  readonly #place: ScreenPlace;
  readonly #events: ScreenEvents;
  readonly #terminal: headless.Terminal;
  readonly #follower: Follower;
  readonly #unfinished = new Unfinished();
  #title: string | undefined;
  #lostBytes = 0;
  #checkpointAt = 0;
  #answered: Answered | null = null;
  #isAnswering = false;
  #left: readonly { readonly offset: number; readonly data: string }[] = [];

  private constructor(place: ScreenPlace, events: ScreenEvents, checkpoint: ReturnType<typeof loadCheckpoint>) {
    this.#place = place;
    this.#events = events;
    const { cols, rows } = checkpoint ?? place;
    this.#terminal = createEmulator({ cols, rows, scrollback: place.historyRows });
    this.#follower = new Follower(place, checkpoint ?? fromStart);
    this.#lostBytes = checkpoint?.lostBytes ?? 0;
    this.#checkpointAt = checkpoint?.offset ?? 0;
    this.#terminal.onTitleChange((title) => {
      this.#title = title;
    });
    this.#terminal.onData((data) => this.#reply(data));
  }

  /** Begins at the last checkpoint, or at the first byte. */
  static async open(place: ScreenPlace, events: ScreenEvents): Promise<Screen> {
    const checkpoint = loadCheckpoint(place.dir);
    const screen = new Screen(place, events, checkpoint);
    if (checkpoint !== undefined) await screen.#feed(checkpoint.repaint);
    return screen;
  }

  get offset(): number {
    return this.#follower.place.offset;
  }

  get terminal(): headless.Terminal {
    return this.#terminal;
  }

  /** Which of the program's questions are answered. */
  set answered(answered: Answered | null) {
    if (answered === this.#answered) return;
    this.#answered = answered;
    const due = this.#left.filter(({ offset }) => isWithin(answered, offset - 1));
    this.#left = this.#left.filter((one) => !due.includes(one));
    for (const { data, offset } of due) this.#events.reply(data, offset);
  }

  #reply(data: string): void {
    if (this.#isAnswering) this.#events.reply(data, this.offset);
    else this.#left = [...this.#left, { offset: this.offset, data }].slice(-leftMax);
  }

  /**
   * One piece towards `target`; false when there is nothing more to read for now. A small piece lets somebody look at
   * every line. Throws for files that cannot be read.
   */
  async step(target: number, maxBytes = pieceBytes): Promise<boolean> {
    const stops = [this.#answered?.from, this.#answered?.until].filter((at) => at != null && at > this.offset);
    const limit = Math.min(target, ...(stops as number[]));
    this.#isAnswering = isWithin(this.#answered, this.offset);
    const step = this.#follower.next(limit, piece.subarray(0, maxBytes));
    if (step.kind === 'bytes') await this.#feed(step.bytes);
    if (step.kind === 'lost') this.#lostBytes += step.bytes;
    if (step.kind === 'resize') {
      const { cols, rows } = atLeastTwo(step.cols, step.rows);
      this.#terminal.resize(cols, rows);
    }
    if (this.offset - this.#checkpointAt >= this.#place.checkpointBytes) await this.checkpoint();
    return step.kind !== 'end' || (this.offset === limit && limit < target);
  }

  async snapshot(historyRows = this.#place.historyRows): Promise<ScreenSnapshot> {
    const { cols, rows, buffer } = this.#terminal;
    const { cursorX, cursorY, baseY } = buffer.active;
    const visible = !innerOf(this.#terminal).coreService.isCursorHidden;
    return {
      offset: this.offset,
      cols,
      rows,
      cursor: { x: Math.min(cursorX, cols - 1), y: cursorY, visible },
      lines: Array.from(
        { length: rows },
        (_, row) => buffer.active.getLine(baseY + row)?.translateToString(true) ?? '',
      ),
      altScreen: buffer.active.type === 'alternate',
      ...(this.#title === undefined ? {} : { title: this.#title }),
      lostBytes: this.#lostBytes,
      repaint: await this.#repaint(historyRows),
    };
  }

  /** Writes one when there is something new to keep. */
  async checkpoint(): Promise<void> {
    const { place } = this.#follower;
    if (place.offset === this.#checkpointAt) return;
    const { cols, rows } = this.#terminal;
    const title = this.#title === undefined ? {} : { title: this.#title };
    const painted = await this.#repaint(this.#place.historyRows);
    this.#checkpointAt = place.offset;
    saveCheckpoint(this.#place.dir, {
      ...place,
      cols,
      rows,
      ...title,
      lostBytes: this.#lostBytes,
      repaint: painted,
    });
  }

  /** Lets files go; the screen stays as it is. */
  rest(): void {
    this.#follower.rest();
  }

  close(): void {
    this.#follower.rest();
    this.#terminal.dispose();
  }

  async #feed(bytes: Uint8Array): Promise<void> {
    await written(this.#terminal, bytes);
    this.#unfinished.after(this.#terminal, bytes);
  }

  async #repaint(historyRows: number): Promise<Uint8Array> {
    const charsets = await charsetNames();
    const unfinished = this.#unfinished.bytes;
    return repaint(this.#terminal, { charsets, title: this.#title, historyRows, unfinished });
  }
}
