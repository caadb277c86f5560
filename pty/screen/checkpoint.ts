/**
 * A screen as it was at some offset, so that nobody has to render the whole transcript again. It lies beside the
 * transcript, is replaced in one step, and is only a shortcut: one that is missing or damaged costs time and nothing else.
 */
import { createHash } from 'node:crypto';
import { closeSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile, openOwnFile } from '../transcript/files.ts';
import { checkpointName } from '../transcript/layout.ts';
import type { FollowPlace } from './follower.ts';

const checkpointVersion = 1;

export interface Checkpoint extends FollowPlace {
  readonly cols: number;
  readonly rows: number;
  readonly title?: string;
  readonly lostBytes: number;
  /** What makes an empty terminal show the screen. */
  readonly repaint: Uint8Array;
}

/** Does nothing when the disk refuses: the next one may fare better, and the old one is still there. */
export function saveCheckpoint(dir: string, checkpoint: Checkpoint): void {
  const { repaint, ...rest } = checkpoint;
  const digest = digestOf(repaint);
  const head = { version: checkpointVersion, ...rest, repaintBytes: repaint.length, digest };
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), repaint]);
  const fresh = join(dir, `${checkpointName}.new`);
  try {
    // Left by a thread that was ended in the middle of this.
    rmSync(fresh, { force: true });
    writeWhole(fresh, bytes);
    renameSync(fresh, join(dir, checkpointName));
  } catch {
    rmSync(fresh, { force: true });
  }
}

function writeWhole(path: string, bytes: Uint8Array): void {
  const fd = createPrivateFile(path);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } finally {
    closeSync(fd);
  }
}

/** Undefined when there is none that can be believed. */
export function loadCheckpoint(dir: string): Checkpoint | undefined {
  const opened = openOwnFile(join(dir, checkpointName));
  if ('problem' in opened) return undefined;
  const bytes = Buffer.alloc(opened.size);
  try {
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(opened.fd, bytes, at, bytes.length - at, at);
      if (read === 0) return undefined;
      at += read;
    }
  } finally {
    closeSync(opened.fd);
  }
  const end = bytes.indexOf(0x0a);
  return end < 0 ? undefined : parsed(bytes.toString('utf8', 0, end), bytes.subarray(end + 1));
}

function parsed(head: string, repaint: Uint8Array): Checkpoint | undefined {
  try {
    const { version, repaintBytes, digest, ...rest } = JSON.parse(head) as Record<string, unknown>;
    const isWhole = repaintBytes === repaint.length && digest === digestOf(repaint);
    if (version !== checkpointVersion || !isWhole) return undefined;
    const counts = [rest.offset, rest.indexAt, rest.passedTo, rest.cols, rest.rows, rest.lostBytes];
    if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return undefined;
    return { ...(rest as unknown as Omit<Checkpoint, 'repaint'>), repaint };
  } catch {
    return undefined;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
