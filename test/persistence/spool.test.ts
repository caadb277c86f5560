/** The reading side of notes over real directories: what a launcher or a stranger has left there, in any state. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Note, noteBytes } from '../../machines/note.ts';
import { listProducers, SpoolLook } from '../../persistence/spool.ts';
import { bundled } from './support/children.ts';
import { thrownBy } from './support/thrown.ts';

const bootId = '6f3c9a52-1111-4222-8333-944455566677';
const stream = 'a'.repeat(32);
const shortage = bundled('test/persistence/fixtures/spoolShortage.ts', 'spoolShortage');
const nameOf = (seq: number, of = stream): string => `${String(seq).padStart(20, '0')}-${of}.json`;

class Spool {
  readonly dir = mkdtempSync(join(tmpdir(), 'custody-spool-'));
  readonly path = join(this.dir, 'make');

  constructor() {
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
    mkdirSync(this.path, { mode: 0o700 });
  }

  note(seq: number, changes: Partial<Note> = {}, of = stream): string {
    const note = {
      ...{ v: 1, producer: 'make', stream: of, seq, at: { wallMs: 1, monoMs: 1, bootId } },
      ...{ type: 'run.exit', run: `r${seq}`, code: 0, signal: null },
      ...changes,
    };
    return this.file(seq, `${JSON.stringify(note)}\n`, of);
  }

  file(seq: number, content: string | Buffer, of = stream): string {
    const path = join(this.path, nameOf(seq, of));
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  counter(given: number, { folded = 0, traces = 0, of = stream, boot = bootId } = {}): void {
    const digits = (value: number) => String(value).padStart(20, '0');
    const record = `custody-notes 1 ${of} ${digits(given + 1)} ${digits(folded)} ${boot}\n`;
    writeFileSync(join(this.path, 'counter'), record + '.'.repeat(traces), { mode: 0o600 });
  }

  look = (): SpoolLook => new SpoolLook({ spoolDir: this.dir, producer: 'make', bootId });

  read = (after = 0, limit = 100) => this.look().read({ stream, after, limit });
}

it('gives notes in order, in batches, each batch with its end', () => {
  const spool = new Spool();
  for (const seq of [3, 1, 2, 5, 4]) spool.note(seq);
  spool.counter(5);
  const look = spool.look();
  expect(look.streams).toEqual([stream]);
  const first = look.read({ stream, after: 0, limit: 2 });
  expect(first).toMatchObject({ notes: [{ run: 'r1' }, { run: 'r2' }], lost: [], upTo: 2, more: true });
  const rest = look.read({ stream, after: first.upTo, limit: 10 });
  expect(rest).toMatchObject({ notes: [{ seq: 3 }, { seq: 4 }, { seq: 5 }], upTo: 5, more: false });
  expect(look.read({ stream, after: 5, limit: 10 })).toEqual({ notes: [], lost: [], upTo: 5, more: false });
  expect([look.hasMore(stream, 4), look.hasMore(stream, 5), look.hasMore('b'.repeat(32), 0)]).toEqual([
    true,
    false,
    false,
  ]);
});

it('says which numbers are lost: those that are missing below one that is there (INT-05, FAULT-10)', () => {
  const spool = new Spool();
  for (const seq of [2, 3, 7]) spool.note(seq);
  spool.counter(9, { traces: 3, folded: 1 });
  const batch = spool.read();
  expect(batch.notes.map(({ seq }) => seq)).toEqual([2, 3, 7]);
  expect(batch.lost).toEqual([
    { from: 1, to: 1, why: 'missing' },
    { from: 4, to: 6, why: 'missing' },
  ]);
  expect(batch.upTo).toBe(7);
  // 8 and 9 may be written at this moment, and two notes never had a number.
  expect(spool.look().unsettled(7)).toBe(4);
  expect(spool.read(2)).toMatchObject({ notes: [{ seq: 3 }, { seq: 7 }], lost: [{ from: 4, to: 6 }] });
  expect(spool.read(5)).toMatchObject({ notes: [{ seq: 7 }], lost: [{ from: 6, to: 6 }] });
});

it('gives the same again until it is told that it was committed, and removes exactly that', () => {
  const spool = new Spool();
  for (const seq of [1, 2, 4]) spool.note(seq);
  spool.counter(4);
  expect(spool.read()).toEqual(spool.read());
  expect(spool.look().taken(stream, 0)).toBe(0);
  expect(readdirSync(spool.path)).toHaveLength(4);
  expect(spool.look().taken(stream, 2)).toBe(0);
  expect(readdirSync(spool.path).sort()).toEqual([nameOf(4), 'counter'].sort());
  expect(spool.read(2)).toMatchObject({ notes: [{ seq: 4 }], lost: [{ from: 3, to: 3 }], upTo: 4 });
  expect(spool.look().taken(stream, 4)).toBe(0);
  expect(spool.look().taken(stream, 4)).toBe(0);
  expect(readdirSync(spool.path)).toEqual(['counter']);
  expect(spool.read(4)).toEqual({ notes: [], lost: [], upTo: 4, more: false });
});

it('removes batch after batch in one look, and tries again in the next what could not be removed', () => {
  const spool = new Spool();
  for (let seq = 1; seq <= 6; seq += 1) spool.note(seq);
  spool.counter(6);
  const look = spool.look();
  rmSync(join(spool.path, nameOf(2)));
  mkdirSync(join(spool.path, nameOf(2)));
  expect([look.taken(stream, 1), look.taken(stream, 3), look.taken(stream, 2)]).toEqual([0, 1, 0]);
  expect(readdirSync(spool.path).sort()).toEqual([nameOf(2), nameOf(4), nameOf(5), nameOf(6), 'counter'].sort());
  expect(look.taken(stream, 6)).toBe(0);
  expect(spool.look().taken(stream, 6)).toBe(1);
  rmSync(join(spool.path, nameOf(2)), { recursive: true });
  expect(spool.look().taken(stream, 6)).toBe(0);
  expect(readdirSync(spool.path)).toEqual(['counter']);
});

it('keeps the streams of two lives of a counter apart', () => {
  const spool = new Spool();
  const other = 'f'.repeat(32);
  spool.note(1);
  spool.note(2, {}, other);
  writeFileSync(join(spool.path, nameOf(3, other).replace('.json', '.end')), '');
  spool.counter(1);
  const look = spool.look();
  expect(look.streams).toEqual([other, stream]);
  expect(look.read({ stream: other, after: 0, limit: 9 })).toMatchObject({
    notes: [{ seq: 2 }],
    lost: [
      { from: 1, to: 1 },
      { from: 3, to: 3 },
    ],
    upTo: 3,
  });
  look.taken(other, 2);
  expect(existsSync(join(spool.path, nameOf(3, other).replace('.json', '.end')))).toBe(true);
  look.taken(other, 3);
  expect(readdirSync(spool.path).sort()).toEqual([nameOf(1), 'counter'].sort());
});

it('takes the counter of another boot for the end of its stream', () => {
  const spool = new Spool();
  spool.note(1);
  spool.note(5);
  spool.counter(3, { boot: bootId.replace('6', '7') });
  expect(spool.read()).toMatchObject({ notes: [{ seq: 1 }, { seq: 5 }], lost: [{ from: 2, to: 4 }], upTo: 5 });
  rmSync(join(spool.path, nameOf(5)));
  expect(spool.read()).toMatchObject({ notes: [{ seq: 1 }], lost: [{ from: 2, to: 3 }], upTo: 3 });
});

it('a file with a number that was not given out yet makes no later note look old', () => {
  const spool = new Spool();
  spool.note(1);
  spool.note(9_007_199_254_740_991);
  spool.counter(1);
  expect(spool.read()).toMatchObject({ notes: [{ seq: 1 }], lost: [], upTo: 1, more: false });
  spool.note(2);
  spool.counter(2);
  expect(spool.read(1)).toMatchObject({ notes: [{ seq: 2 }], upTo: 2 });
});

/** What stands at a path is gone, and something else stands there. */
const replaced = (make: (path: string) => unknown) => (path: string) => {
  rmSync(path, { recursive: true });
  make(path);
};

const refusals: readonly (readonly [string, (spool: Spool) => void, RegExp])[] = [
  ['an empty file', (spool) => spool.file(2, ''), /one whole line/],
  ['half a note', (spool) => truncateSync(spool.note(2), 40), /one whole line/],
  ['two notes', (spool) => appendFileSync(spool.note(2), '{}\n'), /one whole line/],
  ['no JSON', (spool) => spool.file(2, '{"v":1,\n'), /no JSON/],
  ['bytes that are no UTF-8', (spool) => spool.file(2, Buffer.from('{"v":"\xff"}\n', 'latin1')), /no JSON in UTF-8/],
  ['a field too many', (spool) => spool.note(2, { argv: ['secret'] } as Partial<Note>), /not in the format/],
  ['an unknown version', (spool) => spool.note(2, { v: 2 } as unknown as Partial<Note>), /not in the format/],
  ['a run with a path for a name', (spool) => spool.note(2, { run: '../../etc' }), /not in the format/],
  ['the number of another one', (spool) => spool.note(2, { seq: 3 }), /not the note that its name says/],
  ['the producer of another one', (spool) => spool.note(2, { producer: 'other' }), /not the note that its name says/],
  [
    'the stream of another one',
    (spool) => spool.note(2, { stream: 'b'.repeat(32) }),
    /not the note that its name says/,
  ],
  ['a byte too many', (spool) => spool.file(2, `${'x'.repeat(noteBytes)}\n`), /larger than/],
  ['a huge file', (spool) => truncateSync(spool.file(2, ''), 2 ** 40), /larger than/],
  ['a directory', (spool) => mkdirSync(join(spool.path, nameOf(2))), /no regular file/],
  ['a pipe', (spool) => execFileSync('mkfifo', [join(spool.path, nameOf(2))]), /no regular file/],
  ['a link to a note', (spool) => aside(spool), /symbolic link/],
  ['a link to a device', (spool) => symlinkSync('/dev/zero', join(spool.path, nameOf(2))), /symbolic link/],
  ['a link to itself', (spool) => symlinkSync(nameOf(2), join(spool.path, nameOf(2))), /symbolic link/],
  ['a socket', (spool) => socket(join(spool.path, nameOf(2))), /no file that can be opened/],
];

function aside(spool: Spool): void {
  const real = join(spool.dir, 'real');
  renameSync(spool.note(2), real);
  symlinkSync(real, join(spool.path, nameOf(2)));
}

function socket(path: string): void {
  const python =
    'import socket,sys,os; os.chdir(os.path.dirname(sys.argv[1])); socket.socket(socket.AF_UNIX).bind(os.path.basename(sys.argv[1]))';
  execFileSync('python3', ['-c', python, path]);
}

it.each(refusals)('keeps %s aside, names it, and counts it as lost', (_, make, reason) => {
  const spool = new Spool();
  spool.note(1);
  make(spool);
  spool.note(3);
  spool.counter(3);
  const file = `${nameOf(2)}.refused`;
  const lost = { from: 2, to: 2, why: 'refused', file };
  const first = spool.read();
  expect(first).toMatchObject({ notes: [{ seq: 1 }, { seq: 3 }], lost: [lost], upTo: 3 });
  expect(first.lost[0]!.reason).toMatch(reason);
  expect(readdirSync(spool.path)).toContain(file);
  // Whoever was killed before the commit reads the same loss again, and what was kept stays.
  expect(spool.read()).toMatchObject({ notes: [{ seq: 1 }, { seq: 3 }], lost: [lost], upTo: 3 });
  spool.look().taken(stream, 3);
  expect(readdirSync(spool.path).sort()).toEqual([file, 'counter'].sort());
  expect(spool.read(3)).toMatchObject({ notes: [], lost: [], upTo: 3 });
});

it("refuses another user's file", () => {
  const spool = new Spool();
  spool.note(2);
  spool.counter(2);
  if (process.getuid!() === 0) chownSync(join(spool.path, nameOf(2)), 65_534, 65_534);
  else chmodSync(join(spool.path, nameOf(2)), 0);
  expect(spool.read().lost).toMatchObject([
    { from: 1, to: 1 },
    { from: 2, to: 2, why: 'refused' },
  ]);
});

it('leaves alone, and counts, whatever else is there', () => {
  const spool = new Spool();
  spool.note(1);
  spool.counter(1);
  const strange = [
    '..json',
    'a\nb',
    '\u001b[31m',
    '1.json',
    nameOf(1).replace('.json', '.json.tmp'),
    nameOf(1).toUpperCase(),
  ];
  for (const name of strange) writeFileSync(join(spool.path, name), '');
  writeFileSync(Buffer.concat([Buffer.from(`${spool.path}/`), Buffer.from([0xff, 0xfe])]), '');
  for (const own of ['.note', `.counter-${stream}`]) writeFileSync(join(spool.path, own), '');
  const look = spool.look();
  expect(look.strangers).toBe(strange.length + 1);
  expect(look.read({ stream, after: 0, limit: 9 })).toMatchObject({ notes: [{ seq: 1 }], lost: [] });
  look.taken(stream, 1);
  expect(readdirSync(spool.path)).toHaveLength(strange.length + 1 + 3);
});

it.each([
  ['missing', (path: string) => rmSync(path)],
  ['empty', (path: string) => truncateSync(path, 0)],
  ['of another text', (path: string) => writeFileSync(path, 'x'.repeat(128))],
  ['huge', (path: string) => truncateSync(path, 2 ** 40)],
  ['a directory', replaced((path) => mkdirSync(path))],
  ['a pipe', replaced((path) => execFileSync('mkfifo', [path]))],
  ['a link', replaced((path) => symlinkSync('/dev/zero', path))],
])('reads the notes also where the counter is %s', (_, damage) => {
  const spool = new Spool();
  for (const seq of [1, 3]) spool.note(seq);
  spool.counter(3);
  damage(join(spool.path, 'counter'));
  const look = spool.look();
  expect(look.counter).toBeUndefined();
  expect(look.unsettled(0)).toBe(0);
  expect(look.read({ stream, after: 0, limit: 9 })).toMatchObject({
    notes: [{ seq: 1 }, { seq: 3 }],
    lost: [{ from: 2, to: 2 }],
  });
});

describe('the spool as a whole', () => {
  it('that is not there is empty', () => {
    const spool = new Spool();
    expect(listProducers(join(spool.dir, 'nowhere'))).toEqual({ names: [], strangers: 0 });
    const look = new SpoolLook({ spoolDir: spool.dir, producer: 'nobody', bootId });
    expect(look).toMatchObject({ streams: [], strangers: 0 });
    expect(look.read({ stream, after: 7, limit: 1 })).toEqual({ notes: [], lost: [], upTo: 7, more: false });
    expect(look.taken(stream, 7)).toBe(0);
  });

  it('lists producers by name, and counts who cannot be one', () => {
    const spool = new Spool();
    for (const name of ['ci', 'Not', '.hidden', 'a b']) mkdirSync(join(spool.dir, name), { mode: 0o700 });
    expect(listProducers(spool.dir)).toEqual({ names: ['ci', 'make'], strangers: 3 });
  });

  it.each([
    ['a link', replaced((path) => symlinkSync(new Spool().path, path))],
    ['a file', replaced((path) => writeFileSync(path, ''))],
    ['a pipe', replaced((path) => execFileSync('mkfifo', [path]))],
    ['open to others', (path: string) => chmodSync(path, 0o750)],
    [
      "another user's",
      (path: string) => (process.getuid!() === 0 ? chownSync(path, 65_534, 65_534) : chmodSync(path, 0)),
    ],
  ])('is refused where it is %s, with what to do', (_, make) => {
    const spool = new Spool();
    make(spool.path);
    const refused = {
      code: 'spool_refused',
      exitCode: 9,
      retryable: false,
      next: [expect.stringMatching(/chmod 700/)],
    };
    expect(thrownBy(() => spool.look())).toMatchObject(refused);
    const whole = new Spool();
    rmSync(whole.path, { recursive: true });
    make(whole.dir);
    expect(thrownBy(() => listProducers(whole.dir))).toMatchObject(refused);
  });

  it('throws instead of taking a note for damaged when descriptors are short', () => {
    const spool = new Spool();
    spool.note(1);
    spool.counter(1);
    const words = [
      '-c',
      'ulimit -n 40; exec "$@"',
      'sh',
      process.execPath,
      shortage,
      spool.dir,
      'make',
      stream,
      bootId,
    ];
    const { stdout, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
    expect(stdout, stderr).toBe('spool_unreadable true\n');
    expect(readdirSync(spool.path)).toContain(nameOf(1));
    expect(readFileSync(join(spool.path, nameOf(1)), 'utf8')).toContain('r1');
  });
});
