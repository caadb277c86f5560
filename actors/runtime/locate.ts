/**
 * Finds a repository by reading files only. No git process runs here: git runs under guardians, and asking it about a
 * directory that a stranger prepared is already running something (ruling 25).
 */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { OperatingError } from './operatingError.ts';

export interface RepositoryLocation {
  /** Top of the working tree, or the bare repository itself; symbolic links resolved. */
  readonly path: string;
  /** The directory that all worktrees of the repository share (gitrepository-layout(5)). */
  readonly commonGitDir: string;
  readonly bare: boolean;
}

/** Walks up from `start`. Throws `not_a_repository` (exit 13) when there is none, or its pointer leads nowhere. */
export function locateRepository(start: string): RepositoryLocation {
  let current: string;
  try {
    current = realpathSync(start);
  } catch {
    throw notARepository(start, 'the path does not exist');
  }
  if (!statSync(current).isDirectory()) current = dirname(current);
  for (;;) {
    const found = repositoryAt(current);
    if (found) return found;
    const parent = dirname(current);
    if (parent === current) throw notARepository(start, 'neither it nor a directory above it holds a repository');
    current = parent;
  }
}

function repositoryAt(directory: string): RepositoryLocation | undefined {
  const gitDir = gitDirectoryOf(directory);
  if (gitDir) return { path: directory, commonGitDir: commonDirectoryOf(gitDir), bare: false };
  return isGitDirectory(directory) ? { path: directory, commonGitDir: directory, bare: true } : undefined;
}

/** The git directory that `.git` is, or points to (gitfile). A pointer that leads nowhere is an error, not "no repository". */
export function gitDirectoryOf(worktree: string): string | undefined {
  const entry = join(worktree, '.git');
  const info = lstatSync(entry, { throwIfNoEntry: false });
  if (!info) return undefined;
  if (info.isDirectory()) return isGitDirectory(entry) ? realpathSync(entry) : undefined;
  if (!info.isFile()) return undefined;
  const pointer = /^gitdir: (.+?)\n?$/s.exec(pointerIn(entry))?.[1];
  const target = pointer ? resolve(worktree, pointer) : undefined;
  if (!target || !isGitDirectory(target)) throw notARepository(worktree, 'its .git pointer leads nowhere');
  return realpathSync(target);
}

/** Twice the longest path (PATH_MAX): git writes one path into it. */
const pointerBytes = 8_192;

/** Empty for what holds no pointer: a stranger's pipe would be read for ever, and a huge file fill the memory. */
function pointerIn(file: string): string {
  const info = statSync(file);
  return info.isFile() && info.size <= pointerBytes ? readFileSync(file, 'utf8') : '';
}

/** The directory that the worktree of this git directory shares with others: itself, for a main worktree. */
export function commonDirectoryOf(gitDir: string): string {
  try {
    // Resolved from the git directory itself where there is no pointer.
    return realpathSync(resolve(gitDir, pointerIn(join(gitDir, 'commondir')).trim()));
  } catch {
    return gitDir;
  }
}

/** Whether git would take it for a git directory (gitrepository-layout(5)). Throws what stat(2) does. */
export function isGitDirectory(directory: string): boolean {
  const isFile = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() ?? false;
  const hasObjects = statSync(join(directory, 'objects'), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFile('HEAD') && (hasObjects || isFile('commondir'));
}

function notARepository(path: string, why: string): OperatingError {
  return new OperatingError({
    code: 'not_a_repository',
    message: `${JSON.stringify(path)} is not inside a git repository: ${why}`,
    exitCode: 13,
    next: ['custody goals add TITLE --repo PATH', 'custody repos add PATH', 'git init'],
  });
}
