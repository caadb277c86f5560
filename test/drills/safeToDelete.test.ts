/** D4: eight worktrees, judged twice with the owner dying in between; only the clean squash-merged one is reclaimable. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  codesOf,
  commit,
  git,
  mergedWork,
  type PredictionDaemon,
  predictionDaemon,
  put,
  type Spot,
} from '../daemon/support/prediction.ts';

const rows: readonly (readonly [what: string, fact: string | null, prepare: (spot: Spot) => void])[] = [
  ['fresh branch with edits', 'uncommitted_changes', (spot) => put(spot, 'README.md', 'edited\n')],
  ['fresh with only untracked files', 'untracked_files', (spot) => put(spot, 'new')],
  ['unpushed WIP commit', 'unmerged_commits', (spot) => void commit(spot, 'wip')],
  ['squash-merged', null, mergedWork],
  ['merged then edited', 'uncommitted_changes', (spot) => [mergedWork(spot), put(spot, 'README.md', 'edited\n')]],
  [
    'detached head with a commit',
    'detached_commits',
    (spot) => {
      mergedWork(spot);
      git(spot.path, 'checkout', '-q', '--detach');
      commit(spot, 'detached');
    },
  ],
  [
    'a stash',
    'stash',
    (spot) => {
      mergedWork(spot);
      put(spot, 'README.md', 'stashed\n');
      git(spot.path, 'stash');
    },
  ],
  [
    'broken .git pointer',
    'git_pointer_broken',
    (spot) => {
      mergedWork(spot);
      rmSync(join(spot.path, '.git'));
      writeFileSync(join(spot.path, '.git'), 'gitdir: /nowhere\n');
    },
  ],
];

async function pass(daemon: PredictionDaemon, spots: readonly Spot[]) {
  const found = [];
  for (const spot of spots) {
    const { eligible, blockers, lifecycle, path, content } = await daemon.predict(spot);
    found.push({ eligible, codes: codesOf({ blockers } as never), lifecycle, path, content });
  }
  return found;
}

describe('D4 is it safe to delete?', () => {
  it('one of eight is, twice, with the daemon and the process that made them dying in between (WT-06, OBS-09)', async () => {
    const daemon = predictionDaemon();
    onTestFinished(() => daemon.dispose());
    await daemon.start();
    const owner = spawn('sleep', ['600'], { cwd: daemon.home.repo, stdio: 'ignore' });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const spots: Spot[] = [];
    for (const [, , prepare] of rows) spots.push(await daemon.spot(prepare));
    const first = await pass(daemon, spots);
    const gone = once(owner, 'exit');
    owner.kill('SIGKILL');
    await gone;
    await daemon.restart();
    const second = await pass(daemon, spots);
    expect(second).toEqual(first);
    expect(first.map(({ eligible }) => eligible)).toEqual(rows.map(([, fact]) => fact === null));
    for (const [at, [, fact]] of rows.entries()) {
      if (fact === null) expect(first[at]!.codes).toEqual([]);
      else expect(first[at]!.codes).toContain(fact);
    }
  });
});
