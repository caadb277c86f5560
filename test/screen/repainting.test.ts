import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type headless from '@xterm/headless';
import { expect, it } from 'vitest';
import { isAtRest } from '../../pty/screen/internals.ts';
import { Unfinished } from '../../pty/screen/unfinished.ts';
import { noise, randomOf } from './support/noise.ts';
import { feed, portrait, repaintOf, type Size, terminalOf } from './support/terminals.ts';

/** Shows `before` to one terminal, its repaint to another, and `after` to both; they must not differ at any time. */
async function expectFaithful(size: Size, before: Uint8Array, after: Uint8Array): Promise<void> {
  const seen = terminalOf(size);
  const repainted = terminalOf(size);
  const unfinished = new Unfinished();
  await feed(seen, before);
  unfinished.after(seen, before);
  await feed(repainted, await repaintOf(seen, unfinished.bytes));
  if (isAtRest(seen)) expectSame(repainted, seen);
  await feed(seen, after);
  await feed(repainted, after);
  expectSame(repainted, seen);
  seen.dispose();
  repainted.dispose();
}

function expectSame(one: headless.Terminal, other: headless.Terminal): void {
  expect(portrait(one)).toEqual(portrait(other));
}

it.each(Array.from({ length: 10 }, (_, at) => at * 1_000))(
  'repaints random output, cut anywhere (seeds from %i)',
  async (first) => {
    for (let seed = first; seed < first + 25; seed += 1) {
      const random = randomOf(seed);
      const size = { cols: 10 + Math.floor(random() * 30), rows: 4 + Math.floor(random() * 10) };
      const bytes = noise(random, 5 + Math.floor(random() * 60));
      const cut = Math.floor(random() * bytes.length);
      await expectFaithful(size, bytes.subarray(0, cut), bytes.subarray(cut));
    }
  },
);

const recordings = ['vim', 'less', 'tmux'].map((name) => join(import.meta.dirname, 'fixtures', `${name}.rec`));

it.each(recordings)('repaints what a real program showed, cut anywhere: %s', async (path) => {
  const bytes = readFileSync(path);
  const random = randomOf(bytes.length);
  for (let turn = 0; turn < 40; turn += 1) {
    const cut = Math.floor(random() * bytes.length);
    await expectFaithful({ cols: 80, rows: 24 }, bytes.subarray(0, cut), bytes.subarray(cut));
  }
});

const states: readonly [name: string, output: string, after: string][] = [
  ['an empty screen', '', 'x'],
  ['a cursor past the last column', '0123456789', 'next'],
  ['a wide character in the last column', '123456789\u4f60', 'next'],
  ['a combining character to come', 'abce', '\u0301'],
  ['a repetition to come', 'ab\u4f60', '\x1b[3b'],
  ['the same in insert mode', '12345\x1b[4h\x1b[3Gx', '\x1b[2by'],
  ['origin mode', '\x1b[2;4r\x1b[?6h\x1b[2;2Hx', 'yz\r\n\n\n\n'],
  ['margins in both buffers', '\x1b[2;3r\x1b[?1049h\x1b[1;2r', 'a\r\nb\r\nc\x1b[?1049ld\r\ne\r\nf\r\ng'],
  ['a saved cursor with another character set', '\x1b(0\x1b[31m\x1b[3;3H\x1b7\x1b(B\x1b[m', '\x1b8qqq'],
  ['line drawing', '\x1b)0\x0eqq', 'qq\x0fqq'],
  ['tab stops', '\x1b[3g\x1b[4G\x1bH\r', '\tx'],
  ['hidden cursor and its shape', '\x1b[?25l\x1b[4 q', '\x1b[?25h'],
  ['modes of the keyboard and the mouse', '\x1b[?1h\x1b=\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?1004h', ''],
  ['keys as kitty reports them', '\x1b[=8u\x1b[>1u\x1b[>5u', '\x1b[<u\x1b[=2;2u'],
  ['such keys on both screens', '\x1b[>1u\x1b[?1049h\x1b[>7u', '\x1b[=4;3u\x1b[?1049l\x1b[<u'],
  ['keys as xterm reports them', '\x1b[>4;2m', '\x1b[>4m'],
  ['keys after a reset', '\x1b[>1u\x1b[>4;2m\x1bc', 'x'],
  ['no wrapping', '\x1b[?7l01234567890123', 'x'],
  ['links and coloured curly lines', '\x1b]8;id=a;http://example.org\x07\x1b[4:3;58:5:9mlink', 'more\x1b]8;;\x07no'],
  ['colours of empty cells', '\x1b[44m\x1b[2J\x1b[41m\x1b[2;3H\x1b[K', '\r\n\n\n\n\n'],
  ['half a sequence', 'a\x1b[3', '1mred'],
  ['half a title', '\x1b]0;ti', 'tle\x07x'],
  ['an escape and no more', 'a\x1b', 'c'],
  ['wrapped lines, folded anew', '0123456789abcdef\r\nx', '\x1b[2J'],
];

it.each(states)('repaints %s', async (_name, output, after) => {
  await expectFaithful({ cols: 10, rows: 5 }, Buffer.from(output), Buffer.from(after));
});

it('repaints half a character', async () => {
  const bytes = Buffer.from('a\ud83d\ude00b');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    await expectFaithful({ cols: 10, rows: 5 }, bytes.subarray(0, cut), bytes.subarray(cut));
  }
});

it('folds long lines the same way after a change of size', async () => {
  const size = { cols: 20, rows: 6 };
  const seen = terminalOf(size);
  const repainted = terminalOf(size);
  await feed(
    seen,
    `${'a long line that wraps over rows, '.repeat(4)}\r\n\u4f60\u597d${'wide \u4f60'.repeat(9)}\r\n`.repeat(3),
  );
  await feed(repainted, await repaintOf(seen));
  for (const cols of [33, 11, 20]) {
    seen.resize(cols, 6);
    repainted.resize(cols, 6);
    expectSame(repainted, seen);
  }
});
