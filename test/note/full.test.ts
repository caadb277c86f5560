/** A spool that nobody takes in: it stops growing, what came after that is one gap, and whoever takes it in lifts that. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Note } from '../../machines/note.ts';
import { SpoolLook } from '../../persistence/spool.ts';
import { bundled } from '../persistence/support/children.ts';
import type { LedgerLine } from './fixtures/taker.ts';
import { bootId, clientBuiltWith, editCounter, type Launcher, launcher } from './support/client.ts';

/** Full at four notes. */
const small = clientBuiltWith('SMALL_SPOOL');
const why = 'custody-note: this note is lost: the spool is full, and nobody takes it in: custody observe ingest\n';

const digits = (value: number) => String(value).padStart(20, '0');

const say = (own: Launcher, run: string, ...more: string[]) =>
  own.note(['exit', run, '--code', '0', ...more], { program: small });

/** Removes what is there, as if it were committed; how far it was. */
function taken(own: Launcher, upTo = Number.MAX_SAFE_INTEGER): void {
  const look = new SpoolLook({ spoolDir: join(own.stateDir, 'spool'), producer: 'shell', bootId: bootId() });
  for (const stream of look.streams) expect(look.taken(stream, upTo)).toBe(0);
}

it('is full at its bound: notes cost a number, the launcher hears why, and files stay as few (INT-05, FAULT-10)', () => {
  const own = launcher();
  for (const run of ['a', 'b', 'c', 'd']) expect(say(own, run)).toEqual({ code: 0, stderr: '' });
  for (const run of ['e', 'f', 'g']) expect(say(own, run)).toEqual({ code: 0, stderr: why });
  expect(say(own, 'h', '--strict')).toEqual({ code: 1, stderr: why });
  expect(readdirSync(own.spool)).toHaveLength(5);
  // Certain at once: with the client that ships the next note may be a long time off.
  expect(own.taken()).toMatchObject({
    notes: [{ run: 'a' }, { run: 'b' }, { run: 'c' }, { run: 'd', seq: 4 }],
    lost: [{ from: 5, to: 8, why: 'missing' }],
    unsettled: 0,
  });
  taken(own);
  for (const run of ['i', 'j', 'k', 'l']) expect(say(own, run).stderr).toBe('');
  expect(say(own, 'm').stderr).toBe(why);
  expect(own.notes().map(({ seq }) => seq)).toEqual([9, 10, 11, 12]);
});

it('is full at 10000 notes with the client that ships', () => {
  const own = launcher();
  own.note(['exit', 'a', '--code', '0']);
  const held = (from: number, to: number) =>
    editCounter(own, new RegExp(` ${digits(from)} (?=${digits(1)}-)`), ` ${digits(to)} `);
  held(1, 9_999);
  expect(own.note(['exit', 'b', '--code', '0']).stderr).toBe('');
  expect(own.note(['exit', 'c', '--code', '0']).stderr).toBe(why);
  held(10_000, 9_999);
  expect(own.note(['exit', 'd', '--code', '0']).stderr).toBe('');
});

it('takes notes again as soon as the first one is taken in, and never holds twice its bound', () => {
  const own = launcher();
  for (const run of ['a', 'b', 'c', 'd', 'e']) say(own, run);
  taken(own, 1);
  for (let round = 0; round < 12; round += 1) say(own, `r${round}`);
  expect(own.notes().map(({ run }) => run)).toEqual(['b', 'c', 'd', 'r0', 'r1', 'r2', 'r3']);
  expect(own.taken().lost).toMatchObject([
    { from: 1, to: 1 },
    { from: 5, to: 5 },
    { from: 10, to: 17 },
  ]);
});

it('stays full into another stream, whose notes would lie beside those that nobody has taken in', () => {
  const own = launcher();
  for (const run of ['a', 'b', 'c', 'd']) say(own, run);
  editCounter(own, bootId(), '00000000-0000-4000-8000-000000000000');
  expect(say(own, 'e').stderr).toBe(why);
  expect(own.taken()).toMatchObject({ notes: [{}, {}, {}, {}], lost: [{ from: 1, to: 1 }], unsettled: 0 });
  taken(own);
  expect(say(own, 'f').stderr).toBe('');
  expect(own.notes()).toMatchObject([{ run: 'f', seq: 2 }]);
});

const taker = bundled('test/note/fixtures/taker.ts', 'taker');

it('is taken in by somebody who is killed at every step, once each, and the lost ones are one gap', () => {
  const own = launcher();
  const ledger = join(own.dir, 'ledger');
  const take = (steps: number) =>
    spawnSync(process.execPath, [taker, join(own.stateDir, 'spool'), 'shell', bootId(), ledger, String(steps)]);
  for (const run of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) say(own, run);
  // Another step each time: what one has done, the next one begins with.
  for (let steps = 1; take(steps).signal === 'SIGKILL'; steps += 1);
  const lines = readFileSync(ledger, 'utf8').trim().split('\n');
  const committed = lines.map((line) => JSON.parse(line) as LedgerLine);
  expect(committed.flatMap(({ runs }) => runs)).toEqual(['a', 'b', 'c', 'd']);
  expect(committed.flatMap(({ lost }) => lost)).toEqual([[5, 7]]);
  expect(readdirSync(own.spool)).toEqual(['counter']);
  expect(say(own, 'h').stderr).toBe('');
  expect(own.notes()).toMatchObject([{ run: 'h', seq: 8 }]);
});

it('goes on from the counter of a client that had none of this, in another stream, and keeps what that had lost', () => {
  const own = launcher();
  for (const run of ['a', 'b']) own.note(['exit', run, '--code', '0']);
  const [{ stream }] = own.notes() as [Note];
  // It had given out three numbers, and two notes never had one.
  const record = `custody-notes 1 ${stream} ${digits(4)} ${digits(0)} ${bootId()}\n..`;
  writeFileSync(join(own.spool, 'counter'), record);
  expect(own.taken()).toMatchObject({ notes: [{ run: 'a' }, { run: 'b' }], lost: [], unsettled: 3 });
  for (const run of ['c', 'd']) expect(say(own, run).stderr).toBe('');
  const look = new SpoolLook({ spoolDir: join(own.stateDir, 'spool'), producer: 'shell', bootId: bootId() });
  const [former, present] = look.streams.map((one) => look.read({ stream: one, after: 0, limit: 9 }));
  expect(former).toMatchObject({ notes: [{ run: 'a' }, { run: 'b' }], lost: [{ from: 3, to: 3 }] });
  expect(present).toMatchObject({ notes: [{ run: 'c', seq: 3 }, { run: 'd' }], lost: [{ from: 1, to: 2 }] });
  expect(look.unsettled(0)).toBe(0);
});
