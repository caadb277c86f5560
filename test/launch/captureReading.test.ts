import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { IncompleteCaptureError, readCapture, requireCompleteCapture } from '../../pty/launch/captureReading.ts';

const mebibyte = 1_048_576;
const limitBytes = 16 * mebibyte;
const whole = { stream: 'stdout', complete: true, reason: null };
let path: string;

beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'custody-capture-'));
  path = join(dir, 'stdout.log');
  onTestFinished(() => rmSync(dir, { recursive: true }));
});

/** What a caller does who wants a value: the parser has to stay out of reach. */
async function parsed(known: typeof whole | { stream: string; complete: false; reason: string }, read: string[] = []) {
  const bytes = requireCompleteCapture(await readCapture({ path, known, limitBytes }));
  read.push('parser reached');
  return JSON.parse(bytes.toString()) as unknown;
}

describe('CAP-04: a captured stream as a value', () => {
  it('is read whole when it is complete, up to the last byte of the bound', async () => {
    writeFileSync(path, `${' '.repeat(limitBytes - 2)}12`);
    expect(await parsed(whole)).toBe(12);
  });

  it('is not complete when it is one byte longer than 16 MiB, although what was read parses', async () => {
    writeFileSync(path, '12');
    const reading = await readCapture({ path, known: whole, limitBytes: 1 });
    expect(reading).toMatchObject({ complete: false, reason: expect.stringContaining('captureMemoryBytes') });
    truncateSync(path, limitBytes + 1);
    const large = await readCapture({ path, known: whole, limitBytes });
    expect(large).toMatchObject({ complete: false });
    expect(large.bytes.length).toBe(limitBytes);
    expect(() => requireCompleteCapture(large)).toThrow(IncompleteCaptureError);
  });

  it.each(['held open by pid 7', 'no space left on device (ENOSPC)'])(
    'is refused with its reason: %s',
    async (reason) => {
      writeFileSync(path, '{"looks":"fine"}');
      const read: string[] = [];
      await expect(parsed({ stream: 'stdout', complete: false, reason }, read)).rejects.toMatchObject({
        code: 'capture_incomplete',
        stream: 'stdout',
        reason,
      });
      expect(read).toEqual([]);
    },
  );

  it.each<[string, () => void]>([
    ['nothing', () => {}],
    ['a fifo', () => execFileSync('mkfifo', [path])],
    ['a link', () => symlinkSync('/etc/hostname', path)],
  ])('is none where the file should be and %s is', async (_, make) => {
    make();
    await expect(parsed(whole)).rejects.toMatchObject({ reason: 'the file is gone' });
  });
});
