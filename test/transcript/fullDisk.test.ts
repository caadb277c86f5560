import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRange } from '../../pty/transcript/rawReader.ts';
import { timeline } from '../../pty/transcript/timeline.ts';
import { openTranscript, type TranscriptFault, type TranscriptWriter } from '../../pty/transcript/writer.ts';
import { smallDisk } from '../guardian/support/smallDisk.ts';
import { collected, exported, header, summaryOf, writer } from './support/transcripts.ts';

/** Leaves no page free. */
function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096, 1));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

const batchBytes = 1_000;
const batch = (number: number) => Buffer.from(`${number};`.padStart(batchBytes, '.'));

/** Appends numbered batches until one of them is lost; returns the bytes that are stored by what the writer said. */
function untilLoss(transcript: TranscriptWriter, from: number): { stored: Buffer; next: number } {
  const parts: Buffer[] = [];
  for (let number = from; ; number += 1) {
    const bytes = batch(number);
    const { lostBytes } = transcript.append([bytes.subarray(0, 300), bytes.subarray(300)]);
    parts.push(bytes.subarray(0, batchBytes - lostBytes));
    if (lostBytes > 0) return { stored: Buffer.concat(parts), next: number + 1 };
  }
}

it('counts what a full disk refuses to the byte, goes on when there is room, and stays incomplete', async () => {
  const disk = await smallDisk('size=256k,nr_inodes=100');
  const dir = join(disk, 'S1');
  const faults: TranscriptFault[] = [];
  const transcript = writer({ dir, onFault: (fault) => faults.push(fault) });
  fill(join(disk, 'ballast'));
  const before = untilLoss(transcript, 0);
  for (let lost = 0; lost < 500; lost += 1) transcript.append([batch(999)]);
  transcript.resize(90, 20);
  const { offset, lostBytes } = transcript;
  expect(offset).toBe(before.stored.length);
  rmSync(join(disk, 'ballast'));
  expect(transcript.append([Buffer.from('after')])).toEqual({ offset: offset + 5, lostBytes: 0 });
  expect(await transcript.end({ complete: true })).toEqual({ durable: true });
  expect(faults).toEqual([{ code: 'ENOSPC', errno: 28, reason: 'noSpace', offset: expect.any(Number) }]);
  const summary = await summaryOf(dir);
  expect(lostBytes).toBe(before.next * batchBytes - before.stored.length + 500 * batchBytes);
  expect(summary).toMatchObject({
    to: offset + 5,
    lostBytes,
    complete: false,
    reasons: ['noSpace', 'lost'],
    findings: [],
  });
  const bytes = await collected(readRange(summary, 0, summary.to));
  expect(bytes.equals(Buffer.concat([before.stored, Buffer.from('after')]))).toBe(true);
});

it('puts the gap where the bytes are missing, in the records and in what is exported', async () => {
  const disk = await smallDisk('size=128k,nr_inodes=100');
  const dir = join(disk, 'S1');
  const transcript = writer({ dir });
  fill(join(disk, 'ballast'));
  const { stored } = untilLoss(transcript, 0);
  rmSync(join(disk, 'ballast'));
  transcript.append([Buffer.from('after')]);
  await transcript.end({ complete: true });
  const moments: string[] = [];
  for await (const moment of timeline(await summaryOf(dir))) {
    if (moment.kind === 'missing') moments.push(`${moment.bytes} ${moment.reason}`);
    if (moment.kind === 'bytes') moments.push(moment.bytes.toString());
  }
  const lost = transcript.lostBytes;
  expect(moments.slice(-2)).toEqual([`${lost} noSpace`, 'after']);
  expect(moments.slice(0, -2).join('')).toBe(stored.toString());
  expect(await exported(dir, 'asciicast')).toContain(`"m","${lost} bytes missing: noSpace"`);
  expect(await exported(dir, 'text')).toContain(`[${lost} bytes missing: noSpace]`);
});

it('ends as interrupted when there is no room to say how it ended', async () => {
  const disk = await smallDisk('size=64k,nr_inodes=100');
  const dir = join(disk, 'S1');
  const transcript = writer({ dir });
  fill(join(disk, 'ballast'));
  untilLoss(transcript, 0);
  // The last page of the index has room for some lines yet.
  for (let cols = 100; cols < 500; cols += 1) transcript.resize(cols, 24);
  expect(await transcript.end({ complete: true })).toEqual({ durable: false });
  const { complete, reasons } = await summaryOf(dir);
  expect({ complete, reasons: reasons.includes('interrupted') }).toEqual({ complete: false, reasons: true });
});

it('starts no transcript on a full disk, and leaves nothing of it', async () => {
  const disk = await smallDisk('size=64k,nr_inodes=100');
  fill(join(disk, 'ballast'));
  const dir = join(disk, 'S1');
  expect(() => openTranscript({ dir, header })).toThrow(
    expect.objectContaining({ code: 'transcript_unavailable', errno: 28 }),
  );
  rmSync(join(disk, 'ballast'));
  writer({ dir }).append([Buffer.from('x')]);
});
