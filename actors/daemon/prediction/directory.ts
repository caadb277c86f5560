/** What lies in a directory: one that is not there holds nothing, and one that cannot be read may hold anything. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { quoted } from './fact.ts';
import { LookFailed } from './gitLook.ts';

/** Empty where it is gone, or is no directory. Throws LookFailed for what readdir(3) refuses otherwise. */
export async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new LookFailed('inspection_failed', `${quoted(directory)} cannot be looked into (${code})`, []);
  }
}
