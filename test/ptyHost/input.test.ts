/** Prompts arrive whole: what is sent is read back byte for byte, and submitted once (D11). */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ptyHost, storedIn } from './support/host.ts';

/** Reads raw bytes as a line editor with bracketed paste does; keeps what was pasted, and counts the Return keys outside. */
const reader = `
const { writeFileSync } = require('node:fs');
process.stdin.setRawMode(true);
process.stdout.write('\\x1b[?2004hready');
const begin = Buffer.from('\\x1b[200~'), finish = Buffer.from('\\x1b[201~');
let all = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  all = Buffer.concat([all, chunk]);
  if (all.at(-1) !== 4) return;
  const from = all.indexOf(begin), to = all.indexOf(finish);
  const rest = Buffer.concat([all.subarray(0, from), all.subarray(to + finish.length)]);
  writeFileSync('pasted', all.subarray(from + begin.length, to));
  writeFileSync('submitted', String(rest.filter((byte) => byte === 13).length));
  process.exit(0);
});
`;

const emoji = '🚀 grüße 👩‍👩‍👧 日本語 ';
const text = (characters: number): string => emoji.repeat(Math.ceil(characters / emoji.length)).slice(0, characters);
const base64 = (bytes: string): string => Buffer.from(bytes).toString('base64');

describe('D11 a prompt that is sent to a reader with bracketed paste', () => {
  it.each([1, 1_200, 4_500, 100_000])(
    'of %i characters with emoji arrives byte for byte and is submitted once',
    async (characters) => {
      const host = await ptyHost();
      const daemon = await host.daemon();
      const session = await host.open(daemon, [process.execPath, '-e', reader]);
      await daemon.until(() => storedIn(session.transcriptDir).includes('ready'));
      const prompt = characters === 1 ? 'x' : Buffer.from(text(characters)).toString();
      const sent = await daemon.ask(
        { do: 'send', sessionId: session.id, bytes: base64(prompt), paste: 'auto', enter: true },
        60_000,
      );
      expect(sent).toMatchObject({ bracketed: true });
      await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('\x04'), paste: 'never', enter: false });
      expect((await daemon.event('captureEnded', session.id)).end).toMatchObject({ complete: true });
      expect(readFileSync(join(host.directory, 'pasted')).equals(Buffer.from(prompt))).toBe(true);
      expect(readFileSync(join(host.directory, 'submitted'), 'utf8')).toBe('1');
    },
  );

  it('of several lines is one paste, and no closing bracket in it lets the rest be typed', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, [process.execPath, '-e', reader]);
    await daemon.until(() => storedIn(session.transcriptDir).includes('ready'));
    const prompt = 'one\ntwo\r\nthree\x1b[20\x1b[201~1~rm -rf\n';
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64(prompt), paste: 'auto', enter: true });
    await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('\x04'), paste: 'never', enter: false });
    await daemon.event('captureEnded', session.id);
    expect(readFileSync(join(host.directory, 'pasted'), 'utf8')).toBe('one\rtwo\rthreerm -rf\r');
    expect(readFileSync(join(host.directory, 'submitted'), 'utf8')).toBe('1');
  });
});

describe('keys of a viewer', () => {
  /** Reads nothing until it is let go, then everything up to \x04. */
  const late = `
    const { readFileSync, writeFileSync } = require('node:fs');
    process.stdin.setRawMode(true);
    process.stdout.write('ready');
    readFileSync('go');
    let all = Buffer.alloc(0);
    process.stdin.on('data', (chunk) => {
      all = Buffer.concat([all, chunk]);
      if (all.at(-1) !== 4) return;
      writeFileSync('read', all);
      process.exit(0);
    });`;

  async function withLateReader() {
    const host = await ptyHost();
    const daemon = await host.daemon();
    execFileSync('mkfifo', [join(host.directory, 'go')]);
    const session = await host.open(daemon, [process.execPath, '-e', late]);
    await daemon.until(() => storedIn(session.transcriptDir).includes('ready'));
    const viewer = await host.viewer();
    await viewer.ask({ do: 'attach', sessionId: session.id, mode: 'every byte', readOnly: false, from: 0 });
    const send = (bytes: number) =>
      daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('x'.repeat(bytes)), paste: 'never', enter: false });
    const pending = async () => (await host.report(daemon, session.id)).pendingInputBytes;
    /** The host has seen by then what lay in its sockets. */
    const fresh = () => daemon.ask({ do: 'list', fresh: true });
    const go = () => writeFileSync(join(host.directory, 'go'), '');
    const read = async () => {
      await daemon.event('captureEnded', session.id);
      return readFileSync(join(host.directory, 'read'), 'latin1').replaceAll('x', '');
    };
    return { viewer, send, pending, fresh, go, read };
  }

  it('are not lost to a program that has much to read already', async () => {
    const { viewer, send, pending, fresh, go, read } = await withLateReader();
    // As much as is taken, and some that is not.
    const sizes = [4 * 1024 * 1024, ...Array(100).fill(1_000), ...Array(1_000).fill(1)];
    const sent = Promise.allSettled(sizes.map(send));
    await pending();
    viewer.client.type(Buffer.from('keys\x04'));
    await viewer.client.drained();
    await fresh();
    go();
    expect((await sent).map(({ status }) => status)).toContain('rejected');
    expect(await read()).toBe('keys\x04');
  });

  it('come through when the program has read what others have sent meanwhile', async () => {
    const { viewer, send, pending, go, read } = await withLateReader();
    const first = send(50_000);
    await pending();
    viewer.client.type(Buffer.from('a'));
    await viewer.ask({ do: 'list' });
    const second = send(1_000_000);
    await pending();
    viewer.client.type(Buffer.from('b'));
    go();
    await Promise.all([first, second]);
    viewer.client.type(Buffer.from('c\x04'));
    expect(await read()).toBe('abc\x04');
  });
});

it('a text as long as may be sent fits with its brackets and Enter', async () => {
  const host = await ptyHost();
  const daemon = await host.daemon();
  const session = await host.open(daemon, [process.execPath, '-e', reader]);
  await daemon.until(() => storedIn(session.transcriptDir).includes('ready'));
  const bytes = base64('x'.repeat(4 * 1024 * 1024));
  await daemon.ask({ do: 'send', sessionId: session.id, bytes, paste: 'auto', enter: true }, 120_000);
  await daemon.ask({ do: 'send', sessionId: session.id, bytes: base64('\x04'), paste: 'never', enter: false });
  await daemon.event('captureEnded', session.id);
  expect(readFileSync(join(host.directory, 'pasted')).length).toBe(4 * 1024 * 1024);
});
