/**
 * Openings that found another process at the store (CONC-01, METR-01). Whoever is refused may not write the store, so it
 * leaves one byte in a file beside it; the next writer counts the bytes. Measuring never makes an opening fail, and two
 * that meet in the wrong moment may lose a few of them.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TotalsTable } from './tables/totals.ts';

/** More are not counted until the next writer has emptied it. */
const bytesAtMost = 65_536;

const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;

const fileIn = (stateDir: string): string => join(stateDir, 'lock.refused');

export function noteRefusal(stateDir: string): void {
  withFile(stateDir, O_CREAT, (fd) => void (fstatSync(fd).size < bytesAtMost && writeSync(fd, '.')));
}

/** How many are to be counted, and what `totals` has to remember then; belongs before a write transaction. */
export function takeRefusals(
  stateDir: string,
  totals: Pick<TotalsTable, 'of'>,
): { readonly refused: number; readonly seen: number } {
  const before = totals.of('refusals_seen');
  const size = withFile(stateDir, 0, (fd) => fstatSync(fd).size) ?? 0;
  // It was emptied, and whoever did that did not come to say so.
  const counted = before > size ? 0 : before;
  const isLong = size >= bytesAtMost / 2;
  if (isLong) withFile(stateDir, 0, (fd) => ftruncateSync(fd, 0));
  return { refused: size - counted, seen: isLong ? 0 : size };
}

function withFile<T>(stateDir: string, flags: number, use: (fd: number) => T): T | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fileIn(stateDir), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | flags, 0o600);
    return use(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
