/**
 * Whether anybody ever committed in a worktree. A fresh branch differs from nothing and is an ancestor of everything, so
 * that everything of it is kept elsewhere says nothing: its work may be about to begin. It counts as worked in when
 *
 * - its head is not where it began, and
 * - the log of its head, where there is one, has an entry of a commit, and not only of being moved to commits of others.
 *
 * Where it began is what was recorded when it was created; of other worktrees, the first entry of that log. Where neither
 * is known, nobody can tell it from a fresh one.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const largestLog = 16 * 1_048_576;

/** Entries of what makes a commit (git-reflog(1)); a fast-forward makes none. */
const isCommit = (message: string): boolean =>
  /^(commit|cherry-pick|revert|am)\b/.test(message) ||
  (/^rebase\b/.test(message) && /\((pick|reword|edit|squash|fixup|continue)\)/.test(message)) ||
  (/^(merge|pull)\b/.test(message) && !/Fast-forward$/.test(message));

export function wasWorkedIn(gitDir: string, recordedBase: string | null, head: string): boolean {
  const entries = logOf(gitDir);
  const base = recordedBase ?? entries?.[0]?.commit;
  if (base === undefined || base === head) return false;
  return entries === undefined || entries.some(({ message }) => isCommit(message));
}

interface Entry {
  readonly commit: string;
  readonly message: string;
}

/** Undefined when there is none that can be read; an empty one is none. */
function logOf(gitDir: string): readonly Entry[] | undefined {
  const path = join(gitDir, 'logs', 'HEAD');
  try {
    const info = statSync(path);
    if (!info.isFile() || info.size > largestLog) return undefined;
    const entries = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(entryOf);
    return entries.length === 0 ? undefined : entries;
  } catch {
    return undefined;
  }
}

/** `<before> <after> <who> <when>\t<message>`. */
function entryOf(line: string): Entry {
  const [head = '', message = ''] = line.split('\t', 2);
  return { commit: head.split(' ')[1] ?? '', message };
}
