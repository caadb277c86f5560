/** sessions send: what a program reads is what was sent, submitted once (drill D11). */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Sessions, sessions } from '../support/terminalSessions.ts';

/** Reads pastes and keys in raw mode, and writes down each paste and what was typed between them. */
const reader = `
const { appendFileSync } = require('node:fs');
process.stdin.setRawMode(true);
process.stdout.write('\\x1b[?2004hready\\r\\n');
let all = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  all = Buffer.concat([all, chunk]);
  for (;;) {
    const end = all.indexOf('\\r', Math.max(0, all.lastIndexOf('\\x1b[201~')));
    if (end < 0 || (all.includes('\\x1b[200~') && !all.includes('\\x1b[201~'))) return;
    const said = all.subarray(0, end).toString().match(/^say (.*)/);
    if (said) process.stdout.write('\\x1b' + said[1]);
    appendFileSync(process.env.SUBMITTED, JSON.stringify(all.subarray(0, end).toString('base64')) + '\\n');
    all = all.subarray(end + 1);
    process.stdout.write('submitted\\r\\n');
  }
});`;

async function openReader(own: Sessions) {
  writeFileSync(own.file('reader.cjs'), reader);
  writeFileSync(own.file('submitted'), '');
  const script = `SUBMITTED='${own.file('submitted')}' exec '${process.execPath}' '${own.file('reader.cjs')}'`;
  const { sessionId } = await own.open(script);
  const { data } = await own.json(['sessions', 'wait', sessionId, '--for', 'ready', '--timeout', '30s']);
  expect(data).toMatchObject({ sessionId });
  const submitted = () =>
    readFileSync(own.file('submitted'), 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Buffer.from(JSON.parse(line), 'base64').toString());
  return { sessionId, submitted };
}

/** Exactly so many characters, some of them of four bytes, none where a program could guess it. */
const text = (characters: number): string =>
  Array.from({ length: characters }, (_, at) => (at % 7 === 3 ? '🙂' : at % 11 === 5 ? 'ä' : String(at % 10))).join('');

it('arrives byte for byte as one paste and is submitted once, up to 100 000 characters (drill D11)', async () => {
  const own = await sessions();
  const { sessionId, submitted } = await openReader(own);
  const expected: string[] = [];
  for (const characters of [1, 1_200, 4_500, 100_000]) {
    const sent = text(characters);
    const { data, error } = await own.json(['sessions', 'send', sessionId, '--file', '-', '--enter'], { input: sent });
    expect(error).toBeUndefined();
    const brackets = '\x1b[200~\x1b[201~'.length;
    expect(data).toEqual({ sessionId, bytes: Buffer.byteLength(sent) + brackets + 1, bracketed: true });
    expected.push(`\x1b[200~${sent}\x1b[201~`);
    await expect.poll(() => submitted().length, { timeout: 30_000 }).toBe(expected.length);
    expect(submitted()).toEqual(expected);
  }
  // Sizes alone are kept of what was typed (PTY-08).
  const [event] = await own.daemon.events({ actor: sessionId, type: 'session.inputSent' });
  expect(JSON.stringify(event)).not.toContain(Buffer.from(text(1_200)).toString('base64').slice(0, 40));
});

it('sends keys by name behind the text, brackets as it is told, and the same request once', async () => {
  const own = await sessions();
  const { sessionId, submitted } = await openReader(own);
  await own.custody([
    'sessions',
    'send',
    sessionId,
    'one',
    '--key',
    'up',
    '--key',
    'alt-x',
    '--enter',
    '--paste',
    'never',
  ]);
  await expect.poll(submitted, { timeout: 30_000 }).toEqual(['one\x1b[A\x1bx']);
  await own.custody(['sessions', 'send', sessionId, '--key', 'ctrl-c', '--key', 'f5', '--enter']);
  await expect.poll(submitted, { timeout: 30_000 }).toHaveLength(2);
  expect(submitted()[1]).toBe('\x03\x1b[15~');
  const twice = ['sessions', 'send', sessionId, 'a\x1b[201~b', '--enter', '--request-id', 'the-same'];
  await own.custody(twice);
  expect((await own.json(twice)).warnings).toEqual(['this request was carried out before']);
  await own.custody(['sessions', 'send', sessionId, 'last', '--enter']);
  await expect.poll(submitted, { timeout: 30_000 }).toHaveLength(4);
  // A closing bracket within the text would end the paste early, so it is taken out.
  expect(submitted().slice(2)).toEqual(['\x1b[200~ab\x1b[201~', '\x1b[200~last\x1b[201~']);
});

it('sends the cursor keys as the program has them, in application mode or not (DECCKM)', async () => {
  const own = await sessions();
  const { sessionId, submitted } = await openReader(own);
  const keys = ['up', 'down', 'right', 'left', 'home', 'end', 'ctrl-left', 'pgup', 'f1', 'x'];
  const send = ['sessions', 'send', sessionId, ...keys.flatMap((key) => ['--key', key]), '--enter'];
  const rest = '\x1b[1;5D\x1b[5~\x1bOPx';
  const [plain, application] = ['[', 'O'].map(
    (lead) => `${[...'ABCDHF'].map((key) => `\x1b${lead}${key}`).join('')}${rest}`,
  );
  await own.custody(send);
  await expect.poll(submitted, { timeout: 30_000 }).toEqual([plain]);
  for (const [mode, expected] of [
    ['\x1b[?1h', application],
    ['\x1b[?1l', plain],
  ] as const) {
    const before = submitted().length;
    await own.custody(['sessions', 'send', sessionId, `say ${mode.slice(1)}`, '--enter', '--paste', 'never']);
    await expect.poll(() => submitted().length, { timeout: 30_000 }).toBe(before + 1);
    await own.custody(send);
    await expect.poll(() => submitted().length, { timeout: 30_000 }).toBe(before + 2);
    expect(submitted().at(-1)).toBe(expected);
  }
});

it('refuses what cannot be meant', async () => {
  const own = await sessions();
  for (const [words, code] of [
    [['Pany'], 'usage'],
    [['Pany', 'text', '--file', '-'], 'usage'],
    [['Pany', '--key', 'hyper'], 'usage'],
    [['Pnothing', 'text'], 'not_found'],
  ] as const) {
    const { error } = await own.json(['sessions', 'send', ...words]);
    expect(error, words.join(' ')).toMatchObject({ code });
  }
});
