/** A directory down to the last byte, so that two moments can be compared. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export function everythingBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      return entry.isDirectory() ? [path, ...everythingBelow(path)] : [path];
    })
    .sort();
}

/** One line per entry: path, type and mode, owner, links, size, time of the last change to content and to inode, content. */
export const listing = (dir: string): string[] => [dir, ...everythingBelow(dir)].map(described);

function described(path: string): string {
  const info = lstatSync(path, { bigint: true });
  const size = info.isDirectory() ? '' : info.size;
  const content = info.isFile() ? sha256(readFileSync(path)) : info.isSymbolicLink() ? readlinkSync(path) : '';
  return [path, info.mode.toString(8), info.uid, info.nlink, size, info.mtimeNs, info.ctimeNs, content].join(' ');
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
