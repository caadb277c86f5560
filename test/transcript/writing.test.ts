import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TranscriptUnavailableError } from '../../pty/transcript/errors.ts';
import { readRange } from '../../pty/transcript/rawReader.ts';
import { openTranscript } from '../../pty/transcript/writer.ts';
import { collected, header, privateDirectory, summaryOf, writer } from './support/transcripts.ts';

it('stores what it is given and says that this is everything', async () => {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir });
  expect(transcript.append([Buffer.from('hello '), Buffer.from('world')])).toEqual({ offset: 11, lostBytes: 0 });
  transcript.resize(100, 30);
  transcript.append([Buffer.from('!')]);
  expect(await transcript.end({ complete: true })).toEqual({ durable: true });
  const summary = await summaryOf(dir);
  expect(summary).toMatchObject({ from: 0, to: 12, complete: true, reasons: [], findings: [] });
  expect(summary.records.map(({ kind }) => kind)).toEqual(['resize', 'end']);
  expect((await collected(readRange(summary, 0, 12))).toString()).toBe('hello world!');
});

it('keeps its files to their owner whatever the umask says (PRIV-02)', () => {
  const dir = join(privateDirectory(), 'S1');
  const before = process.umask(0o777);
  try {
    writer({ dir, segmentBytes: 4 }).append([Buffer.from('12345678')]);
  } finally {
    process.umask(before);
  }
  const modes = readdirSync(dir).map((name) => [name, statSync(join(dir, name)).mode & 0o777]);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(modes.sort()).toEqual([
    ['index.jsonl', 0o600],
    ['raw.000001', 0o600],
    ['raw.000002', 0o600],
  ]);
});

it('writes about the session nothing but its id, times, sizes and the terminal type (PRIV-02)', async () => {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir });
  transcript.append([Buffer.from('\x1b]0;a secret title\x07')]);
  await transcript.end({ complete: true });
  expect(readFileSync(join(dir, 'index.jsonl'), 'utf8').split('\n')).toEqual([
    '{"version":1,"sessionId":"Stest","startedAtMs":1700000000000,"cols":80,"rows":24,"term":"xterm-256color","segmentBytes":16777216}',
    '["o",1000,19]',
    '["e",2000,19,"complete"]',
    '',
  ]);
});

it('refuses a directory that exists, a link in its place and a parent that is missing', () => {
  const parent = privateDirectory();
  mkdirSync(join(parent, 'taken'));
  symlinkSync(join(parent, 'taken'), join(parent, 'link'));
  for (const name of ['taken', 'link', 'no/parent']) {
    expect(() => openTranscript({ dir: join(parent, name), header })).toThrow(TranscriptUnavailableError);
  }
  expect(readdirSync(parent).sort()).toEqual(['link', 'taken']);
  expect(readdirSync(join(parent, 'taken'))).toEqual([]);
});

it('puts nothing into a link that waits where its next segment will be', async () => {
  const parent = privateDirectory();
  const dir = join(parent, 'S1');
  const faults: unknown[] = [];
  const transcript = writer({ dir, segmentBytes: 4, onFault: (fault) => faults.push(fault) });
  symlinkSync(join(parent, 'elsewhere'), join(dir, 'raw.000002'));
  expect(transcript.append([Buffer.from('123456')])).toEqual({ offset: 4, lostBytes: 2 });
  await transcript.end({ complete: true });
  expect(readdirSync(parent)).toEqual(['S1']);
  expect(faults).toEqual([{ code: 'EEXIST', errno: 17, reason: 'refused', offset: 4 }]);
  expect((await summaryOf(dir)).complete).toBe(false);
});

it('drops the oldest segments above the cap, says so, and is no longer complete', async () => {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir, segmentBytes: 10, maxBytes: 25 });
  for (let batch = 0; batch < 8; batch += 1) transcript.append([Buffer.from(`batch ${batch}!`)]);
  await transcript.end({ complete: true });
  const summary = await summaryOf(dir);
  expect(summary).toMatchObject({
    from: 40,
    to: 64,
    lostBytes: 0,
    complete: false,
    reasons: ['dropped'],
    findings: [],
  });
  expect(summary.records.filter(({ kind }) => kind === 'dropped').at(-1)).toMatchObject({ from: 30, to: 40 });
  expect(readdirSync(dir).filter((name) => name.startsWith('raw'))).toEqual(['raw.000005', 'raw.000006', 'raw.000007']);
  expect((await collected(readRange(summary, 40, 64))).toString()).toBe('batch 5!batch 6!batch 7!');
  await expect(collected(readRange(summary, 39, 64))).rejects.toMatchObject({
    code: 'transcript_range_unavailable',
    offset: 39,
  });
});

it('keeps the reason of a capture that ended early', async () => {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir });
  transcript.append([Buffer.from('x')]);
  await transcript.end({ complete: false, reason: 'drainOverrun' });
  expect(await summaryOf(dir)).toMatchObject({ complete: false, reasons: ['drainOverrun'] });
});

it('takes nothing after its end, and says that it did not', async () => {
  const dir = join(privateDirectory(), 'S1');
  const transcript = writer({ dir });
  await transcript.end({ complete: true });
  transcript.close();
  expect(transcript.append([Buffer.from('late')])).toEqual({ offset: 0, lostBytes: 4 });
  expect(await summaryOf(dir)).toMatchObject({ to: 0, complete: true });
});
