/** An executor that does not come to its end, and what it leaves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { run, type SealedWorktree } from './sealedWorktree.ts';

export const thrown = (
  of: () => unknown,
): { code?: string; exitCode?: number; details?: Record<string, unknown>; message?: string } => {
  try {
    of();
  } catch (error) {
    return error as { code?: string };
  }
  throw new Error('it was not refused');
};

export const isWhole = ({ path, git, precious }: SealedWorktree): void => {
  expect(readFileSync(join(path, 'deep', 'er', 'file'), 'utf8')).toBe('x');
  expect(readFileSync(join(precious, 'kept'), 'utf8')).toBe('kept\n');
  expect(git('worktree', 'list', '--porcelain')).toContain(`worktree ${path}\n`);
};

/** As if killed there. */
export const diesBefore = (step: string, worktree: SealedWorktree) =>
  thrown(() =>
    run(worktree, {
      step: (name) => {
        if (name === step) throw new Error('interrupted');
      },
    }),
  );
