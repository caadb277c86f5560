/** Transcripts for other programs: whole, or with what is missing said. */
import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sessions } from '../support/terminalSessions.ts';

it('exports each form, to a private file or a pipe, without a daemon', async () => {
  const own = await sessions();
  const { sessionId, runId } = await own.open("printf 'one\\033[1m two\\033[m\\n'; printf '\\360\\237\\231\\202\\n'");
  await own.daemon.proved(runId);
  await own.custody(['sessions', 'wait', sessionId, '--exit']);
  await own.daemon.kill();
  const exported = (...words: string[]) => own.custody(['sessions', 'export', sessionId.slice(0, 6), ...words]);
  expect(await exported()).toMatchObject({ code: 0, stdout: 'one\x1b[1m two\x1b[m\r\n🙂\r\n', stderr: '' });
  expect(await exported('--format', 'text')).toMatchObject({ code: 0, stdout: 'one two\n🙂\n' });
  const cast = (await exported('--format', 'asciicast')).stdout.split('\n');
  expect(JSON.parse(cast[0] as string)).toMatchObject({ version: 2, width: 80, height: 24 });
  const file = own.file('session.raw');
  const { data } = await own.json(['sessions', 'export', sessionId, '--output', file]);
  expect(data).toMatchObject({ sessionId, format: 'raw', file, complete: true, reasons: [] });
  expect(readFileSync(file).length).toBe(data.bytes);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, 'of somebody else, and longer than what comes');
  chmodSync(file, 0o644);
  await own.json(['sessions', 'export', sessionId, '--output', file]);
  expect(readFileSync(file).length).toBe(data.bytes);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('says on standard error and by exit 5 what is missing, and never ends early without a word', async () => {
  const own = await sessions();
  const living = await own.open('echo said; exec cat');
  await own.custody(['sessions', 'wait', living.sessionId, '--for', 'said', '--timeout', '30s']);
  const early = await own.custody(['sessions', 'export', living.sessionId]);
  expect(early).toMatchObject({ code: 5, stdout: 'said\r\n', stderr: expect.stringContaining('the session goes on') });
  const { sessionId, runId } = await own.open('seq 1 1000');
  await own.daemon.proved(runId);
  await own.custody(['sessions', 'wait', sessionId, '--exit']);
  truncateSync(join(own.daemon.home.stateDir, 'transcripts', sessionId, 'raw.000001'), 100);
  const short = await own.custody(['sessions', 'export', sessionId]);
  expect(short).toMatchObject({ code: 5, stderr: expect.stringContaining('raw.shorterThanIndex') });
  const { data } = await own.json(['sessions', 'export', sessionId, '-o', own.file('short')]);
  expect(data).toMatchObject({ complete: false, reasons: ['raw.shorterThanIndex'] });
});

it('refuses what it cannot do, with what works instead', async () => {
  const own = await sessions();
  const { sessionId } = await own.open('exec cat');
  expect((await own.json(['sessions', 'export', sessionId])).error).toMatchObject({
    code: 'usage',
    next: [`custody sessions export ${sessionId} --json --output FILE`],
  });
  const nowhere = await own.json(['sessions', 'export', sessionId, '-o', own.file('no/such/place')]);
  expect(nowhere.error).toMatchObject({ code: 'usage', message: expect.stringContaining('ENOENT') });
  expect((await own.json(['sessions', 'export', 'Pnothing', '-o', own.file('x')])).error).toMatchObject({
    code: 'not_found',
    next: ['custody sessions list --all'],
  });
});

it('answers from the holder of the terminal and from the disk while the daemon is dead', async () => {
  const own = await sessions();
  const { sessionId } = await own.open('echo said before; exec cat');
  await own.custody(['sessions', 'wait', sessionId, '--for', 'said', '--timeout', '30s']);
  await own.daemon.kill();
  const offline = (...words: string[]) => own.custody(['sessions', ...words, '--no-autostart']);
  expect((await offline('screen', sessionId)).stdout).toBe('said before\n');
  expect((await offline('tail', sessionId)).stdout).toBe('said before\r\n');
  expect((await offline('list')).code).toBe(10);
  await own.daemon.start();
});
