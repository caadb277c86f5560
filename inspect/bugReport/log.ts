/** The end of the daemon's log: when, how grave, which of the program's own messages, and where in the program; no text of an error. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { allowed, redacted } from './redaction.ts';

const tailBytes = 262_144;

/** One line of JSON each, oldest first. Throws what open(2) and read(2) do. */
export function logTail(path: string): readonly string[] {
  const lines = lastBytes(path).split('\n').slice(1, -1);
  return lines.map((line) => JSON.stringify(entryOf(line)));
}

function lastBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, tailBytes));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    // A line break in front, so that the first line of a short log counts as whole.
    return `${size > tailBytes ? '' : '\n'}${buffer.toString('utf8')}`;
  } finally {
    closeSync(file);
  }
}

function entryOf(line: string): unknown {
  try {
    const { time, level, msg, error, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const kept = allowed(rest) as object;
    const numbers = { time: numberOr(time), level: numberOr(level) };
    return { ...numbers, msg: typeof msg === 'string' ? redacted(msg) : undefined, ...kept, at: framesOf(error) };
  } catch {
    return { unreadable: true };
  }
}

const numberOr = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** `name (file:line)` of the innermost frames: where it was, and not what it said. */
function framesOf(error: unknown): readonly string[] | undefined {
  const text = typeof error === 'string' ? error : (error as { readonly stack?: unknown } | undefined)?.stack;
  if (typeof text !== 'string') return undefined;
  const frames = text.matchAll(
    /^ +at (?:([\w.<>]{1,60}) )?\(?(?:file:\/\/)?\/?(?:[^\s()]*\/)?([\w.]{1,60}:\d+):\d+\)?$/gm,
  );
  return [...frames].slice(0, 8).map(([, name = '', place]) => `${name} (${place})`);
}
