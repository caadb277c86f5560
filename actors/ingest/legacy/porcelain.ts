/**
 * The output of `git worktree list --porcelain`, with lines or with `-z` (git-worktree(1)). Without `-z` a path with a line
 * feed cannot be told from an attribute; it is refused then instead of being taken for another path.
 */
import { canonicalDigest } from '../../../machines/canonical.ts';
import { branchSchema } from '../../../machines/legacyRecord.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Entry, Listing } from './listing.ts';

export const porcelainFormat = 'git-worktree-porcelain';

const tool = 'git';
const recordsAtMost = 100_000;

/** Throws `document_invalid` (exit 2) for what is no such list. */
export function listingOfPorcelain(bytes: Buffer): Listing {
  const end = bytes.includes(0) ? 0 : 0x0a;
  const records = recordsOf(bytes, end);
  if (records.length === 0) throw invalid('it lists no worktree');
  if (records.length > recordsAtMost) throw invalid(`it lists more than ${recordsAtMost} worktrees`);
  if (textOf(records[0]!.lines[0]!)?.startsWith('worktree ') !== true)
    throw invalid('it does not begin with a worktree');
  return { tool, entries: records.map(entryOf) };
}

interface Lines {
  readonly at: string;
  readonly lines: readonly Buffer[];
}

/** Each ends with an empty line. */
function recordsOf(bytes: Buffer, end: number): Lines[] {
  const records: Lines[] = [];
  let lines: Buffer[] = [];
  let [number, first] = [1, 1];
  const finish = () => {
    if (lines.length > 0) records.push({ at: `${end === 0 ? 'field' : 'line'} ${first}`, lines });
    lines = [];
  };
  for (let from = 0; from < bytes.length; number += 1) {
    const found = bytes.indexOf(end, from);
    const to = found < 0 ? bytes.length : found;
    if (to === from) finish();
    else {
      if (lines.length === 0) first = number;
      lines.push(bytes.subarray(from, to));
    }
    from = to + 1;
  }
  finish();
  return records;
}

interface Attributes {
  branch: string | null;
  commit: string | null;
  isBare: boolean;
  readonly remarks: string[];
}

function entryOf({ at, lines: [first, ...rest] }: Lines): Entry {
  const kind = 'worktree' as const;
  const head = textOf(first!);
  const path = head?.startsWith('worktree ') ? head.slice('worktree '.length) : undefined;
  if (head === undefined) return { kind, at, problems: [`${at}: not_utf8`] };
  if (path === undefined || !path.startsWith('/') || path.length > 4_096)
    return { kind, at, problems: [`${at}: no_absolute_path`] };
  const attributes: Attributes = { branch: null, commit: null, isBare: false, remarks: [] };
  for (const line of rest) {
    const problem = read(textOf(line), attributes);
    if (problem !== undefined) return { kind, at, problems: [`${at}: ${problem}`] };
  }
  const digest = canonicalDigest({ path, ...attributes });
  return { kind, at, name: null, digest, path, ...attributes };
}

const unborn = /^0+$/;

/** One line of a worktree; returns what is wrong with it. */
function read(line: string | undefined, attributes: Attributes): string | undefined {
  if (line === undefined) return 'not_utf8';
  const [, word = '', value = ''] = /^(\S+)(?: (.*))?$/s.exec(line) ?? [];
  switch (word) {
    case 'HEAD':
      if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) return 'HEAD: wrong_form';
      attributes.commit = unborn.test(value) ? null : value;
      return undefined;
    case 'branch': {
      const name = value.replace(/^refs\/heads\//, '');
      if (!branchSchema.safeParse(name).success) return 'branch: wrong_form';
      attributes.branch = name;
      return undefined;
    }
    case 'bare':
      attributes.isBare = true;
      return undefined;
    case 'detached':
    case 'locked':
    case 'prunable':
      // The reason is somebody's own text, which is not taken along.
      attributes.remarks.push(word);
      return undefined;
    default:
      return 'unknown_attribute';
  }
}

function textOf(line: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return undefined;
  }
}

const invalid = (problem: string): OperatingError =>
  new OperatingError({
    code: 'document_invalid',
    message: `this is no output of git worktree list --porcelain: ${problem}`,
    exitCode: 2,
    next: ['git worktree list --porcelain -z > FILE', 'custody import-legacy --help'],
    details: { problems: [problem] },
  });
