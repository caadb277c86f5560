import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readRange } from '../../pty/transcript/rawReader.ts';
import { openTranscript } from '../../pty/transcript/writer.ts';
import { collected, exported, header, privateDirectory, steppingClock, summaryOf } from './support/transcripts.ts';

const batches = fc.array(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }), { maxLength: 20 });

/** Any way of cutting bytes into batches and segments. */
async function stored(list: readonly (readonly Uint8Array[])[], options: { segmentBytes: number; maxBytes?: number }) {
  const dir = join(privateDirectory(), 'S1');
  const transcript = openTranscript({ dir, header, clock: steppingClock(), ...options });
  for (const batch of list) expect(transcript.append(batch).lostBytes).toBe(0);
  await transcript.end({ complete: true });
  transcript.close();
  return dir;
}

it('gives back byte for byte what it was given, from any offset, however it was cut', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.integer({ min: 1, max: 64 }), fc.nat(), async (list, segmentBytes, at) => {
      const dir = await stored(list, { segmentBytes });
      const all = Buffer.concat(list.flat());
      const summary = await summaryOf(dir);
      expect(summary).toMatchObject({ from: 0, to: all.length, complete: true });
      const from = at % (all.length + 1);
      expect((await collected(readRange(summary, from, all.length))).equals(all.subarray(from))).toBe(true);
      rmSync(dir, { recursive: true });
    }),
    { numRuns: 40 },
  );
});

it('keeps at least the cap and at most a segment more, and always the newest', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.integer({ min: 1, max: 32 }), fc.nat(200), async (list, segmentBytes, maxBytes) => {
      const dir = await stored(list, { segmentBytes, maxBytes });
      const all = Buffer.concat(list.flat());
      const { from, to, reasons, findings, ...summary } = await summaryOf(dir);
      expect({ to, findings, reasons }).toEqual({ to: all.length, findings: [], reasons: from > 0 ? ['dropped'] : [] });
      expect(to - from).toBeGreaterThanOrEqual(Math.min(all.length, maxBytes - segmentBytes));
      expect(to - from).toBeLessThanOrEqual(Math.max(maxBytes, segmentBytes));
      expect((await collected(readRange(summary, from, to))).equals(all.subarray(from))).toBe(true);
      rmSync(dir, { recursive: true });
    }),
    { numRuns: 40 },
  );
});

const text = fc.string({ unit: 'binary', maxLength: 60 });

/** Cuts bytes at places that respect no character. */
function cut(bytes: Buffer, sizes: readonly number[]): Uint8Array[][] {
  const pieces: Uint8Array[][] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    pieces.push([bytes.subarray(at, at + size)]);
    at += size;
  }
  return pieces;
}

it('exports an asciicast whose output read back is the bytes, wherever a character was cut', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(text, sizes, async (said, cuts) => {
      const bytes = Buffer.from(said);
      const dir = await stored(cut(bytes, cuts), { segmentBytes: 5 });
      const [first, ...events] = (await exported(dir, 'asciicast'))
        .trimEnd()
        .split('\n')
        .map((one) => JSON.parse(one));
      expect(first).toMatchObject({ version: 2, width: 80, height: 24, env: { TERM: 'xterm-256color' } });
      const times = events.map(([at]) => at as number);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(Buffer.from(events.map(([, , data]) => data).join('')).equals(bytes)).toBe(true);
      rmSync(dir, { recursive: true });
    }),
    { numRuns: 40 },
  );
});
