/**
 * Whether what was committed in a worktree is kept elsewhere. Ancestry alone answers wrongly both ways: a fresh branch is
 * an ancestor of everything, and a squashed one of nothing. So a tip counts as kept where
 *
 * - another branch that stays reaches it, or
 * - each of its own commits, or all of them as one patch, is a patch of such a branch, to the last blank, or
 * - merging it into such a branch would change nothing there.
 *
 * All of it is asked in a repository of our own (`isolated.ts`), by the ids of objects.
 */
import { type GitLooks, LookFailed, type Repository } from './gitLook.ts';
import type { Reference } from './references.ts';
import { type Changes, mergeChangesNothing, parseBatch, parseChanges } from './trialMerge.ts';

export type How = 'reachable' | 'patches' | 'squash' | 'merge';

export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly subject: string;
}

export interface Containment {
  readonly kept: { readonly how: How; readonly in: string } | null;
  /** Commits of the tip that nothing else reaches, newest first; one more than `mostCommits` where there are more. */
  readonly own: readonly Commit[];
  readonly evidenceIds: readonly string[];
}

export interface Question {
  readonly tip: string;
  /** Those that are most likely to have it first. */
  readonly staying: readonly Reference[];
}

export const mostCommits = 100;
/** Newest commits of the targets whose patches are compared. */
const mostCompared = 2_000;
/** Branches that it is merged with on trial. */
const mostTargets = 6;
const patchBytes = 32 * 1_048_576;
const changesBytes = 32 * 1_048_576;
const contentBytes = 32 * 1_048_576;
const statuses = Array.from({ length: 255 }, (_, at) => at + 1);

/** Throws LookFailed. */
export async function containmentOf(looks: GitLooks, objects: Repository, question: Question): Promise<Containment> {
  const asking = new Asking(looks, objects, question);
  const own = await asking.ownCommits();
  const kept =
    own.length === 0
      ? await asking.reachable()
      : ((own.length > mostCommits ? null : await asking.patched(own)) ?? (await asking.merged()));
  return { kept, own, evidenceIds: asking.evidenceIds };
}

class Asking {
  readonly evidenceIds: string[] = [];
  readonly #looks: GitLooks;
  readonly #objects: Repository;
  readonly #tip: string;
  readonly #staying: readonly Reference[];

  constructor(looks: GitLooks, objects: Repository, { tip, staying }: Question) {
    this.#looks = looks;
    this.#objects = objects;
    this.#tip = tip;
    this.#staying = staying;
  }

  async ownCommits(): Promise<readonly Commit[]> {
    const args = ['rev-list', '--ignore-missing', `--max-count=${mostCommits + 1}`, ...asCommits, '--stdin'];
    const without = this.#staying.map(({ commit }) => `^${commit}`);
    return parseCommits(await this.#ask(args, { stdin: lines([this.#tip, ...new Set(without)]) }));
  }

  async reachable(): Promise<Containment['kept']> {
    for (const { name, commit } of this.#staying.slice(0, mostTargets)) {
      const args = ['merge-base', '--is-ancestor', this.#tip, commit];
      const { code } = await this.#answer(args, { answers: [1] });
      if (code === 0) return { how: 'reachable', in: name };
    }
    return { how: 'reachable', in: `one of ${this.#staying.length} branches` };
  }

  async merged(): Promise<Containment['kept']> {
    const targets = this.#staying.filter(({ tree }, at, all) => all.findIndex((one) => one.tree === tree) === at);
    for (const { name, commit } of targets.slice(0, mostTargets)) {
      const base = await this.#mergeBase(commit);
      if (base === undefined) continue;
      const sides = { ours: await this.#changes(base, commit), theirs: await this.#changes(base, this.#tip) };
      if (await mergeChangesNothing(sides, this)) return { how: 'merge', in: name };
    }
    return null;
  }

  async #changes(base: string, commit: string): Promise<Changes> {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', base, commit];
    return parseChanges(await this.#ask(args, { largestBytes: changesBytes }));
  }

  async contentOf(blobs: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const all = await this.#ask(['cat-file', '--batch'], { stdin: lines(blobs), largestBytes: contentBytes });
    return parseBatch(all);
  }

  /** Files in the directory where objects are asked for; undefined where the sides contradict each other. */
  async mergeOf(files: { readonly ours: string; readonly base: string; readonly theirs: string }) {
    const args = ['merge-file', '--stdout', '--quiet', files.ours, files.base, files.theirs];
    // Up to 127 conflicts are counted, and 255 is said of what is no text (git-merge-file(1)).
    const { code, stdout } = await this.#answer(args, { answers: statuses, largestBytes: contentBytes });
    return code === 0 ? stdout : undefined;
  }

  get directory(): string {
    return this.#objects.gitDir;
  }

  async #mergeBase(target: string): Promise<string | undefined> {
    const { code, stdout } = await this.#answer(['merge-base', target, this.#tip], { answers: [1] });
    return code === 0 ? stdout.toString('latin1').trim() : undefined;
  }

  async patched(own: readonly Commit[]): Promise<Containment['kept']> {
    const [target] = this.#staying;
    if (target === undefined) return null;
    const args = ['rev-list', '--ignore-missing', '--no-merges', `--max-count=${mostCompared}`, '--stdin'];
    const heads = new Set(this.#staying.map(({ commit }) => commit));
    const others = textLines(await this.#ask(args, { stdin: lines([...heads, `^${this.#tip}`]) }));
    const singles = own.filter(({ parents }) => parents.length < 2).map(({ id }) => id);
    const base = await this.#mergeBase(target.commit);
    // A commit that is followed by others is compared with those instead of its parents (git-diff-tree(1)).
    const whole = base === undefined ? [] : [`${this.#tip} ${base}`];
    const patches = await this.#patches([...singles, ...whole, ...others]);
    const kept = new Map(
      others.flatMap((commit) => (patches.get(commit) ?? []).map((patch) => [patch, commit] as const)),
    );
    return keptAs({ tip: this.#tip, own, singles, patches, kept, hasWhole: whole.length > 0 });
  }

  /** Patch ids by commit, in order. Blanks count: the ids that `git cherry` compares leave them out. */
  async #patches(commits: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const shape = ['--full-index', '--binary', '--no-renames', '--no-ext-diff', '--no-textconv'];
    const args = ['diff-tree', '--stdin', '--root', '-r', '-p', ...shape];
    const text = await this.#ask(args, { stdin: lines(commits), largestBytes: patchBytes });
    const ids = textLines(await this.#ask(['patch-id', '--verbatim'], { stdin: text }));
    const found = new Map<string, string[]>();
    for (const line of ids) {
      const [patch = '', commit = ''] = line.split(' ');
      found.set(commit, [...(found.get(commit) ?? []), patch]);
    }
    return found;
  }

  async #ask(args: readonly string[], more: { stdin?: Buffer; largestBytes?: number }): Promise<Buffer> {
    return (await this.#answer(args, more)).stdout;
  }

  async #answer(args: readonly string[], more: Omit<Parameters<GitLooks['ask']>[1], 'args'>) {
    try {
      const seen = await this.#looks.ask(this.#objects, { args, ...more });
      this.evidenceIds.push(seen.evidenceId);
      return seen;
    } catch (error) {
      if (error instanceof LookFailed)
        throw new LookFailed(error.code, error.message, [...this.evidenceIds, ...error.evidenceIds]);
      throw error;
    }
  }
}

interface Compared {
  readonly tip: string;
  readonly own: readonly Commit[];
  /** Of those, the ones that are no merges. */
  readonly singles: readonly string[];
  readonly patches: ReadonlyMap<string, readonly string[]>;
  /** Commits of the targets by their patches. */
  readonly kept: ReadonlyMap<string, string>;
  /** After the tip's own patch follows that of all commits together. */
  readonly hasWhole: boolean;
}

/** A commit without a patch (an empty one, or one that git could not show) is not found anywhere. */
function keptAs({ tip, own, singles, patches, kept, hasWhole }: Compared): Containment['kept'] {
  const ofTip = patches.get(tip) ?? [];
  const isTipSingle = singles.includes(tip);
  const isClear = ofTip.length === Number(isTipSingle) + Number(hasWhole);
  const single = (id: string) => (id === tip ? (isClear ? ofTip[0] : undefined) : patches.get(id)?.[0]);
  const found = singles.map((id) => kept.get(single(id) ?? ''));
  const [newest] = found;
  if (singles.length === own.length && newest !== undefined && !found.includes(undefined))
    return { how: 'patches', in: newest };
  const whole = isClear && hasWhole ? kept.get(ofTip.at(-1)!) : undefined;
  return whole === undefined ? null : { how: 'squash', in: whole };
}

const asCommits = ['--no-commit-header', '--format=%H%x00%P%x00%s'];

export function parseCommits(output: Buffer): Commit[] {
  return textLines(output).flatMap((line) => {
    const [id, parents, subject = ''] = line.split('\0');
    return id && parents !== undefined ? [{ id, parents: parents.split(' ').filter(Boolean), subject }] : [];
  });
}

const lines = (texts: readonly string[]): Buffer => Buffer.from(texts.map((text) => `${text}\n`).join(''));
const textLines = (output: Buffer): string[] => output.toString('utf8').split('\n').filter(Boolean);
