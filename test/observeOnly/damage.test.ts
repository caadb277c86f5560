/**
 * Ruling 27, JRN-09, JRN-10: one bit of the store is wrong, any bit. What observes then answers as if nothing were wrong,
 * or refuses with a code that says what is, or the full check of `doctor` names it. It never takes a note out of the spool
 * that it does not know of, and what it refuses stays as it is.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { openStore } from '../../persistence/store.ts';
import { bind, exit, reserve } from '../ingest/support/notes.ts';
import { client } from '../note/support/client.ts';
import { job, launcher, Observing } from './support/observing.ts';
import { type Said, shipped } from './support/shipped.ts';

const isSoak = process.env.CUSTODY_SOAK === '1';
const commands = [['status'], ['coverage', '--all'], ['ingest'], ['reconcile', '--max-ms', '60000']] as const;
type Files = ReadonlyMap<string, Buffer>;

function filesBelow(directory: string): Files {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name))] as const),
  );
}

/** In place: another inode would be another file, and looked at as a copy. */
function restore(directory: string, files: Files): void {
  for (const path of filesBelow(directory).keys()) if (!files.has(path)) rmSync(path);
  for (const [path, bytes] of files) writeFileSync(path, bytes, { mode: 0o600 });
}

/** What answers have in common whenever they are asked for. */
const timeless = (value: unknown): string =>
  JSON.stringify(value, (key, inner) => (/^(elapsed|reads$|wallMs$|closedWallMs$)/.test(key) ? undefined : inner));

/** Of every kind that observing keeps: runs that live, that pause and that have ended, gaps, a worktree, notes that wait. */
async function occupied(): Promise<{ observing: Observing; noteIn: (...words: string[]) => void }> {
  // What pauses goes on pausing for as long as this test takes.
  const observing = new Observing([
    'env',
    'CUSTODY_RETRY_BACKOFF_MS=600000',
    'CUSTODY_RETRY_BACKOFF_LONGEST_MS=600000',
  ]);
  const note = launcher();
  const [living, hidden, over] = [await job(), await job(), await job()];
  const inAnother = { ...hidden.process, pidns: '1' };
  await observing.ingest([
    note(reserve('a', { place: observing.place() })),
    note(bind('a', { process: living.process })),
    note(bind('b', { process: inAnother })),
    note(bind('c', { process: over.process })),
    note(exit('x'), 9),
  ]);
  await observing.observe(['reconcile']);
  await over.end();
  const noteIn = (...words: string[]) =>
    void expect(spawnSync(client(), [...words, '--wait=60000'], { env: observing.env }).status).toBe(0);
  noteIn('reserve', 's0');
  await observing.observe(['reconcile']);
  noteIn('reserve', 's1', '--worktree', observing.repo);
  noteIn('bind', 's2', '--pid', String(hidden.child.pid));
  noteIn('exit', 's3', '--code', '3');
  return { observing, noteIn };
}

interface Outcome {
  readonly said: Said;
  /** The answer, and everything that can be seen afterwards. */
  readonly state: string;
}

class Damaging {
  readonly #stateDir: string;
  readonly #files: Files;
  readonly #right = new Map<string, string>();
  #eventsBefore = 0;

  constructor(stateDir: string, files: Files) {
    this.#stateDir = stateDir;
    this.#files = files;
  }

  async learn(): Promise<void> {
    restore(this.#stateDir, this.#files);
    this.#eventsBefore = this.#events();
    for (const args of commands) {
      restore(this.#stateDir, this.#files);
      const { said, state } = await this.#run(args);
      expect(said).toMatchObject({ code: 0, json: { ok: true } });
      this.#right.set(args[0], state);
    }
  }

  /** The database as somebody leaves it who changes a row and no digest. */
  edited(sql: string): [path: string, bytes: Buffer] {
    restore(this.#stateDir, this.#files);
    const path = join(this.#stateDir, 'custody.db');
    const editor = new Database(path);
    expect(editor.prepare(sql).run().changes).toBeGreaterThan(0);
    editor.close();
    return [path, readFileSync(path)];
  }

  bytesOf(name: string): [path: string, bytes: Buffer] {
    return [...this.#files].find(([path]) => path.endsWith(name))!;
  }

  /** What became of a command on the files with this one changed: `same`, an error code, or `doctor`. Fails for anything else. */
  async judge(args: readonly string[], path: string, bytes: Buffer): Promise<string> {
    const damaged = new Map(this.#files).set(path, bytes);
    restore(this.#stateDir, damaged);
    const { said, state } = await this.#run(args);
    this.#expectNoNoteLost();
    if (state === this.#right.get(args[0]!)) return 'same';
    if (said.json.ok === false) {
      expect(said).toMatchObject({ code: expect.toBeOneOf([9, 10]), json: { error: { code: expect.any(String) } } });
      if (args[0] === 'status' || args[0] === 'coverage')
        for (const [name, before] of damaged)
          expect(readFileSync(name).equals(before), `${name} after ${args[0]}`).toBe(true);
      return said.json.error.code;
    }
    if (said.json.warnings.length > 0) return 'warned';
    restore(this.#stateDir, damaged);
    expect(await this.#doctorFinds(), `${state}\ninstead of\n${this.#right.get(args[0]!)}`).toBe(true);
    return 'doctor';
  }

  async #run(args: readonly string[]): Promise<Outcome> {
    const said = await shipped(this.#stateDir, args);
    const spool = [...filesBelow(this.#stateDir)].filter(([path]) => path.includes('/spool/'));
    const changes = args[0] === 'ingest' || args[0] === 'reconcile';
    const then = changes ? [await this.#view('status'), await this.#view('coverage', '--all')] : [];
    return { said, state: timeless([said, then, spool.map(([path, bytes]) => [path, bytes.toString('latin1')])]) };
  }

  async #view(...args: string[]): Promise<unknown> {
    const { code, json } = await shipped(this.#stateDir, args);
    return [code, json.ok === false ? json.error.code : json.data];
  }

  async #doctorFinds(): Promise<boolean> {
    const store = openStore({ stateDir: this.#stateDir, clock: createSystemClock(), create: false });
    try {
      return !(await store.check()).ok;
    } finally {
      store.close();
    }
  }

  /** What has left the spool was committed: with at least one event for each note here. */
  #expectNoNoteLost(): void {
    const isNote = (path: string) => /\d{20}-.*\.json$/.test(path);
    const kept = filesBelow(this.#stateDir);
    const gone = [...this.#files.keys()].filter((path) => isNote(path) && !kept.has(path)).length;
    const aside = [...kept.keys()].filter((path) => path.endsWith('.refused')).length;
    if (gone > aside) expect(this.#events() - this.#eventsBefore).toBeGreaterThanOrEqual(gone - aside);
  }

  #events(): number {
    const look = new Database(join(this.#stateDir, 'custody.db'), { readonly: true });
    try {
      return look.prepare('SELECT max(position) FROM journal').pluck().get() as number;
    } finally {
      look.close();
    }
  }
}

/** Seeded (Numerical Recipes' LCG), so that what fails once fails again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Most of a page is empty, and a bit there is nobody's. */
const filled = (bytes: Buffer): number[] => [...bytes.keys()].filter((at) => bytes[at] !== 0);

/** `isLogged` is what a killed process leaves: its last commits are in the log alone. */
async function prepare(isLogged: boolean): Promise<Damaging> {
  const { observing, noteIn } = await occupied();
  const reader = new Database(join(observing.stateDir, 'custody.db'));
  if (isLogged) {
    // While somebody else has the file open, nobody who leaves moves the log into it.
    reader.prepare('SELECT count(*) FROM actors').get();
    for (const run of ['w1', 'w2', 'w3']) await observing.ingest([launcher({ producer: run })(reserve(run))]);
    noteIn('exit', 's4', '--code', '0');
  }
  const files = [...filesBelow(observing.stateDir)].filter(([path]) => !path.endsWith('-shm'));
  reader.close();
  const damaging = new Damaging(observing.stateDir, new Map(files));
  await damaging.learn();
  return damaging;
}

describe('a bit that is wrong', () => {
  it.for([
    { what: 'the database', name: 'custody.db', isLogged: false, flips: isSoak ? 1_500 : 40 },
    { what: 'the write-ahead log', name: 'custody.db-wal', isLogged: true, flips: isSoak ? 500 : 16 },
  ])('of $what is noticed where it would matter', async ({ name, isLogged, flips }, { annotate }) => {
    const damaging = await prepare(isLogged);
    const [path, bytes] = damaging.bytesOf(name);
    const places = filled(bytes);
    const next = numbers(flips);
    const became: Record<string, number> = {};
    for (let flip = 0; flip < flips; flip += 1) {
      const damaged = Buffer.from(bytes);
      const at = places[next(places.length)]!;
      damaged[at] = damaged[at]! ^ (1 << next(8));
      for (const args of isSoak ? commands : [commands[flip % commands.length]!]) {
        const kind = await damaging.judge(args, path, damaged);
        became[kind] = (became[kind] ?? 0) + 1;
      }
    }
    await annotate(`${flips} bits of ${name}: ${JSON.stringify(became)}`);
  });

  it('in a row or in the schema that would decide something wrongly is refused, or found by the full check', async () => {
    const damaging = await prepare(false);
    for (const [sql, args, ends] of [
      ['UPDATE producers SET taken = taken + 1024 WHERE lost = 0', commands[2], 'store_corrupt'],
      ["UPDATE coverage_gaps SET kind = 'notg_lost'", commands[1], 'store_corrupt'],
      ["UPDATE meta SET value = 'I0000000000' WHERE name = 'store.installationId'", commands[3], 'store_corrupt'],
      ['UPDATE freshness SET retry_mono_ms = retry_mono_ms + 1000000000000', commands[3], 'doctor'],
      ["UPDATE passes SET outcomes = '{'", commands[0], 'doctor'],
    ] as const)
      expect([sql, await damaging.judge(args, ...damaging.edited(sql))]).toEqual([sql, ends]);

    const [path, bytes] = damaging.bytesOf('custody.db');
    for (const word of ['last_note_wall_ms INTEGER', 'meta (\n']) {
      const damaged = Buffer.from(bytes);
      // Pages that are free now still show older texts.
      for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) damaged[at] = damaged[at]! ^ 1;
      for (const args of commands) expect(await damaging.judge(args, path, damaged)).toBe('store_corrupt');
    }
  });

  it('in lock.db, where nothing belongs, is no lock', async () => {
    const observing = new Observing();
    await observing.observe(['status']);
    writeFileSync(join(observing.stateDir, 'lock.db'), 'x'.repeat(4_096));
    expect(await observing.observe(['ingest'])).toMatchObject({ code: 9, json: { error: { code: 'store_corrupt' } } });
  });
});
