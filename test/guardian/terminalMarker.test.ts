import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEndMarkerScanner, endMarkerBytes } from '../../pty/launch/endMarker.ts';

const nonce = '0123456789abcdef0123456789abcdef';
const marker = endMarkerBytes(nonce);

/** Cuts as the numbers say, the last chunk takes what is left. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at = Math.min(bytes.length, at + size);
  }
  return [...chunks, bytes.subarray(at)];
}

function scanned(chunks: readonly Buffer[]) {
  const scanner = createEndMarkerScanner(nonce);
  const output = Buffer.concat(chunks.flatMap((chunk) => scanner.push(chunk)));
  return { output, reached: scanner.isReached, rest: Buffer.concat(scanner.rest()) };
}

/** Output that is hard to tell from a marker: whole prefixes of it, wrong nonces, escapes. */
const nearMisses = fc.oneof(
  fc.integer({ min: 0, max: marker.length - 1 }).map((length) => marker.subarray(0, length)),
  fc.constant(endMarkerBytes('f'.repeat(32))),
  fc.constantFrom('\x1b', '\x1b_', '\x1b\x1b_custody;end;', 'text\n', '\x1b\\').map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);
const outputs = fc
  .array(nearMisses, { maxLength: 8 })
  .map((parts) => Buffer.concat(parts))
  .filter((output) => Buffer.concat([output, marker]).indexOf(marker) === output.length);
const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 });

describe('the end marker', () => {
  it('is one APC string with the nonce', () => {
    expect(marker.toString('latin1')).toBe(`\x1b_custody;end;${nonce}\x1b\\`);
    expect(() => endMarkerBytes('0123')).toThrow(RangeError);
    expect(() => endMarkerBytes(nonce.toUpperCase())).toThrow(RangeError);
  });

  it('is found behind any output, cut anywhere, and what follows it is none', () => {
    const check = (output: Buffer, after: Buffer, chunkSizes: number[]) => {
      const stream = Buffer.concat([output, marker, after]);
      expect(scanned(cut(stream, chunkSizes))).toEqual({ output, reached: true, rest: Buffer.alloc(0) });
    };
    fc.assert(fc.property(outputs, nearMisses, sizes, check), { numRuns: 2000 });
  });

  it('without it every byte is output: at once, or as the rest', () => {
    const check = (output: Buffer, chunkSizes: number[]) => {
      const { output: taken, reached, rest } = scanned(cut(output, chunkSizes));
      expect([Buffer.concat([taken, rest]).equals(output), reached]).toEqual([true, false]);
    };
    fc.assert(fc.property(outputs, sizes, check), { numRuns: 2000 });
  });

  it('holds back no more than could begin it', () => {
    for (let length = 0; length < marker.length; length++) {
      const { output, rest } = scanned([Buffer.from('output'), marker.subarray(0, length)]);
      expect([output.toString(), rest.length]).toEqual(['output', length]);
    }
    expect(scanned([Buffer.from('\x1b_custodx')]).rest).toHaveLength(0);
  });

  it('passes ordinary output on without copying it', () => {
    const chunk = randomBytes(1 << 16).map((byte) => byte | 0x80);
    const [piece] = createEndMarkerScanner(nonce).push(Buffer.from(chunk.buffer));
    expect(piece!.buffer).toBe(chunk.buffer);
  });
});
