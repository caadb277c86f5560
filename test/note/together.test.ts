/** Numbers under contention and death: what is missing was lost, and everything that was lost is missing. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { LostNotes } from '../../persistence/spool.ts';
import { client, clientBuiltWith, type Launcher, launcher, patient } from './support/client.ts';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const numbers = (lost: readonly LostNotes[]): number[] => lost.flatMap(({ from, to }) => range(from, to));

/** Every number that was given out is either there or lost, and none is both. */
function expectAccounted(own: Launcher, given: number): void {
  const { notes, lost, unsettled } = own.taken();
  const seen = [...notes.map(({ seq }) => seq), ...numbers(lost)].sort((a, b) => a - b);
  expect(seen).toEqual(range(1, given - unsettled));
}

async function shells(own: Launcher, program: string): Promise<void> {
  const loop = `for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do '${program}' exit "$0-$n" --code 0 ${patient}; done`;
  const all = range(1, 8).map((shell) => promisify(execFile)('sh', ['-c', loop, `s${shell}`], { env: own.env }));
  await Promise.all(all);
}

it('200 notes of 8 shells at once have 200 numbers, none missing, none twice (INT-05)', async () => {
  const own = launcher();
  await shells(own, client());
  const notes = own.notes();
  expect(notes.map(({ seq }) => seq)).toEqual(range(1, 200));
  expect(new Set(notes.map(({ run }) => run)).size).toBe(200);
  for (const shell of range(1, 8)) {
    const order = notes.map(({ run }) => run).filter((run) => run.startsWith(`s${shell}-`));
    expect(order).toEqual(range(1, 25).map((n) => `s${shell}-${n}`));
  }
  expectAccounted(own, 200);
});

it('without the lock that does not hold', async () => {
  const own = launcher();
  const program = clientBuiltWith('WITHOUT_LOCK');
  // One run of a race proves nothing; that it never shows in twenty would.
  for (const _ of range(1, 20)) {
    rmSync(own.stateDir, { recursive: true, force: true });
    await shells(own, program);
    if (own.notes().length < 200) return;
  }
  expect.unreachable('200 notes of 8 shells never met');
});

const steps = [
  ...['entered', 'locked', 'numbered', 'draftMade', 'headWritten', 'bodyWritten', 'synced', 'linked'],
] as const;

describe.each(steps)('a call that is killed at the step %s', (name) => {
  it('leaves a whole note, a hole, or nothing, and the next call goes on', () => {
    const own = launcher();
    const program = clientBuiltWith('TEST_STEPS');
    own.note(['exit', 'before', '--code', '0']);
    const { code, stderr } = own.note(['exit', 'killed', '--code', '0'], {
      program,
      env: { CUSTODY_TEST_STEP: `kill:${name}` },
    });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'custody-note: this note is lost: the process that wrote it was ended\n',
    });
    own.note(['exit', 'after', '--code', '0']);
    const { notes, lost, unsettled } = own.taken();
    const isNumbered = name !== 'entered' && name !== 'locked';
    expect(notes.map(({ run }) => run)).toEqual(
      name === 'linked' ? ['before', 'killed', 'after'] : ['before', 'after'],
    );
    expect(numbers(lost)).toEqual(isNumbered && name !== 'linked' ? [2] : []);
    expect(unsettled).toBe(0);
    expect(readdirSync(own.spool)).not.toContain('.note');
  });
});

it('without a draft, a killed call leaves half a note under its number', () => {
  const own = launcher();
  const program = clientBuiltWith('TEST_STEPS', 'WITHOUT_DRAFT');
  own.note(['exit', 'killed', '--code', '0'], { program, env: { CUSTODY_TEST_STEP: 'kill:headWritten' } });
  own.note(['exit', 'after', '--code', '0'], { program });
  expect(own.taken()).toMatchObject({ notes: [{ seq: 2 }], lost: [{ from: 1, to: 1, why: 'refused' }] });
});

/** Fewer than fill a spool, of which some leave a note. */
const rounds = Number(process.env.CUSTODY_SOAK ? 10_000 : 150);

/** A small linear congruential generator: the seed is the test's. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

it(`after SIGKILL at ${rounds} seeded instants every number is a whole note or a known loss`, ({ annotate }) => {
  const own = launcher();
  const program = clientBuiltWith('TEST_STEPS');
  const dice = random(20_260_101);
  for (const round of range(1, rounds)) {
    const after = Math.floor(dice.next().value * 3_000_000);
    own.note(['bind', `r${round}`, '--pid', String(process.pid)], {
      program,
      env: { CUSTODY_TEST_KILL_NS: String(Math.max(1, after)) },
    });
  }
  own.note(['exit', 'last', '--code', '0']);
  const { notes, lost, unsettled } = own.taken();
  const given = notes.at(-1)!.seq;
  expect(unsettled).toBe(0);
  expect(given).toBeLessThanOrEqual(rounds + 1);
  expectAccounted(own, given);
  expect(lost.every(({ why }) => why === 'missing')).toBe(true);
  expect(new Set(notes.map(({ run }) => run)).size).toBe(notes.length);
  expect(notes.length).toBeGreaterThan(1);
  void annotate(`${rounds} kills of the client: ${notes.length - 1} notes, ${numbers(lost).length} holes`);
});

it('makes the counter once, however many begin at the same time, and whoever dies over it', async () => {
  const own = launcher();
  own.note(['exit', 'killed', '--code', '0'], {
    program: clientBuiltWith('TEST_STEPS'),
    env: { CUSTODY_TEST_STEP: 'kill:counterMade' },
  });
  expect(existsSync(join(own.spool, 'counter'))).toBe(false);
  await shells(own, client());
  expect(own.notes().map(({ seq }) => seq)).toEqual(range(1, 200));
  expect(new Set(own.notes().map(({ stream }) => stream)).size).toBe(1);
});
