/** What a worktree has that is kept nowhere else: every fact that protects it, on real repositories (WT-06, D4). */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  codesOf,
  commit,
  conflicting,
  disputed,
  factOf,
  git,
  mergedWork,
  put,
  type Spot,
  servingPredictions,
  squash,
} from './support/prediction.ts';

const daemon = servingPredictions();

const gitDirOf = ({ path }: Spot): string => git(path, 'rev-parse', '--absolute-git-dir');

type Row = readonly [name: string, codes: readonly string[], prepare: (spot: Spot) => void];

const rows: readonly Row[] = [
  ['a fresh branch, where nobody has worked yet', ['no_work_yet'], () => undefined],
  ['a fresh branch with edits', ['no_work_yet', 'uncommitted_changes'], (spot) => put(spot, 'README.md', 'edited\n')],
  ['a fresh branch with only untracked files', ['no_work_yet', 'untracked_files'], (spot) => put(spot, 'new')],
  [
    'a fresh branch that was moved to the work of others',
    ['no_work_yet'],
    (spot) => {
      commit({ path: spot.repo }, `others-${spot.generationId}`);
      git(spot.path, 'merge', '-q', '--ff-only', 'main');
    },
  ],
  [
    'a branch that was reset to where it began',
    ['no_work_yet'],
    (spot) => {
      commit(spot, 'gone');
      git(spot.path, 'reset', '-q', '--hard', 'HEAD~1');
    },
  ],
  ['an unpushed commit', ['unmerged_commits'], (spot) => void commit(spot, 'wip')],
  ['squash-merged work', [], mergedWork],
  [
    'work that was squash-merged together from two commits, before the target changed the same lines again',
    [],
    (spot) => {
      commit(spot, 'two', 'one\n');
      commit(spot, 'two', 'two\n');
      squash(spot);
      commit({ path: spot.repo }, 'two', 'three\n');
    },
  ],
  [
    'commits that were picked one by one, before the target changed the same lines again',
    [],
    (spot) => {
      const picked = [commit(spot, 'p', 'one\n'), commit(spot, 'p', 'two\n')];
      commit({ path: spot.repo }, `between-${spot.generationId}`);
      git(spot.repo, 'cherry-pick', ...picked);
      commit({ path: spot.repo }, 'p', 'three\n');
    },
  ],
  [
    'work that came into the target together with changes of others, in the same file as well',
    [],
    (spot) => {
      const lines = (first: string, last: string) => [first, ...'bcdefghijk', last, ''].join('\n');
      commit({ path: spot.repo }, `long-${spot.generationId}`, lines('a', 'l'));
      git(spot.path, 'merge', '-q', '--ff-only', 'main');
      commit(spot, `long-${spot.generationId}`, lines('first', 'l'));
      put({ path: spot.repo }, `beside-${spot.generationId}`);
      commit({ path: spot.repo }, `long-${spot.generationId}`, lines('first', 'last'));
    },
  ],
  [
    'work of which the target has only a part',
    ['unmerged_commits'],
    (spot) => {
      put(spot, `half-${spot.generationId}`);
      commit(spot, `whole-${spot.generationId}`);
      commit({ path: spot.repo }, `half-${spot.generationId}`);
    },
  ],
  [
    'a removal that the target has not followed',
    ['unmerged_commits'],
    (spot) => {
      git(spot.path, 'rm', '-q', 'README.md');
      git(spot.path, 'commit', '-qm', 'remove');
    },
  ],
  [
    'a branch that was merged as it is',
    [],
    (spot) => {
      commit(spot, `merged-${spot.generationId}`);
      git(spot.repo, 'merge', '-q', '--no-ff', '-m', 'merge', spot.branch);
    },
  ],
  [
    'a branch that was pushed',
    [],
    (spot) => {
      const pushed = commit(spot, `pushed-${spot.generationId}`);
      git(spot.repo, 'update-ref', `refs/remotes/origin/${spot.generationId}`, pushed);
    },
  ],
  [
    'merged, then edited',
    ['uncommitted_changes'],
    (spot) => {
      mergedWork(spot);
      put(spot, `work-${spot.generationId}`, 'edited\n');
    },
  ],
  [
    'merged, then staged',
    ['uncommitted_changes'],
    (spot) => {
      mergedWork(spot);
      put(spot, 'staged');
      git(spot.path, 'add', 'staged');
    },
  ],
  [
    'merged, then made executable',
    ['uncommitted_changes'],
    (spot) => {
      mergedWork(spot);
      chmodSync(join(spot.path, 'README.md'), 0o755);
    },
  ],
  [
    'a detached head with a commit',
    ['detached_commits'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'checkout', '-q', '--detach');
      commit(spot, 'detached');
    },
  ],
  [
    'another branch checked out while its own has a commit',
    ['unmerged_commits'],
    (spot) => {
      commit(spot, 'left');
      const base = git(spot.path, 'rev-parse', 'HEAD~1');
      git(spot.path, 'checkout', '-q', '-b', `other-${spot.generationId}`, base);
      mergedWork({ ...spot, branch: `other-${spot.generationId}` });
    },
  ],
  [
    'a stash',
    ['stash'],
    (spot) => {
      mergedWork(spot);
      put(spot, 'README.md', 'stashed\n');
      git(spot.path, 'stash', 'push', '-q', '-m', 'with a word: and a colon');
    },
  ],
  [
    'a stash of an earlier commit of its branch',
    ['stash'],
    (spot) => {
      put(spot, 'README.md', 'stashed\n');
      git(spot.path, 'stash');
      mergedWork(spot);
    },
  ],
  [
    'a stash of a detached head',
    ['stash'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'checkout', '-q', '--detach');
      put(spot, 'README.md', 'stashed\n');
      git(spot.path, 'stash');
    },
  ],
  [
    'a stash of somebody else',
    [],
    (spot) => {
      mergedWork(spot);
      put({ path: spot.repo }, 'README.md', 'theirs\n');
      git(spot.repo, 'stash');
    },
  ],
  [
    'a change in blanks that only looks like one of the target',
    ['unmerged_commits'],
    (spot) => {
      commit(spot, 'indented', 'if x:\n    y\nz\n');
      commit({ path: spot.repo }, 'indented', 'if x:\n    y\n    z\n');
      commit({ path: spot.repo }, 'indented', 'quite\ndifferent\n');
    },
  ],
  [
    'another version of a binary file of the target',
    ['unmerged_commits'],
    (spot) => {
      commit(spot, 'binary', '\0one\0');
      commit({ path: spot.repo }, 'binary', '\0two\0');
    },
  ],
  [
    'commits that cancel each other out',
    ['unmerged_commits'],
    (spot) => {
      commit(spot, 'gone');
      git(spot.path, 'revert', '--no-edit', 'HEAD');
    },
  ],
  [
    'an empty commit',
    ['unmerged_commits'],
    (spot) => void git(spot.path, 'commit', '-q', '--allow-empty', '-m', 'empty'),
  ],
  [
    'a merge of the target with something of its own',
    ['unmerged_commits'],
    (spot) => {
      const mine = commit(spot, `mine-${spot.generationId}`);
      commit({ path: spot.repo }, `theirs-${spot.generationId}`);
      git(spot.path, 'merge', '-q', '--no-commit', 'main');
      put(spot, 'README.md', 'only in the merge\n');
      git(spot.path, 'commit', '-qam', 'an evil merge');
      git(spot.repo, 'cherry-pick', mine);
    },
  ],
  [
    'two lines that a union of both sides would hold',
    ['unmerged_commits'],
    (spot) => {
      commit({ path: spot.repo }, `u-${spot.generationId}`, 'line\n');
      git(spot.path, 'merge', '-q', '--ff-only', 'main');
      put(spot, '.gitattributes', '* merge=union\n');
      commit(spot, `u-${spot.generationId}`, '');
      commit({ path: spot.repo }, '.gitattributes', '* merge=union\n');
      commit({ path: spot.repo }, `u-${spot.generationId}`, 'other\n');
      git(spot.repo, 'rm', '-q', '.gitattributes');
      git(spot.repo, 'commit', '-qm', 'no attributes');
    },
  ],
  [
    'a locked worktree',
    ['worktree_locked'],
    (spot) => {
      mergedWork(spot);
      git(spot.repo, 'worktree', 'lock', '--reason', 'on a stick', spot.path);
    },
  ],
  [
    'a merge in progress',
    ['operation_in_progress', 'uncommitted_changes'],
    (spot) => {
      const { theirs } = disputed(spot);
      conflicting(spot.path, 'merge', theirs);
    },
  ],
  [
    'a rebase in progress',
    ['detached_commits', 'operation_in_progress', 'uncommitted_changes'],
    (spot) => {
      const { theirs } = disputed(spot);
      conflicting(spot.path, 'rebase', theirs);
    },
  ],
  [
    'a cherry-pick in progress',
    ['operation_in_progress', 'uncommitted_changes'],
    (spot) => {
      const { theirs } = disputed(spot);
      conflicting(spot.path, 'cherry-pick', theirs);
    },
  ],
  [
    'a revert in progress',
    ['operation_in_progress', 'uncommitted_changes'],
    (spot) => {
      mergedWork(spot);
      const name = `work-${spot.generationId}`;
      commit(spot, name, 'once more\n');
      commit({ path: spot.repo }, name, 'once more\n');
      conflicting(spot.path, 'revert', '--no-edit', 'HEAD~1');
    },
  ],
  [
    'a bisection',
    ['operation_in_progress'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'bisect', 'start');
    },
  ],
  [
    'the lock of an index',
    ['operation_in_progress'],
    (spot) => {
      mergedWork(spot);
      writeFileSync(join(gitDirOf(spot), 'index.lock'), '');
    },
  ],
  [
    'a file that the index was told not to look at',
    ['hidden_by_index'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'update-index', '--assume-unchanged', 'README.md');
      put(spot, 'README.md', 'hidden\n');
    },
  ],
  [
    'a file that the index skips',
    ['hidden_by_index'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'update-index', '--skip-worktree', 'README.md');
      put(spot, 'README.md', 'hidden\n');
    },
  ],
  [
    'a sparse checkout',
    [],
    (spot) => {
      mkdirSync(join(spot.path, 'deep'));
      commit(spot, join('deep', spot.generationId));
      squash(spot);
      git(spot.path, 'sparse-checkout', 'set', 'nothing');
    },
  ],
  [
    'ignored files',
    [],
    (spot) => {
      put(spot, '.gitignore', 'ignored\n');
      mergedWork(spot);
      put(spot, 'ignored');
    },
  ],
  [
    'a .git that leads nowhere',
    ['git_pointer_broken'],
    (spot) => {
      mergedWork(spot);
      writeFileSync(join(spot.path, '.git'), 'gitdir: /nowhere\n');
    },
  ],
  [
    'no .git, below another repository',
    ['git_pointer_broken'],
    (spot) => {
      mergedWork(spot);
      rmSync(join(spot.path, '.git'));
      git(dirname(spot.path), 'init', '-q');
    },
  ],
  [
    'a .git that leads to another repository',
    ['directory_replaced'],
    (spot) => {
      mergedWork(spot);
      writeFileSync(join(spot.path, '.git'), `gitdir: ${join(spot.repo, '.git')}\n`);
    },
  ],
  [
    'a directory that is gone',
    ['directory_missing'],
    (spot) => {
      mergedWork(spot);
      rmSync(spot.path, { recursive: true });
    },
  ],
  [
    'another directory in its place',
    ['directory_replaced'],
    (spot) => {
      mergedWork(spot);
      renameSync(spot.path, `${spot.path}-away`);
      execFileSync('cp', ['-r', `${spot.path}-away`, spot.path]);
    },
  ],
  [
    'a head that names no commit',
    ['inspection_failed'],
    (spot) => {
      mergedWork(spot);
      writeFileSync(join(gitDirOf(spot), 'HEAD'), `${'1'.repeat(40)}\n`);
    },
  ],
  [
    'an index that cannot be read',
    ['inspection_failed'],
    (spot) => {
      mergedWork(spot);
      writeFileSync(join(gitDirOf(spot), 'index'), 'nonsense');
    },
  ],
];

describe('a prediction names what protects', () => {
  it.each(rows)('%s → %j', async (_, codes, prepare) => {
    const spot = await daemon.spot(prepare);
    const prediction = await daemon.predict(spot);
    expect(codesOf(prediction), JSON.stringify(prediction.blockers)).toEqual(codes);
    expect(prediction.eligible).toBe(codes.length === 0);
    for (const { detail, evidenceIds } of prediction.blockers) {
      expect(detail).not.toBe('');
      expect(evidenceIds).not.toEqual([]);
    }
    const shown = await daemon.call('worktrees.show', { id: spot.generationId });
    expect(shown.lifecycle).toBe('closing');
  });

  it('says where work is kept, and by which of the comparisons', async () => {
    const spot = await daemon.spot((one) => void commit(one, `kept-${one.generationId}`));
    const name = `kept-${spot.generationId}`;
    const { blockers } = await daemon.predict(spot);
    const head = git(spot.path, 'rev-parse', 'HEAD');
    expect(blockers[0]).toMatchObject({ named: [`${head.slice(0, 12)} change ${name}`], count: 1 });
    expect(blockers[0]!.evidenceIds[0]).toBe(head);
    const kept = async () => (await daemon.predict(spot)).content.kept;
    put({ path: spot.repo }, `beside-${name}`);
    commit({ path: spot.repo }, name);
    expect(await kept()).toEqual({ how: 'merge', in: 'refs/heads/main' });
    git(spot.repo, 'reset', '-q', '--hard', 'HEAD~1');
    const picked = commit({ path: spot.repo }, name);
    expect(await kept()).toEqual({ how: 'patches', in: picked });
    commit(spot, name, 'and more\n');
    expect(await kept()).toBeNull();
    git(spot.repo, 'reset', '-q', '--hard', 'HEAD~1');
    const squashed = commit({ path: spot.repo }, name, 'and more\n');
    expect(await kept()).toEqual({ how: 'squash', in: squashed });
    git(spot.repo, 'update-ref', 'refs/remotes/origin/kept', spot.branch);
    expect(await kept()).toEqual({ how: 'reachable', in: 'refs/remotes/origin/kept' });
  });

  it('does not count the branch of a worktree that may be cleaned up as well', async () => {
    const first = await daemon.spot((spot) => void commit(spot, `both-${spot.generationId}`));
    const second = await daemon.spot(({ path }) => void git(path, 'reset', '-q', '--hard', first.branch));
    for (const spot of [first, second]) expect(codesOf(await daemon.predict(spot))).toEqual(['unmerged_commits']);
  });

  it('has nothing hidden by an exclude file that the configuration names', async () => {
    const spot = await daemon.spot(mergedWork);
    const excludes = join(daemon.home.dir, 'excludes');
    writeFileSync(excludes, '*\n');
    git(spot.repo, 'config', 'core.excludesFile', excludes);
    put(spot, 'hidden');
    try {
      expect(codesOf(await daemon.predict(spot))).toEqual(['untracked_files']);
    } finally {
      git(spot.repo, 'config', '--unset', 'core.excludesFile');
    }
  });

  it('says so when something is changed while it is looked at', async () => {
    const spot = await daemon.spot(mergedWork);
    mkdirSync(join(spot.path, 'new'));
    const fifo = join(spot.path, 'new', '.gitignore');
    execFileSync('mkfifo', [fifo]);
    const predicting = daemon.predict(spot);
    // Git reads it now, and goes on when it is closed.
    const ignoring = await open(fifo, 'w');
    writeFileSync(join(gitDirOf(spot), 'locked'), '');
    await ignoring.close();
    expect(codesOf(await predicting)).toEqual(['changed_while_looking']);
  });

  it('has ignored files protect where that is asked for, and counts them where it is not', async () => {
    const spot = await daemon.spot((one) => {
      put(one, '.gitignore', 'ignored\n');
      mergedWork(one);
      put(one, 'ignored');
    });
    expect(await daemon.predict(spot)).toMatchObject({ eligible: true, content: { ignored: 1 } });
    const strict = await daemon.predict(spot, { ignored: true });
    expect(factOf(strict, 'ignored_files')).toMatchObject({ named: ['ignored'], count: 1 });
  });
});
