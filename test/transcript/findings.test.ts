import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportTranscript } from '../../pty/transcript/export.ts';
import { readTranscript } from '../../pty/transcript/reader.ts';
import { collected, exported, privateDirectory, writer } from './support/transcripts.ts';

/** Ten segments of ten bytes and one of five, complete. */
async function whole(): Promise<string> {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir, segmentBytes: 10 });
  for (let at = 0; at < 21; at += 1) transcript.append([Buffer.from(String(at % 10).repeat(5))]);
  await transcript.end({ complete: true });
  return dir;
}

const segment = (dir: string, number: number) => join(dir, `raw.${String(number).padStart(6, '0')}`);
const index = (dir: string) => join(dir, 'index.jsonl');
const withoutEnd = (dir: string) => readFileSync(index(dir), 'utf8').replace(/\["e".*\n$/, '');

async function codes(dir: string): Promise<readonly string[]> {
  const reading = await readTranscript(dir);
  return reading.header === undefined ? reading.findings.map(({ code }) => code) : reading.reasons;
}

const damages: readonly [name: string, damage: (dir: string) => void, reasons: readonly string[]][] = [
  ['nothing', () => undefined, []],
  ['the directory is gone', (dir) => rmSync(dir, { recursive: true }), ['directory.missing']],
  ['the directory is a link', (dir) => moveAndLink(dir), ['directory.symlink']],
  ['the index is gone', (dir) => rmSync(index(dir)), ['index.missing']],
  ['the index is a link', (dir) => moveAndLink(index(dir)), ['index.symlink']],
  ['the index is a FIFO that nobody writes', (dir) => replaceByFifo(index(dir)), ['index.notRegular']],
  ['the index is empty', (dir) => writeFileSync(index(dir), ''), ['index.headerInvalid']],
  ['the header is no JSON', (dir) => writeFileSync(index(dir), 'what?\n'), ['index.headerInvalid']],
  [
    'the index is of a newer version',
    (dir) => writeFileSync(index(dir), '{"version":2,"new":1}\n'),
    ['index.newerVersion'],
  ],
  [
    'the last line is torn',
    (dir) => writeFileSync(index(dir), withoutEnd(dir).slice(0, -3)),
    ['interrupted', 'index.tornLine'],
  ],
  ['the end is not there', (dir) => writeFileSync(index(dir), withoutEnd(dir)), ['interrupted']],
  ['a line is no record', (dir) => appendFileSync(index(dir), '["?",1]\n'), ['index.badLine']],
  ['a line without an end', (dir) => appendFileSync(index(dir), 'x'.repeat(300_000)), ['index.tornLine']],
  ['a first segment is gone', (dir) => rmSync(segment(dir, 1)), ['segment.missing']],
  ['a middle segment is gone', (dir) => rmSync(segment(dir, 5)), ['segment.missing']],
  ['a segment is a link', (dir) => moveAndLink(segment(dir, 5)), ['segment.symlink']],
  ['a segment is a FIFO', (dir) => replaceByFifo(segment(dir, 5)), ['segment.notRegular']],
  ['a segment is short', (dir) => truncateSync(segment(dir, 5), 7), ['segment.short']],
  ['a segment is long', (dir) => appendFileSync(segment(dir, 5), 'more'), ['segment.long']],
  ['bytes of the index are not stored', (dir) => truncateSync(segment(dir, 11), 2), ['raw.shorterThanIndex']],
  ['the last segments are gone', (dir) => rmSync(segment(dir, 11)), ['raw.shorterThanIndex']],
  ['bytes follow the end', (dir) => appendFileSync(segment(dir, 11), 'zz'), ['raw.longerThanIndex']],
  [
    'a stray segment far away',
    (dir) => writeFileSync(segment(dir, 999_999), 'z'),
    ['segment.short', 'segment.missing', 'raw.longerThanIndex'],
  ],
];

function moveAndLink(path: string): void {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
}

function replaceByFifo(path: string): void {
  rmSync(path);
  execFileSync('mkfifo', [path]);
}

it.each(damages)('names what is wrong: %s', async (_name, damage, reasons) => {
  const dir = await whole();
  damage(dir);
  expect(await codes(dir)).toEqual(reasons);
});

it('shows in every export where a segment is missing, and goes on behind it', async () => {
  const dir = await whole();
  rmSync(segment(dir, 5));
  const { summary, pieces } = await exportTranscript(dir, 'raw');
  expect(summary).toMatchObject({
    complete: false,
    extents: [
      { from: 0, to: 40 },
      { from: 50, to: 105 },
    ],
  });
  expect((await collected(pieces)).length).toBe(95);
  expect(await exported(dir, 'text')).toContain('[5 bytes missing: segmentLost]');
  expect(await exported(dir, 'asciicast')).toContain('"m","5 bytes missing: segmentLost"');
});

it('refuses to export what it cannot understand', async () => {
  const dir = await whole();
  writeFileSync(index(dir), '{"version":2}\n');
  await expect(exportTranscript(dir, 'raw')).rejects.toMatchObject({ code: 'transcript_unreadable' });
});

it('believes no file of another user', async () => {
  const dir = await whole();
  // An ordinary user cannot give a file away, but finds one of the superuser anywhere.
  if (process.getuid?.() === 0) chownSync(segment(dir, 5), 12_345, 12_345);
  else {
    rmSync(dir, { recursive: true });
    symlinkSync('/proc', dir);
  }
  expect(await codes(dir)).toEqual([process.getuid?.() === 0 ? 'segment.foreignOwner' : 'directory.symlink']);
});
