/** One wrong bit in what the client has written: the same fact, or a failure with a name, and never another fact. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Note } from '../../machines/note.ts';
import { readLine } from '../../persistence/noteLine.ts';
import { SpoolLook } from '../../persistence/spool.ts';
import { bootId, client, clientBuiltWith, type Launcher, launcher } from './support/client.ts';

const isSoak = process.env.CUSTODY_SOAK === '1';

/** Files are tried with one bit of each byte, another one each time, and a client with one of every fourth byte; all in a soak. */
const isTried = (bit: number): boolean => isSoak || bit % 8 === (bit >> 3) % 8;

function flipped(bytes: Buffer, bit: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[bit >> 3]! ^= 1 << (bit & 7);
  return damaged;
}

/** Of the member at the end, the brace and the line feed. */
const sumBytes = ',"sum":""}\n'.length + 64;

const bits = (bytes: Buffer): number[] => Array.from({ length: bytes.length * 8 }, (_, bit) => bit);
const lookAt = (own: Launcher) =>
  new SpoolLook({ spoolDir: join(own.stateDir, 'spool'), producer: 'shell', bootId: bootId() });

it.each([
  ['reserve', ['--label', 'a "nightly" \\ é 😀', '--retry-of=q', '--worktree', '/']],
  ['bind', ['--pid', String(process.pid), '--worktree', '/']],
  ['exit', ['--code', '0']],
])('every bit of a note that says `%s`', (command, words) => {
  const own = launcher();
  own.note([command, 'r', ...words]);
  const [name = ''] = readdirSync(own.spool).filter((entry) => entry.endsWith('.json'));
  const path = join(own.spool, name);
  const bytes = readFileSync(path);
  const problems = bits(bytes).map((bit) => {
    const damaged = flipped(bytes, bit);
    if (isTried(bit) && command === 'bind') {
      writeFileSync(path, damaged);
      const { notes, lost } = own.taken();
      rmSync(`${path}.refused`, { force: true });
      expect({ bit, notes, lost }).toMatchObject({ bit, notes: [], lost: [{ from: 1, to: 1, why: 'refused' }] });
    }
    // Without its line feed it is a line all the same; that there is one is the file's affair.
    const read = readLine(damaged.subarray(0, -1));
    const isEnd = bit >> 3 === bytes.length - 1;
    expect({ bit, isFact: 'note' in read }).toEqual({ bit, isFact: isEnd });
    return 'note' in read ? '' : read.problem;
  });
  // All that it says; behind that is the sum itself.
  const said = problems.slice(0, (bytes.length - sumBytes) * 8);
  expect(new Set(said)).toEqual(new Set(['note_damaged']));
});

it('a line that a person keeps is held to its sum where it has one, and needs none', () => {
  const own = launcher();
  own.note(['exit', 'r', '--code', '0']);
  const [name = ''] = readdirSync(own.spool).filter((entry) => entry.endsWith('.json'));
  const line = readFileSync(join(own.spool, name), 'utf8').trimEnd();
  const { sum, ...said } = JSON.parse(line) as { sum: string };
  expect(readLine(Buffer.from(line))).toMatchObject({ note: { run: 'r' } });
  expect(readLine(Buffer.from(JSON.stringify(said)))).toMatchObject({ note: { run: 'r' } });
  expect(readLine(Buffer.from(JSON.stringify({ ...said, run: 's', sum })))).toEqual({ problem: 'note_damaged' });
  expect(readLine(Buffer.from(JSON.stringify({ sum, ...said })))).toMatchObject({ problem: 'not_a_note' });
});

it('a counter with a lower number gives none out again, which only its sum can tell', () => {
  const written = (program: string): readonly string[] => {
    const own = launcher();
    for (const run of ['a', 'b', 'c', 'd']) own.note(['exit', run, '--code', '0']);
    const { stream } = lookAt(own).counter!;
    lookAt(own).taken(stream, 4);
    const counter = join(own.spool, 'counter');
    writeFileSync(counter, readFileSync(counter, 'latin1').replace(/(?<= 0{19})5(?= )/, '1'));
    own.note(['exit', 'e', '--code', '0'], { program });
    const [{ seq, stream: now }] = own.notes() as [Note];
    return [now === stream ? 'the same stream' : 'another stream', `number ${seq}`];
  };
  expect(written(client())).toEqual(['another stream', 'number 2']);
  // Whoever had taken four numbers in would never hear of a loss up to there.
  expect(written(clientBuiltWith('WITHOUT_SUM'))).toEqual(['the same stream', 'number 1']);
});

it('every bit of the counter', () => {
  const own = launcher();
  for (const run of ['a', 'b', 'c']) own.note(['exit', run, '--code', '0']);
  const look = lookAt(own);
  look.taken(look.streams[0]!, 2);
  const counter = join(own.spool, 'counter');
  const bytes = readFileSync(counter);
  const before = lookAt(own);
  for (const bit of bits(bytes).filter(isTried)) {
    writeFileSync(counter, flipped(bytes, bit));
    const damaged = lookAt(own);
    expect({ bit, is: damaged.isCounterDamaged }).toEqual({ bit, is: true });
    const { notes: kept, lost: none } = damaged.read({ stream: look.streams[0]!, after: 2, limit: 9 });
    expect({ kept, none }).toMatchObject({ kept: [{ run: 'c' }], none: [] });
    if (!isSoak && (bit >> 3) % 4 !== 0) continue;
    own.note(['exit', 'd', '--code', '0']);
    const { counter: fresh } = lookAt(own);
    const { stream } = fresh!;
    expect(stream).not.toBe(before.counter!.stream);
    // Whatever the former stream had lost behind its last note: that there may be something shows as a loss of the new one.
    const { notes, lost } = lookAt(own).read({ stream, after: 0, limit: 9 });
    expect({ bit, notes, lost }).toMatchObject({ bit, notes: [{ run: 'd', seq: 2 }], lost: [{ from: 1, to: 1 }] });
    lookAt(own).taken(stream, 2);
  }
});
