/**
 * Looks at the write-ahead log before SQLite does (https://sqlite.org/fileformat2.html#walformat). SQLite reads a log up to
 * the first frame whose checksum is wrong and takes that for its end: a flipped bit would silently undo everything that
 * was committed behind it. Transactions are synced one after the other, so whole ones behind a wrong frame mean damage; a
 * single one may just as well have been cut off by a power failure, before anybody was told that it was committed.
 */
import { readFileSync } from 'node:fs';
import { StoreError, storeErrorOf } from './errors.ts';
import type { StoreWarning } from './filesystem.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;
const bigEndianMagic = 0x377f0683;
const littleEndianMagic = 0x377f0682;

type Sum = readonly [number, number];

/** Throws StoreError `store_corrupt`; returns what may be damage. Before the database is opened, by whoever holds the lock. */
export function checkLog(database: string): StoreWarning[] {
  const log = contentOf(`${database}-wal`);
  const left = log === undefined ? 0 : commitsBehindDamage(log);
  if (left > 1) throw new StoreError('store_corrupt', `the write-ahead log of ${database} is damaged`);
  if (left === 0) return [];
  const message =
    'the newest entry of the log was not whole and is left out: what was acknowledged last may be missing';
  return [{ code: 'store_log_torn', message }];
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw storeErrorOf(thrown) ?? new StoreError('store_io', `${path} cannot be read`, thrown);
  }
}

/** How many committed transactions of this log SQLite would not read. */
export function commitsBehindDamage(log: Buffer): number {
  if (log.length < headerBytes) return 0;
  const littleEndian = log.readUInt32BE(0) !== bigEndianMagic;
  const pageBytes = log.readUInt32BE(8) || 4096;
  const frameBytes = frameHeaderBytes + pageBytes;
  let sum: Sum = checksum(log.subarray(0, 24), littleEndian, [0, 0]);
  let isWhole = [littleEndianMagic, bigEndianMagic].includes(log.readUInt32BE(0)) && isSum(log, 24, sum);
  // A damaged header says nothing of its own frames; the first of them does.
  const salts = log.subarray(16, 24);
  const firstFrame = log.subarray(headerBytes, headerBytes + frameHeaderBytes);
  let left = 0;
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    const frame = log.subarray(at, at + frameBytes);
    const own = frame.subarray(8, 16);
    const isOfThisLog =
      differingBits(own, salts) <= 1 || (!isWhole && at > headerBytes && own.equals(firstFrame.subarray(8, 16)));
    if (!isOfThisLog) return left;
    if (isWhole) {
      sum = checksum(frame.subarray(frameHeaderBytes), littleEndian, checksum(frame.subarray(0, 8), littleEndian, sum));
      isWhole = own.equals(salts) && isSum(frame, 16, sum);
    }
    const isCommit = frame.readUInt32BE(4) !== 0;
    if (!isWhole && isCommit) left += 1;
  }
  return left;
}

const isSum = (bytes: Buffer, at: number, [first, second]: Sum): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;

function checksum(bytes: Buffer, littleEndian: boolean, [first, second]: Sum): Sum {
  let [one, two] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + (littleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + two) >>> 0;
    two = (two + (littleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}

/** Frames of an older turn of the log carry other salts; one flipped bit does not make a frame such a one. */
function differingBits(left: Buffer, right: Buffer): number {
  let bits = 0;
  for (let at = 0; at < left.length; at += 1)
    for (let rest = left[at]! ^ right[at]!; rest !== 0; rest &= rest - 1) bits += 1;
  return bits;
}
