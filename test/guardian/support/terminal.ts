import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { onTestFinished } from 'vitest';
import { nodePty } from '../../../pty/host/nodePty.ts';
import { createEndMarkerScanner } from '../../../pty/launch/endMarker.ts';
import { eventually } from '../../support/eventually.ts';
import type { LaunchChanges, Scope } from './scope.ts';
import { gated, workDirectory } from './scope.ts';

/** A pseudo terminal with a reader, as a person would see it. */
export interface Terminal {
  readonly slave: number;
  readonly path: string;
  readonly nonce: string;
  type(text: string): void;
  resize(cols: number, rows: number): void;
  /** Everything that has been read, without the marker. */
  output(): Buffer;
  /** Resolves when the text stands in the output, behind the place where the last call found its own. */
  saw(text: string | RegExp): Promise<void>;
  /** Resolves when the end marker has been read; rejects when the terminal ends without it. */
  readonly marked: Promise<void>;
  /** Resolves when nothing more can be read, marker or not. */
  readonly ended: Promise<void>;
  pause(): void;
  resume(): void;
  /** Hangs up. */
  close(): void;
}

function withinOutput(text: string | RegExp, output: string): number {
  if (typeof text === 'string') return output.includes(text) ? output.indexOf(text) + text.length : -1;
  const found = text.exec(output);
  return found === null ? -1 : found.index + found[0].length;
}

function settleable(): { promise: Promise<void>; resolve(): void; reject(error: Error): void } {
  let [resolve, reject] = [() => {}, (_error: Error) => {}];
  const promise = new Promise<void>((yes, no) => {
    [resolve, reject] = [yes, no];
  });
  return { promise, resolve, reject };
}

export function openTerminal(): Terminal {
  const { master, slave, pty } = nodePty.open(80, 24);
  const nonce = randomBytes(16).toString('hex');
  const scanner = createEndMarkerScanner(nonce);
  const stream = new ReadStream(master);
  const pieces: Buffer[] = [];
  const waiting = new Set<() => void>();
  const [mark, end] = [settleable(), settleable()];
  mark.promise.catch(() => undefined);
  let [isOpen, seen] = [true, 0];
  stream.on('data', (chunk: Buffer) => {
    pieces.push(...scanner.push(chunk));
    for (const look of waiting) look();
    if (scanner.isReached) mark.resolve();
  });
  stream.on('error', () => undefined); // EIO: how a terminal without anybody at its other end is read
  stream.on('close', () => {
    mark.reject(new Error(`no marker behind ${JSON.stringify(output().toString())}`));
    end.resolve();
  });
  const output = () => Buffer.concat(pieces);
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(slave);
    stream.destroy();
  };
  onTestFinished(close);
  return {
    slave,
    path: pty,
    nonce,
    type: (text) => void writeSync(master, text),
    resize: (cols, rows) => nodePty.resize(master, cols, rows),
    output,
    saw: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = withinOutput(text, output().toString().slice(seen));
          if (found < 0) return;
          seen += found;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void end.promise.then(() => reject(new Error(`no ${text} in ${JSON.stringify(output().toString())}`)));
        look();
      }),
    marked: mark.promise,
    ended: end.promise,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close,
  };
}

/**
 * Whether a guardian that has ended has written its marker: everything that it wrote comes before what we write now.
 * Without blocking, because a terminal that has been stopped would not take it.
 */
export async function isMarked(terminal: Terminal): Promise<boolean> {
  const fd = openSync(terminal.path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  await eventually('a word behind the last one', () => {
    try {
      return writeSync(fd, '=behind=') === 8 || undefined;
    } catch {
      return undefined; // EAGAIN
    }
  });
  closeSync(fd);
  return Promise.race([terminal.marked.then(() => true), terminal.saw('=behind=').then(() => false)]);
}

export interface TerminalScope extends Scope {
  readonly terminal: Terminal;
}

export interface TerminalChanges extends LaunchChanges {
  readonly lingerMs?: number;
  /** False: the test itself says when the output has been read. */
  readonly acknowledges?: boolean;
  /** A terminal that somebody else has opened. */
  readonly terminalOf?: Terminal;
}

/** What a person's shell would find; nothing from the machine that the test runs on. */
export function terminalEnv(): Record<string, string> {
  const home = workDirectory();
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    TERM: 'xterm-256color',
    LC_ALL: 'C.UTF-8',
    PS1: '@ ',
  };
}

/** Launches on a new terminal, up to the gate. */
export async function gatedInTerminal(
  argv: readonly string[],
  { lingerMs = 60_000, acknowledges = true, terminalOf, ...changes }: TerminalChanges = {},
): Promise<TerminalScope> {
  const terminal = terminalOf ?? openTerminal();
  const { slave, nonce: marker } = terminal;
  const scope = await gated(argv, {
    env: terminalEnv(),
    stdio: [slave, slave, slave],
    terminal: { marker, lingerMs },
    ...changes,
  });
  onTestFinished(() => {
    scope.launch.acknowledgeOutput();
    terminal.close();
  });
  if (acknowledges) terminal.marked.then(scope.launch.acknowledgeOutput, () => undefined);
  return { ...scope, terminal };
}

/** Launches on a new terminal and opens the gate. */
export async function runInTerminal(argv: readonly string[], changes: TerminalChanges = {}): Promise<TerminalScope> {
  const scope = await gatedInTerminal(argv, changes);
  await scope.launch.openGate();
  return scope;
}
