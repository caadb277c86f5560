/**
 * What a few system calls say about the place of a generation, without git: whether it is the recorded directory, and what
 * its git directory says of itself. Read before everything else and once more at the end, so that a change in between is
 * seen.
 */
import { type BigIntStats, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { directoryIdentity, isSameDirectory } from '../../../machines/directory.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { gitDirectoryOf } from '../../runtime/locate.ts';
import { type Fact, quoted } from './fact.ts';

export interface Place {
  readonly facts: readonly Fact[];
  /** Absent where no repository can be asked. */
  readonly gitDir?: string;
  /** Changes with whatever a git command or an editor of the branch would do; not with the content of files. */
  readonly fingerprint: string;
}

/** `look` is the evidence id of what is read here. */
export function lookAtPlace({ context }: GenerationSnapshot, look: string): Place {
  const { path, fsIdentity } = context;
  const fact = (code: string, detail: string): Fact => ({ code, detail, evidenceIds: [look] });
  const nowhere = (code: string, detail: string): Place => ({ facts: [fact(code, detail)], fingerprint: code });
  const directory = lookAt(path);
  if (typeof directory === 'string')
    return directory === 'ENOENT' || directory === 'ENOTDIR'
      ? nowhere('directory_missing', `there is nothing at ${quoted(path)}; what became of it is not known`)
      : nowhere('inspection_failed', `${quoted(path)} cannot be looked at (${directory})`);
  if (!directory.isDirectory() || !isSameDirectory(directoryIdentity(directory), fsIdentity))
    return nowhere('directory_replaced', `at ${quoted(path)} is another directory than the one on record`);
  let gitDir: string | undefined;
  try {
    gitDir = gitDirectoryOf(path);
  } catch {
    gitDir = undefined; // it leads nowhere, or cannot be read
  }
  if (gitDir === undefined)
    return nowhere(
      'git_pointer_broken',
      `the .git of ${quoted(path)} leads to no repository: what is in it is unknown`,
    );
  if (fsIdentity.gitdir !== '' && gitDir !== fsIdentity.gitdir)
    return nowhere(
      'directory_replaced',
      `the .git of ${quoted(path)} leads to another repository than the one on record`,
    );
  const facts = [...ofRepository(path, gitDir, fact), ...ofGitDirectory(gitDir, fact)];
  return { gitDir, facts, fingerprint: fingerprintOf(path, gitDir) };
}

/** Whoever cleans up a main worktree cleans up every branch of everybody. */
function ofRepository(path: string, gitDir: string, fact: (code: string, detail: string) => Fact): Fact[] {
  if (!gitDir.startsWith(join(realpathSync(path), sep))) return [];
  return [fact('main_worktree', `the repository itself lies in ${quoted(path)}, with all of its branches`)];
}

/** What the names of git mean while something is going on (gitrepository-layout(5), git-status(1)). */
const operations: readonly (readonly [file: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase or the application of patches'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['BISECT_LOG', 'a bisection'],
  ['sequencer', 'a series of cherry-picks or reverts'],
  ['index.lock', 'a git command, or one that was killed'],
];

function ofGitDirectory(gitDir: string, fact: (code: string, detail: string) => Fact): Fact[] {
  const going = operations
    .filter(([file]) => lookAt(join(gitDir, file)) !== 'ENOENT')
    .map(([file, what]) => fact('operation_in_progress', `${what} is in progress (${file})`));
  const lock = join(gitDir, 'locked');
  if (lookAt(lock) === 'ENOENT') return going;
  const reason = textOf(lock).trim();
  const because = reason === '' ? 'without a reason' : `because ${quoted(reason)}`;
  return [...going, fact('worktree_locked', `somebody has locked the worktree, ${because}`)];
}

function fingerprintOf(path: string, gitDir: string): string {
  const files = ['HEAD', 'index', 'logs/HEAD', 'locked', ...operations.map(([file]) => file)];
  const seen = [path, join(path, '.git'), ...files.map((file) => join(gitDir, file))].map((file) => {
    const found = lookAt(file);
    return typeof found === 'string' ? found : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join();
  });
  return seen.join('\n');
}

function lookAt(path: string): BigIntStats | string {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** The beginning of a small regular file; nobody waits for a FIFO that bears its name. */
export function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    return lstatSync(path).isFile() && size <= 65_536 ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
