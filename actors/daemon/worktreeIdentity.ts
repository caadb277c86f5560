/** Which directory a generation is: the same path made anew is another one (WT-01). */
import { statSync } from 'node:fs';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import { gitDirectoryOf } from './git/locate.ts';
import { OperatingError } from './operatingError.ts';

export interface WorktreeFileIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly gitdir: string;
}

export function fileIdentityOf(path: string): WorktreeFileIdentity {
  const { dev, ino } = statSync(path, { bigint: true });
  return { dev: String(dev), ino: String(ino), gitdir: gitDirectoryOf(path) ?? '' };
}

/**
 * Nothing starts in a directory that is not the recorded one: git would find a repository further up and work there.
 * Throws `generation_missing` (exit 13).
 */
export function assertInPlace({ context }: GenerationSnapshot): void {
  const expected = context.fsIdentity;
  let found: WorktreeFileIdentity | undefined;
  try {
    found = fileIdentityOf(context.path);
  } catch {
    found = undefined;
  }
  const isSame =
    found !== undefined && found.dev === expected.dev && found.ino === expected.ino && found.gitdir === expected.gitdir;
  if (isSame) return;
  throw new OperatingError({
    code: 'generation_missing',
    message: `the directory of ${context.generationId} is ${found ? 'another one by now' : 'gone'}: ${JSON.stringify(context.path)}`,
    exitCode: 13,
    next: context.goalId ? [`custody worktrees add ${context.goalId}`] : [],
    details: { generationId: context.generationId, found: found ? 'replaced' : 'missing' },
  });
}
