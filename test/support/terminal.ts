/** A real terminal with an emulator behind it, for programs that are to be used as a person uses them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type headless from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { InputQueue } from '../../pty/host/inputQueue.ts';
import { nodePty } from '../../pty/host/nodePty.ts';
import { createEmulator } from '../../pty/transcript/emulator.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunInTerminal {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Otherwise nobody signals the program when the terminal hangs up. */
  readonly isControlling?: boolean;
}

/** node-pty's descriptors are inherited, and a program that holds the other end of its own terminal is never hung up. */
const closing = 'for fd in $(ls /proc/$$/fd); do [ $fd -le 2 ] || eval "exec $fd>&-"; done; exec "$@"';

/** Longer than anything takes on a busy machine. */
const patienceMs = 30_000;

export class TestTerminal {
  /** Path of the end that programs have. */
  readonly path: string;
  readonly emulator: headless.Terminal;
  readonly #master: number;
  readonly #slave: number;
  readonly #stream: ReadStream;
  readonly #keys: InputQueue;
  readonly #chunks: Buffer[] = [];
  #waiters: (() => void)[] = [];

  constructor({ cols, rows }: Size) {
    const { master, slave, pty } = nodePty.open(cols, rows);
    this.#master = master;
    this.#slave = slave;
    this.path = pty;
    this.emulator = createEmulator({ cols, rows, scrollback: 1_000 });
    this.#keys = new InputQueue({ fd: master, maxBytes: 64 * 1024 * 1024 });
    // A real terminal answers what programs ask it.
    this.emulator.onData((answer) => void this.type(answer));
    this.#stream = new ReadStream(master);
    this.#stream.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#stream.on('error', () => {});
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#keys.nudge();
    this.emulator.write(chunk, () => {
      for (const waiter of this.#waiters.splice(0)) waiter();
    });
  }

  /**
   * Runs a program as a login shell would: this is its controlling terminal, unless that is not wanted, and all three of
   * its standard streams.
   */
  run(argv: readonly string[], options: RunInTerminal): ChildProcess {
    const stdio = [this.#slave, this.#slave, this.#slave];
    const { isControlling = true, ...rest } = options;
    const started = ['bash', '-c', closing, 'bash', ...argv];
    const child = spawn('setsid', [...(isControlling ? ['--ctty'] : []), ...started], { stdio, cwd: '/', ...rest });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }

  /** What was written to it, byte for byte. */
  get output(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The rows that a person would see. */
  get lines(): string[] {
    const { active } = this.emulator.buffer;
    return Array.from({ length: this.emulator.rows }, (_, row) => {
      return active.getLine(active.baseY + row)?.translateToString(true) ?? '';
    });
  }

  /** The rows with those above them that have scrolled out of sight. */
  get history(): string {
    const { normal } = this.emulator.buffer;
    return Array.from({ length: normal.length }, (_, row) => normal.getLine(row)?.translateToString(true)).join('\n');
  }

  type(keys: string | Uint8Array): Promise<void> {
    return this.#keys.write(typeof keys === 'string' ? Buffer.from(keys) : keys).catch(() => {});
  }

  resize({ cols, rows }: Size): void {
    this.emulator.resize(cols, rows);
    nodePty.resize(this.#master, cols, rows);
  }

  /** A terminal that somebody has stopped takes nothing until it goes on. */
  stop(): void {
    this.#stream.pause();
  }

  goOn(): void {
    this.#stream.resume();
  }

  /** Looks again whenever something new is shown. */
  async until(what: string, isTrue: () => boolean): Promise<void> {
    const late = AbortSignal.timeout(patienceMs);
    const expired = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve(), { once: true }));
    while (!isTrue()) {
      if (late.aborted) throw new Error(`not seen: ${what}; but:\n${this.lines.join('\n')}`);
      const isChanged = new Promise<void>((resolve) => this.#waiters.push(resolve));
      await Promise.race([isChanged, expired]);
    }
  }

  shows(text: string): Promise<void> {
    return this.until(text, () => this.lines.some((line) => line.includes(text)));
  }

  /** Also if it has scrolled out of sight since: what is there only for a moment may not be seen. */
  showed(text: string): Promise<void> {
    return this.until(text, () => this.history.includes(text));
  }

  /** Lines are edited and echoed by the kernel, as a shell leaves them to a program (termios(3)). */
  get isCooked(): boolean {
    const settings = execFileSync('stty', ['-F', this.path, '-a'], { encoding: 'utf8' });
    const words = settings.split(/\s+/);
    return ['icanon', 'echo', 'isig', 'opost', 'ixon'].every((word) => words.includes(word));
  }

  /** Whoever had it has given it back, and what it was told last has arrived. */
  isAsBefore(): Promise<void> {
    return this.until('a terminal as before', () => this.traces.length === 0);
  }

  /** What a shell would find changed in it; empty for a terminal as it was. */
  get traces(): string[] {
    const { modes, buffer } = this.emulator;
    const { _core } = this.emulator as unknown as { _core: { coreService: { isCursorHidden: boolean } } };
    return [
      ...(this.isCooked ? [] : ['raw']),
      ...(buffer.active.type === 'alternate' ? ['alternate screen'] : []),
      ...(_core.coreService.isCursorHidden ? ['hidden cursor'] : []),
      ...(modes.mouseTrackingMode === 'none' ? [] : [`mouse ${modes.mouseTrackingMode}`]),
      ...(modes.bracketedPasteMode ? ['bracketed paste'] : []),
      ...(modes.applicationCursorKeysMode ? ['application cursor keys'] : []),
      ...(modes.applicationKeypadMode ? ['application keypad'] : []),
      ...(modes.originMode ? ['origin mode'] : []),
      ...(modes.sendFocusMode ? ['focus events'] : []),
      ...(modes.insertMode ? ['insert mode'] : []),
      ...(modes.wraparoundMode ? [] : ['no wrapping']),
    ];
  }

  /** As when a window is closed or a connection breaks: whoever uses it is told by SIGHUP, and by EIO. */
  close(): void {
    if (this.#stream.destroyed) return;
    this.#keys.close();
    this.#stream.destroy();
    closeSync(this.#slave);
  }
}

export function testTerminal(size: Size = { cols: 80, rows: 24 }): TestTerminal {
  const terminal = new TestTerminal(size);
  onTestFinished(() => terminal.close());
  return terminal;
}

export function exited(child: ChildProcess): Promise<Exit> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode });
  }
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}
