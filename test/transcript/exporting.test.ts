import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exportTranscript } from '../../pty/transcript/export.ts';
import { tailLines } from '../../pty/transcript/tail.ts';
import { exported, privateDirectory, summaryOf, writer } from './support/transcripts.ts';

async function said(...batches: readonly (string | Uint8Array | readonly [number, number])[]): Promise<string> {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir });
  for (const batch of batches) {
    if (typeof batch === 'string') transcript.append([Buffer.from(batch)]);
    else if (batch instanceof Uint8Array) transcript.append([batch]);
    else transcript.resize(batch[0]!, batch[1]!);
  }
  await transcript.end({ complete: true });
  return dir;
}

it('writes an asciicast with times, sizes and replacement characters', async () => {
  const dir = await said('a\r\n', [100, 30], Buffer.from([0xff, 0x62]), Buffer.from([0xe2, 0x82]));
  expect((await exported(dir, 'asciicast')).split('\n')).toEqual([
    '{"version":2,"width":80,"height":24,"timestamp":1700000000,"env":{"TERM":"xterm-256color"}}',
    '[0.001,"o","a\\r\\n"]',
    '[0.002,"r","100x30"]',
    '[0.003,"o","\ufffdb"]',
    '[0.004,"o","\ufffd"]',
    '',
  ]);
});

it('renders text as it was read: overwritten lines once, wrapped lines whole, colours gone, nothing of an editor', async () => {
  const long = 'word '.repeat(30).trimEnd();
  const dir = await said(
    '10%\r50%\r100%\r\n\x1b[31mred\x1b[0m text   \r\n',
    `${long}\r\n`,
    '\x1b[?1049h\x1b[2Jan editor\x1b[5;5Hhere\x1b[?1049l',
    'caf\u00e9 \u4f60\u597d\r\n',
    '$ ',
  );
  expect(await exported(dir, 'text')).toBe(`100%\nred text\n${long}\ncaf\u00e9 \u4f60\u597d\n$\n`);
});

it('loses no line of a long text, nor what a cleared screen showed', async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}`);
  const dir = await said(`${lines.join('\r\n')}\r\n`, '\x1b[H\x1b[2J\x1b[3J', 'after\r\n');
  expect((await exported(dir, 'text')).split('\n').filter((line) => line !== '')).toEqual([...lines, 'after']);
});

it('loses no line when few bytes scroll far', async () => {
  const dir = await said('start\r\n', 'x\x1b[60000b\r\n'.repeat(3), 'end');
  const text = await exported(dir, 'text');
  expect(text.split('\n').map((line) => line.length)).toEqual([5, 60_001, 60_001, 60_001, 3, 0]);
});

it('makes pieces only as they are taken, and lets the files go when nobody wants more', async () => {
  const dir = await said(Buffer.alloc(3_000_000, 'line\r\n'));
  const { pieces } = await exportTranscript(dir, 'raw');
  expect((await pieces.next()).value?.length).toBe(65_536);
  await pieces.return();
  const open = readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`));
  expect(open.filter((path) => path.startsWith(join(dir, 'raw')))).toHaveLength(1);
});

/** The writer of this test holds its own segment open, so one descriptor is expected. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

it.each([
  [0, '', false],
  [1, 'c\n', false],
  [2, 'b\nc\n', false],
  [3, 'a\nb\nc\n', false],
  [9, 'a\nb\nc\n', false],
])('gives the last %i lines', async (lines, text, truncated) => {
  const summary = await summaryOf(await said('a\nb\n', 'c\n'));
  const tail = await tailLines(summary, summary.extents.at(-1)!, { lines });
  expect({ ...tail, bytes: tail.bytes.toString() }).toEqual({ from: 6 - text.length, bytes: text, truncated });
});

it('gives the unfinished last line, lines across many pieces, and no more than the limit', async () => {
  const summary = await summaryOf(await said('x'.repeat(50_000), '\n', 'y'.repeat(40_000), '\nend'));
  const last = summary.extents.at(-1)!;
  expect((await tailLines(summary, last, { lines: 1 })).bytes.toString()).toBe('end');
  expect((await tailLines(summary, last, { lines: 2 })).bytes.length).toBe(40_004);
  const cut = await tailLines(summary, last, { lines: 3, maxBytes: 60_000 });
  expect({ bytes: cut.bytes.length, truncated: cut.truncated }).toEqual({ bytes: 60_000, truncated: true });
});

it('outlives output that makes the terminal throw', async () => {
  // Erasing up to the last cell of a screen without history.
  expect(await exported(await said('x\x1b[24;80H\x1b[1J\x1b[Hafter'), 'text')).toBe('after\n');
});
