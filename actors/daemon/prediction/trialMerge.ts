/**
 * Whether merging one side into another would change nothing there, path by path. Git's own trial merge writes objects, and
 * where it finds one that is there already it sets that one's time, in the repository of somebody else; so only what both
 * sides have changed differently is merged, as plain files of our own (git-merge-file(1)): no driver, no attribute and no
 * guess about renames takes part.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Change {
  /** `mode object` before and after; `absent` where there is nothing. */
  readonly before: string;
  readonly after: string;
}

/** By path, whose bytes are taken for letters. */
export type Changes = ReadonlyMap<string, Change>;

export interface Sides {
  /** Since the common ancestor: of the branch that would be merged into, and of what would be merged. */
  readonly ours: Changes;
  readonly theirs: Changes;
}

export interface Merging {
  /** A directory of our own. */
  readonly directory: string;
  contentOf(blobs: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Undefined for a conflict, and for what is no text. */
  mergeOf(files: { ours: string; base: string; theirs: string }): Promise<Buffer | undefined>;
}

/** Files that are merged on trial; who has changed more differently is not merged, or cannot be told to be. */
const mostMerged = 20;

/** Sides that have changed nothing are no evidence: what was undone again is in no other branch for that. */
export async function mergeChangesNothing({ ours, theirs }: Sides, merging: Merging): Promise<boolean> {
  if (theirs.size === 0) return false;
  const different: Disputed[] = [];
  for (const [path, { before, after }] of theirs) {
    const here = ours.get(path)?.after ?? before;
    if (here === after) continue;
    const [base, mine, other] = [before, here, after].map(fileOf);
    // Only the content of one regular file can be merged, and only with the same mode on both sides.
    if (!base || !mine || !other || mine.mode !== other.mode || different.length >= mostMerged) return false;
    different.push({ base: base.object, ours: mine.object, theirs: other.object });
  }
  if (different.length === 0) return true;
  const content = await merging.contentOf(different.flatMap((one) => Object.values(one)));
  for (const one of different) if (!(await isSame(one, content, merging))) return false;
  return true;
}

interface Disputed {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

async function isSame(disputed: Disputed, content: ReadonlyMap<string, Buffer>, merging: Merging): Promise<boolean> {
  const [base, ours, theirs] = [disputed.base, disputed.ours, disputed.theirs].map((object) => content.get(object));
  if (base === undefined || ours === undefined || theirs === undefined) return false;
  const { directory } = merging;
  const files = { base: join(directory, 'base'), ours: join(directory, 'ours'), theirs: join(directory, 'theirs') };
  writeFileSync(files.base, base);
  writeFileSync(files.ours, ours);
  writeFileSync(files.theirs, theirs);
  const merged = await merging.mergeOf(files);
  return merged?.equals(ours) === true;
}

const fileOf = (entry: string): { readonly mode: string; readonly object: string } | undefined => {
  const [mode, object] = entry.split(' ');
  return object !== undefined && (mode === '100644' || mode === '100755') ? { mode, object } : undefined;
};

/** Records are `:<mode> <mode> <object> <object> <status>\0<path>\0` (git-diff-tree(1), raw format). */
export function parseChanges(output: Buffer): Map<string, Change> {
  const changes = new Map<string, Change>();
  const records = output.toString('latin1').split('\0');
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [before = '', after = '', from = '', to = ''] = records[at]!.slice(1).split(' ');
    changes.set(records[at + 1]!, { before: entryOf(before, from), after: entryOf(after, to) });
  }
  return changes;
}

const entryOf = (mode: string, object: string): string => (mode === '000000' ? 'absent' : `${mode} ${object}`);

/** Answers are `<object> <type> <size>\n<content>\n`, or `<object> missing\n` (git-cat-file(1)). */
export function parseBatch(output: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [object = '', , size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (size === undefined) continue;
    found.set(object, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}
