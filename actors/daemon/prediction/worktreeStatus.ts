/**
 * What is in a worktree and in no commit, from `git status --porcelain=v2 -z` (git-status(1)) and, because an index can ask
 * git not to look at a file, from the flags of `git ls-files -v` (git-update-index(1)). Names are bytes: they may hold line
 * feeds and need not be UTF-8.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { counted, type Fact, mostNamed } from './fact.ts';
import type { GitLooks, Repository } from './gitLook.ts';

export interface Status {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Null when detached. */
  readonly branch: string | null;
  readonly facts: readonly Fact[];
  readonly ignored: number;
  readonly ignoredNames: readonly string[];
  /** Paths of submodules below the worktree, as the index has them. */
  readonly submodules: readonly string[];
  readonly evidenceIds: readonly string[];
}

type AskedRepository = Repository & { readonly worktree: string };

/** Submodules are compared by their commits alone here: git would look into one with that one's own configuration. */
const statusArguments: readonly string[] = [
  ...['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=normal', '--ignored=traditional'],
  ...['--ignore-submodules=dirty', '--no-renames', '--no-ahead-behind'],
];

/** An index of some hundred thousand files. */
const listBytes = 64 * 1_048_576;

/** Throws LookFailed. */
export async function lookAtStatus(looks: GitLooks, repository: AskedRepository): Promise<Status> {
  const [status, list] = await Promise.all([
    looks.ask(repository, { args: statusArguments }),
    looks.ask(repository, { args: ['ls-files', '-s', '-v', '-z'], largestBytes: listBytes }),
  ]);
  const parsed = parseStatus(status.stdout);
  const { submodules, flagged } = parseList(list.stdout);
  // Of a sparse checkout the files that are left out are not there, and lose nothing.
  const hidden = flagged.filter(({ tag, path }) => tag !== 'S' || exists(join(repository.worktree, path)));
  const { evidenceId } = status;
  return {
    ...parsed,
    submodules,
    facts: [
      ...listed('uncommitted_changes', {
        paths: parsed.changed,
        what: 'has changes that are in no commit',
        evidenceId,
      }),
      ...listed('submodule_changes', {
        paths: parsed.moved,
        what: 'stands at another commit than the index',
        evidenceId,
      }),
      ...listed('untracked_files', { paths: parsed.untracked, what: 'is in no commit (untracked)', evidenceId }),
      ...listed('hidden_by_index', {
        paths: hidden.map(({ path }) => path),
        what: 'is marked so that git does not look whether it has changed',
        evidenceId: list.evidenceId,
      }),
    ],
    ignored: parsed.ignoredNames.length,
    evidenceIds: [evidenceId, list.evidenceId],
  };
}

interface Listed {
  readonly paths: readonly string[];
  readonly what: string;
  readonly evidenceId: string;
}

/** One fact for all paths of a kind, or none. */
export function listed(code: string, { paths, what, evidenceId }: Listed): Fact[] {
  if (paths.length === 0) return [];
  const named = paths.slice(0, mostNamed);
  const detail = `${JSON.stringify(named[0])} ${what}${paths.length > 1 ? `, and ${counted(paths.length - 1, 'other')}` : ''}`;
  return [{ code, detail, evidenceIds: [evidenceId], named, count: paths.length }];
}

interface Parsed {
  readonly head: string | null;
  readonly branch: string | null;
  readonly changed: readonly string[];
  /** Submodules. */
  readonly moved: readonly string[];
  readonly untracked: readonly string[];
  readonly ignoredNames: readonly string[];
}

export function parseStatus(output: Buffer): Parsed {
  const header = new Map<string, string>();
  const [changed, moved, untracked, ignoredNames]: [string[], string[], string[], string[]] = [[], [], [], []];
  const records = output.toString('utf8').split('\0');
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at]!;
    const kind = record[0];
    if (kind === '#') header.set(...wordAndRest(record.slice(2)));
    else if (kind === '?') untracked.push(record.slice(2));
    else if (kind === '!') ignoredNames.push(record.slice(2));
    else if (kind === '1' || kind === '2' || kind === 'u') {
      const path = afterWords(record, kind === '1' ? 8 : kind === '2' ? 9 : 10);
      (record.slice(5, 6) === 'S' ? moved : changed).push(path);
      if (kind === '2') at += 1; // the name that it had before
    }
  }
  const [oid, name] = [header.get('branch.oid'), header.get('branch.head')];
  return {
    head: oid !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(oid) ? oid : null,
    branch: name === undefined || name === '(detached)' ? null : name,
    ...{ changed, moved, untracked, ignoredNames },
  };
}

function wordAndRest(text: string): [string, string] {
  const at = text.indexOf(' ');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function afterWords(record: string, words: number): string {
  let at = 0;
  for (let left = words; left > 0; left -= 1) at = record.indexOf(' ', at) + 1;
  return record.slice(at);
}

interface Flagged {
  readonly tag: string;
  readonly path: string;
}

/** Lines are `<tag> <mode> <object> <stage>\t<path>`; a tag of lower case or `S` means that git does not look. */
export function parseList(output: Buffer): { readonly submodules: string[]; readonly flagged: Flagged[] } {
  const submodules: string[] = [];
  const flagged: Flagged[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at);
    const stop = end < 0 ? output.length : end;
    const tag = String.fromCharCode(output[at]!);
    const isSubmodule = output.toString('latin1', at + 2, at + 8) === '160000';
    if (isSubmodule || tag === 'S' || (tag >= 'a' && tag <= 'z')) {
      const path = output.toString('utf8', output.indexOf(0x09, at) + 1, stop);
      if (isSubmodule) submodules.push(path);
      else flagged.push({ tag, path });
    }
    at = stop + 1;
  }
  return { submodules, flagged };
}

/** Who cannot be looked at is taken to be there. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
