/** Prompts arrive whole: what is sent is read back byte for byte, and submitted once (D11). */
import { readFileSync } from 'node:fs';
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
