/** What a worktree has checked out, by reading files only (gitrepository-layout(5)); null where that cannot be told. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { commonDirectoryOf } from '../../runtime/locate.ts';

export interface Head {
  readonly branch: string | null;
  readonly commit: string | null;
}

/** More than any ref holds; packed-refs of large repositories are some megabytes. */
const longestRef = 4_096;
const longestList = 67_108_864;

const commitPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Never throws: a strange repository has a strange head. */
export function headOf(gitDir: string): Head {
  const text = textOf(join(gitDir, 'HEAD'), longestRef)?.trim();
  if (text === undefined) return { branch: null, commit: null };
  const ref = /^ref: (refs\/[^\s\0]+)$/.exec(text)?.[1];
  if (ref === undefined) return { branch: null, commit: commitIn(text) };
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
  const isShown = branch !== null && branch.length <= 256;
  return { branch: isShown ? branch : null, commit: ref.includes('..') ? null : commitOf(gitDir, ref) };
}

function commitOf(gitDir: string, ref: string): string | null {
  const common = commonDirectoryOf(gitDir);
  const loose = textOf(join(common, ref), longestRef);
  if (loose !== undefined) return commitIn(loose.trim());
  const packed = textOf(join(common, 'packed-refs'), longestList) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line === undefined ? null : commitIn(line.split(' ')[0] ?? '');
}

const commitIn = (text: string): string | null => (commitPattern.test(text) ? text : null);

function textOf(path: string, atMostBytes: number): string | undefined {
  let file: number;
  try {
    // Without waiting: a FIFO in its place would never open.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const chunks: Buffer[] = [];
    for (let total = 0; total < atMostBytes; ) {
      const chunk = Buffer.alloc(Math.min(65_536, atMostBytes - total));
      const length = readSync(file, chunk, 0, chunk.length, null);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      total += length;
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
