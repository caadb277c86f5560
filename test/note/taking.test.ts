/** Writers and a reader at the same time, and a reader that is killed over and over: nothing is lost, nothing comes twice. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import type { Note } from '../../machines/note.ts';
import { SpoolLook } from '../../persistence/spool.ts';
import { noteName } from '../../persistence/spoolNames.ts';
import type { LedgerLine } from './fixtures/taker.ts';
import { bootId, client, clientBuiltWith, editCounter, type Launcher, launcher, patient } from './support/client.ts';

const directory = fileURLToPath(new URL('../../node_modules/.cache/custody-tests', import.meta.url));
const taker = join(directory, 'taker.mjs');
mkdirSync(directory, { recursive: true });
buildSync({
  entryPoints: [fileURLToPath(new URL('fixtures/taker.ts', import.meta.url))],
  outfile: taker,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
});

/** `shells` shells that write `each` notes, under way. */
function writing(own: Launcher, shells: number, each: number): { readonly done: Promise<unknown>; isOver(): boolean } {
  const loop = `n=0; while [ $n -lt ${each} ]; do n=$((n+1)); '${client()}' exit "$0-$n" --code 0 ${patient}; done`;
  let over = 0;
  const one = (shell: number) =>
    new Promise<void>((resolve, reject) =>
      execFile('sh', ['-c', loop, `s${shell}`], { env: own.env }, (error) => {
        over += 1;
        if (error) reject(error);
        else resolve();
      }),
    );
  const done = Promise.all(Array.from({ length: shells }, (_, shell) => one(shell)));
  return { done, isOver: () => over === shells };
}

it('a reader among writers never takes for lost what is only late', async () => {
  const own = launcher();
  const before = 20_000;
  own.note(['exit', 'first', '--code', '0']);
  const [{ stream }] = own.notes() as readonly Note[] as [Note];
  // With so many names a listing takes its time, and notes are written behind its back. Their content is not asked for.
  for (let seq = 2; seq <= before; seq += 1) writeFileSync(join(own.spool, noteName(stream, seq)), '');
  editCounter(own, /(?<= )0{19}2(?= )/, String(before + 1).padStart(20, '0'));
  const { done, isOver } = writing(own, 4, 150);
  let looks = 0;
  for (let seen = 0; !isOver(); looks += 1) {
    const look = new SpoolLook({ spoolDir: join(own.stateDir, 'spool'), producer: 'shell', bootId: bootId() });
    const { lost, notes } = look.read({ stream, after: before, limit: 10_000 });
    expect(lost).toEqual([]);
    expect(notes.length).toBeGreaterThanOrEqual(seen);
    seen = notes.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
  expect(looks).toBeGreaterThan(3);
  const { notes, lost } = new SpoolLook({
    spoolDir: join(own.stateDir, 'spool'),
    producer: 'shell',
    bootId: bootId(),
  }).read({
    stream,
    after: before,
    limit: 10_000,
  });
  expect({ lost, notes: notes.length }).toEqual({ lost: [], notes: 600 });
});

const ledgerOf = (path: string): LedgerLine[] =>
  (existsSync(path) ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerLine);

it('a reader that is killed at every step takes each note in once, and what is lost once', () => {
  const own = launcher();
  const ledger = join(own.dir, 'ledger');
  const killed = { program: clientBuiltWith('TEST_STEPS'), env: { CUSTODY_TEST_STEP: 'kill:synced' } };
  const take = (steps: number) =>
    spawnSync(process.execPath, [taker, join(own.stateDir, 'spool'), 'shell', bootId(), ledger, String(steps)], {
      encoding: 'utf8',
    });
  const rounds = 24;
  for (let round = 1; round <= rounds; round += 1) {
    for (const part of ['a', 'b', 'c']) own.note(['exit', `r${round}${part}`, '--code', '0']);
    if (round % 3 === 0) own.note(['exit', `lost${round}`, '--code', '0'], killed);
    const { signal, stderr } = take((round % 12) + 1);
    expect({ stderr, isExpected: signal === 'SIGKILL' || signal === null }).toEqual({ stderr: '', isExpected: true });
  }
  own.note(['exit', 'last', '--code', '0']);
  expect(take(0).status).toBe(0);
  const lines = ledgerOf(ledger);
  const expected = Array.from({ length: rounds }, (_, at) => ['a', 'b', 'c'].map((part) => `r${at + 1}${part}`)).flat();
  expect(lines.flatMap(({ runs }) => runs)).toEqual([...expected, 'last']);
  expect(lines.flatMap(({ lost }) => lost).reduce((sum, [from, to]) => sum + to - from + 1, 0)).toBe(rounds / 3);
  expect(readdirSync(own.spool)).toEqual(['counter']);
});
