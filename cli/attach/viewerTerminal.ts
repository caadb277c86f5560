/**
 * The terminal of whoever watches: raw while it shows another one, and afterwards as it was, whichever way the process
 * goes. What is written does not hold up the process, so that keys and signals are heard while a terminal takes nothing.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { TerminalModes } from './terminalModes.ts';

/** The stream knows its descriptor, its type does not. */
type Output = WriteStream & { readonly fd: number };

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export class ViewerTerminal {
  readonly #modes = new TerminalModes();
  readonly #input: ReadStream | undefined;
  readonly #output: Output;
  #isTaken = false;
  #draining: Promise<void> | undefined;
  /** Something of what is on the display is the person's own. */
  #hasOwn = true;
  /** All of it is. */
  #isOwn = true;
  readonly #onExit = () => this.restore();
  readonly #onStop = () => this.#stop();
  readonly #onContinue = () => this.#continue();
  #continued: (() => void) | undefined;

  /** `input` is left out where nobody types. */
  constructor({ input, output }: { readonly input: ReadStream | undefined; readonly output: Output }) {
    this.#input = input;
    this.#output = output;
  }

  get size(): Size {
    return { cols: this.#output.columns, rows: this.#output.rows };
  }

  /** Calls back whenever the window has another size, until the terminal is given back. */
  onResize(resized: () => void): void {
    this.#output.on('resize', resized);
  }

  /** Calls back when the process goes on after it was stopped: others have used the terminal meanwhile. */
  onContinue(continued: () => void): void {
    this.#continued = continued;
  }

  /** From here on the terminal is given back at the latest when the process ends, and whenever it is stopped. */
  take(): void {
    this.#isTaken = true;
    process.once('exit', this.#onExit);
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
    blocking(this.#output, false);
    this.#input?.setRawMode(true);
  }

  #stop(): void {
    this.#giveBack();
    process.kill(process.pid, 'SIGSTOP');
  }

  /** Also after SIGSTOP, of which nobody is told: the shell has set the terminal as it likes it. */
  #continue(): void {
    blocking(this.#output, false);
    this.#input?.setRawMode(false);
    this.#input?.setRawMode(true);
    this.#hasOwn = true;
    this.#continued?.();
  }

  /** Begins to read keys; what was typed before waits in the kernel until then. */
  read(typed: (bytes: Buffer) => void): void {
    this.#input?.on('data', typed);
    // Nothing but a terminal that is gone ends while it is raw.
    for (const end of ['end', 'error']) this.#input?.on(end, endByHangup);
    this.#input?.resume();
  }

  pauseReading(): void {
    this.#input?.pause();
  }

  resumeReading(): void {
    if (this.#isTaken) this.#input?.resume();
  }

  /** False when the terminal has not taken all of it: wait for `drained`. */
  write(bytes: Uint8Array): boolean {
    if (!this.#isTaken) return true;
    this.#modes.note(bytes);
    return this.#output.write(bytes);
  }

  /** What the session says, as it is. */
  pass(bytes: Uint8Array): boolean {
    this.#isOwn = false;
    return this.write(bytes);
  }

  /** One listener, however many wait: Node would warn of more than ten, right into what is shown. */
  drained(): Promise<void> {
    if (!this.#output.writableNeedDrain) return Promise.resolve();
    this.#draining ??= new Promise((resolve) =>
      this.#output.once('drain', () => {
        this.#draining = undefined;
        resolve();
      }),
    );
    return this.#draining;
  }

  /** Resolves when the terminal has everything that was written, or after `withinMs`: it may have been stopped. */
  flushed(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
      this.#output.write('', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /**
   * A screen of the terminal's own size, as it is sent after attaching, or after bytes that were left out. What is on the
   * display the first time is the person's own: it moves up into the history instead of being erased.
   */
  repaint(bytes: Uint8Array): boolean {
    const { rows } = this.size;
    const aside = this.#hasOwn ? `\x1b[${rows};1H${'\n'.repeat(rows)}` : '';
    this.#hasOwn = false;
    return this.pass(Buffer.concat([Buffer.from(`${this.#modes.undo}${aside}\x1b[H\x1b[2J`), bytes]));
  }

  /** An empty screen beside the person's own. Whoever paints on it says where everything goes, so nothing wraps. */
  openWindow(): void {
    this.write(Buffer.from(`${this.#modes.undo}\x1b[?1049h\x1b[?7l`));
  }

  /** Back to the screen of before, with `lines` below what is there. */
  closeWindow(lines: readonly string[]): void {
    const text = lines.map((line) => `\r\n${line}`).join('');
    this.write(Buffer.from(`${this.#modes.undo}${this.#below}${text}`));
  }

  /** Where nothing is drawn: a program may have left the cursor anywhere, the person's own is below everything. */
  get #below(): string {
    return this.#isOwn ? '' : `\x1b[${this.size.rows};1H`;
  }

  /** Gives the terminal back, once. Synchronous, because nothing else runs any more when a process ends. */
  restore(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    process.off('exit', this.#onExit);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    this.#output.removeAllListeners('resize');
    // Before anything can fail on a terminal that is gone: it would end the process once more.
    for (const end of ['end', 'error']) this.#input?.off(end, endByHangup);
    const isThere = this.#giveBack();
    this.#input?.pause();
    this.#input?.removeAllListeners('data');
    if (!isThere) hangUp();
  }

  /** False when there is no terminal any more. */
  #giveBack(): boolean {
    const below = this.#modes.isAlternate ? '' : this.#below;
    // What the terminal has not taken is lost, and may have been cut in the middle of a sequence.
    const cut = this.#output.writableLength > 0 ? '\x18' : '';
    // Where the screen of before is there again, so is its cursor.
    const isThere = say(this.#output.fd, `${cut}${this.#modes.undo}${below}\r\n`);
    try {
      this.#input?.setRawMode(false);
    } catch {
      // Said already.
    }
    blocking(this.#output, true);
    return isThere;
  }
}

/** 128 and the number of SIGHUP, as shells report it. */
const endByHangup = (): never => process.exit(129);

/**
 * What a hang-up does to a process by default. Node's own way out takes a terminal that cannot be set any more for a bug
 * of its own, and dumps core.
 */
function hangUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** libuv has its own description of the terminal, so nobody else's is changed; Node writes blockingly by default. */
function blocking(stream: Output, isBlocking: boolean): void {
  const { _handle: handle } = stream as Output & { readonly _handle?: { setBlocking?(value: boolean): void } };
  handle?.setBlocking?.(isBlocking);
}

/**
 * Past the stream, whose queue may be stuck, and without waiting for a terminal that takes nothing. False for one that has
 * hung up (EIO).
 */
function say(terminal: number, text: string): boolean {
  const own = reopened(terminal);
  try {
    writeSync(own ?? terminal, text);
    return true;
  } catch (error) {
    // One that was stopped has nothing to give back.
    return (error as NodeJS.ErrnoException).code !== 'EIO';
  } finally {
    if (own !== undefined) closeSync(own);
  }
}

/** Undefined for a terminal that belongs to another user, as after su(1). */
function reopened(terminal: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${terminal}`, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
