/** The real client, and variants of it with one guard taken away (test/guardian/support/programs.ts has the manner). */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Note } from '../../../machines/note.ts';
import { readLine } from '../../../persistence/noteLine.ts';
import { type LostNotes, SpoolLook } from '../../../persistence/spool.ts';
import { buildNote } from '../../../pty/note/build.mjs';
import { eventually } from '../../support/eventually.ts';
import { patienceMs } from '../../support/patience.ts';

const variants = fileURLToPath(new URL('../../../pty/note/build/test', import.meta.url));

/** The client that ships. */
export const client = (): string => buildNote();

/** `WITHOUT_PIDFD` is an older kernel, `SMALL_SPOOL` is full at four notes. `TEST_STEPS` takes nothing away; it lets a test stop or kill the working process at a named step, or after a time. */
export type NoteSwitch =
  | 'WITHOUT_LOCK'
  | 'WITHOUT_FORK'
  | 'WITHOUT_DRAFT'
  | 'WITHOUT_TRACE'
  | 'WITHOUT_FOLDING'
  | 'WITHOUT_NOFOLLOW'
  | 'WITHOUT_OWNER_CHECK'
  | 'WITHOUT_PIDFD'
  | 'WITHOUT_SUM'
  | 'SMALL_SPOOL'
  | 'TEST_STEPS';

export function clientBuiltWith(...options: readonly NoteSwitch[]): string {
  const defines = options.map((option) => `CUSTODY_${option}`);
  return buildNote({ outDir: join(variants, options.join('+')), defines, quick: true });
}

export interface Spoken {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Launcher {
  readonly dir: string;
  readonly stateDir: string;
  readonly env: Record<string, string>;
  /** The producer's directory. */
  readonly spool: string;
  /** Runs the client with these words, with patience instead of its own bound. */
  note(words: readonly string[], how?: { program?: string; env?: Record<string, string>; cwd?: string }): Spoken;
  /** Every note that is there, in order, each as the schema wants it. */
  notes(): readonly Note[];
  /** What the reading side makes of it. */
  taken(): { readonly notes: readonly Note[]; readonly lost: readonly LostNotes[]; readonly unsettled: number };
}

export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

const outcome = ({ status, stderr }: SpawnSyncReturns<string>): Spoken => ({ code: status, stderr });

export const patient = `--wait=${patienceMs}`;

function noteOf(line: Buffer): Note {
  const read = readLine(line.subarray(0, -1));
  if ('note' in read) return read.note;
  throw new Error(JSON.stringify(read));
}

/** A launcher with a state directory of its own, which nobody has made yet. */
export function launcher(stateDir?: string, producer = 'shell'): Launcher {
  const dir = mkdtempSync(join(tmpdir(), 'custody-note-'));
  onTestFinished(() => {
    chmodSync(dir, 0o700);
    rmSync(dir, { recursive: true, force: true });
  });
  const state = stateDir ?? join(dir, 'state');
  const env = { PATH: process.env.PATH!, HOME: dir, CUSTODY_HOME: state };
  const spool = join(state, 'spool', producer);
  return {
    dir,
    stateDir: state,
    env,
    spool,
    note: (words, { program = client(), env: more = {}, cwd = dir } = {}) =>
      outcome(spawnSync(program, [...words, patient], { env: { ...env, ...more }, cwd, encoding: 'utf8' })),
    notes: () =>
      readdirSync(spool)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((name) => noteOf(readFileSync(join(spool, name)))),
    taken: () => readEverything(state, producer),
  };
}

/** Makes the counter say something else, with the right sum. */
export function editCounter({ spool }: Pick<Launcher, 'spool'>, what: RegExp | string, by: string): void {
  const path = join(spool, 'counter');
  const text = readFileSync(path, 'latin1');
  const said = text.slice(0, counterSaid).replace(what, by);
  writeFileSync(path, `${said}${createHash('sha256').update(said).digest('hex')}${text.slice(counterSaid + 64)}`);
}

/** Bytes of the record before its sum (pty/note/record.c). */
const counterSaid = 224;

/** All streams from their beginning. */
export function readEverything(stateDir: string, producer: string): ReturnType<Launcher['taken']> {
  const look = new SpoolLook({ spoolDir: join(stateDir, 'spool'), producer, bootId: bootId() });
  const batches = look.streams.map((stream) => look.read({ stream, after: 0, limit: 100_000 }));
  const last = batches.at(-1)?.upTo ?? 0;
  return {
    notes: batches.flatMap(({ notes }) => notes),
    lost: batches.flatMap(({ lost }) => lost),
    unsettled: look.unsettled(last),
  };
}

/** The fork of a test build's client, once it has stopped itself at the step that was asked for. */
export function stopped(caller: number): Promise<number> {
  return eventually('the client stops at a step', () => {
    const [child] = readFileSync(`/proc/${caller}/task/${caller}/children`, 'utf8').split(' ');
    return child && /\) T /.test(readFileSync(`/proc/${child}/stat`, 'utf8')) ? Number(child) : undefined;
  });
}
