/** Somebody who watches the agent: `custody sessions attach`, run as a person runs it, in a terminal of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Master } from '../../pty/host/master.ts';
import { createEmulator } from '../../pty/transcript/emulator.ts';
import { ownProgram } from '../spelling.ts';
import { eventually, expectThat } from './expectation.ts';
import { unlessAborted } from './interruption.ts';

/** What a terminal shows: its rows without what is blank at their ends, and the cursor counted from zero. */
export interface Picture {
  readonly rows: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number };
}

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

interface ViewerOptions extends Size {
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/** Nobody here types more than a word. */
const inputMaxBytes = 4_096;

export class Viewer {
  readonly pid: number;
  readonly #options: ViewerOptions;
  readonly #emulator: ReturnType<typeof createEmulator>;
  readonly #terminal: Master;
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;

  constructor(options: ViewerOptions) {
    const { cols, rows } = options;
    this.#options = options;
    this.#emulator = createEmulator({ cols, rows, scrollback: rows });
    const output = (chunk: Buffer) => this.#emulator.write(chunk);
    this.#terminal = new Master({ cols, rows, inputMaxBytes, output, broken: () => {} });
    this.#child = launched(this.#terminal, options.args);
    this.#child.on('error', () => {}); // It has no pid then.
    this.#exit = new Promise((resolve) => this.#child.once('exit', resolve));
    this.pid = this.#child.pid ?? 0;
    expectThat(this.pid > 0, 'a viewer can be started');
  }

  get picture(): Picture {
    const { active } = this.#emulator.buffer;
    const rows = Array.from({ length: this.#options.rows }, (_, row) => {
      const text = active.getLine(active.baseY + row)?.translateToString(true) ?? '';
      return text.trimEnd();
    });
    return { rows, cursor: { x: active.cursorX, y: active.cursorY } };
  }

  /** Resolves with what it shows once `holds`. Throws `demo_failed` when it never does, or when the viewer leaves first. */
  async until(promise: string, holds: (picture: Picture) => boolean): Promise<Picture> {
    await eventually(this.#options.signal, promise, async () => {
      const { picture } = this;
      if (holds(picture)) return true;
      expectThat(this.#child.exitCode === null && this.#child.signalCode === null, promise, picture.rows);
      return false;
    });
    return this.picture;
  }

  type(keys: string): Promise<void> {
    return unlessAborted(this.#terminal.write(Buffer.from(keys)), this.#options.signal);
  }

  /** Resolves with its exit status when it has left by itself; null for one that was killed. */
  async left(): Promise<number | null> {
    const code = await unlessAborted(this.#exit, this.#options.signal);
    this.#terminal.close();
    return code;
  }

  /** Closes its window, wherever the story came to: the kernel hangs it up, and nobody has to send a signal. */
  async end(): Promise<void> {
    this.#terminal.close();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise((resolve) => {
      timer = setTimeout(resolve, hungUpWithinMs);
    });
    // Whoever stays all the same is found by the look at every process.
    await Promise.race([this.#exit, tooLong]);
    clearTimeout(timer);
  }
}

const hungUpWithinMs = 10_000;

/**
 * A session of its own with this terminal, as a login has; should the demonstration be killed, the kernel hangs it up. That
 * needs nobody else to hold the master, which is not closed by itself in a child: what lies up to the slave is covered.
 */
function launched({ slave }: Master, args: readonly string[]): ChildProcess {
  const argv = ['-c', process.execPath, ownProgram(), 'sessions', 'attach', ...args];
  return spawn('setsid', argv, { cwd: '/', stdio: new Array<number>(slave + 1).fill(slave) });
}

/** Everybody who watches, so that nobody is left in front of a screen when the story ends early. */
export class Audience {
  readonly #signal: AbortSignal;
  readonly #viewers: Viewer[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** `args` are those of `custody sessions attach`. */
  join(size: Size, ...args: readonly string[]): Viewer {
    this.#signal.throwIfAborted();
    const viewer = new Viewer({ ...size, args, signal: this.#signal });
    this.#viewers.push(viewer);
    return viewer;
  }

  async dismiss(): Promise<void> {
    await Promise.all(this.#viewers.map((viewer) => viewer.end()));
  }
}
