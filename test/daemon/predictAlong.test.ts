/** What goes along with a worktree, and what its own settings would hide, seen on real repositories (WT-06, D4). */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lookAtPlace } from '../../actors/daemon/prediction/place.ts';
import { fileIdentityOf } from '../../actors/runtime/generations.ts';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import { codesOf, commit, git, mergedWork, put, type Spot, servingPredictions } from './support/prediction.ts';

const daemon = servingPredictions();

/** Of this worktree alone: the repository is everybody's. */
function setHere({ path }: Spot, name: string, value: string): void {
  git(path, 'config', 'extensions.worktreeConfig', 'true');
  git(path, 'config', '--worktree', name, value);
}

function ignoring(spot: Spot, pattern: string): void {
  put(spot, '.gitignore', `${pattern}\n`);
  commit(spot, `work-${spot.generationId}`);
  git(spot.repo, 'update-ref', `refs/remotes/origin/${spot.generationId}`, spot.branch);
  mkdirSync(join(spot.path, pattern));
  put(spot, join(pattern, 'file'));
}

const rows: readonly (readonly [name: string, codes: readonly string[], prepare: (spot: Spot) => void])[] = [
  [
    'made executable where git was told not to look at modes',
    ['uncommitted_changes'],
    (spot) => {
      mergedWork(spot);
      setHere(spot, 'core.fileMode', 'false');
      chmodSync(join(spot.path, 'README.md'), 0o755);
    },
  ],
  [
    'a file that differs from a known one in case only, where git was told that this is no difference',
    ['untracked_files'],
    (spot) => {
      mergedWork(spot);
      setHere(spot, 'core.ignoreCase', 'true');
      put(spot, 'readme.MD');
    },
  ],
  [
    'commits that only references of the worktree itself lead to',
    ['worktree_references'],
    (spot) => {
      mergedWork(spot);
      commit(spot, 'aside');
      git(spot.path, 'update-ref', 'refs/worktree/aside', 'HEAD');
      git(spot.path, 'reset', '-q', '--hard', 'HEAD~1');
    },
  ],
  [
    'references of the worktree itself to what is kept',
    [],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'update-ref', 'refs/worktree/known', 'HEAD');
    },
  ],
  [
    'something that is no commit and has a reference of the worktree itself',
    ['worktree_references'],
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'update-ref', 'refs/worktree/file', 'HEAD:README.md');
    },
  ],
  [
    'a repository in an ignored directory',
    ['nested_repository'],
    (spot) => {
      ignoring(spot, '/.inner');
      git(spot.path, 'init', '-q', join('.inner', 'a', 'b'));
    },
  ],
  [
    'a worktree of the same repository in an ignored directory',
    ['nested_repository'],
    (spot) => {
      ignoring(spot, '/.inner');
      git(spot.path, 'worktree', 'add', '-q', '--detach', join('.inner', 'a', 'b', 'c', 'd'));
    },
  ],
  ['an ignored directory', [], (spot) => ignoring(spot, '/.inner')],
];

describe('a prediction names what goes along', () => {
  it.each(rows)('%s → %j', async (_, codes, prepare) => {
    const prediction = await daemon.predict(await daemon.spot(prepare));
    expect(codesOf(prediction), JSON.stringify(prediction.blockers)).toEqual(codes);
    for (const { evidenceIds } of prediction.blockers) expect(evidenceIds).not.toEqual([]);
  });

  it('says of a main worktree that the repository would go along', async () => {
    const { generationId } = await daemon.call('worktrees.register', { path: daemon.home.repo });
    expect(codesOf(await daemon.predict({ generationId }))).toContain('main_worktree');
  });

  it('takes a directory that was born at another time for another one, whatever its number is', async () => {
    const { path } = await daemon.spot();
    const fsIdentity = fileIdentityOf(path);
    const codes = (born: string | null) => {
      const generation = { context: { path, fsIdentity: { ...fsIdentity, born } } } as GenerationSnapshot;
      return lookAtPlace(generation, 'look').facts.map(({ code }) => code);
    };
    expect(codes(fsIdentity.born)).toEqual([]);
    expect(codes('1')).toEqual(['directory_replaced']);
  });
});
