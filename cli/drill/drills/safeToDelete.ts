/** D4: eight worktrees of which one may be deleted, judged twice, with whoever owns them dying in between. */
import { join } from 'node:path';
import type { PredictionView } from '../../../actors/daemon/api/views.ts';
import { outputOf } from '../../demo/command.ts';
import { expectThat } from '../../demo/expectation.ts';
import { callersGit } from '../../demo/repository.ts';
import type { Workplace } from '../../demo/stage.ts';
import { type Drill, type Drilling, workplace } from '../drill.ts';
import { killDaemon } from './daemonDies.ts';

interface Row {
  readonly what: string;
  /** The fact that protects it; null for the one that may go. */
  readonly protectedBy: string | null;
  /** Scripts of sh, each in the worktree; between them its branch is squashed into main. */
  readonly before: string;
  readonly after?: string;
}

/** `$1` is a name of its own. */
const commit = 'echo work > "$1.txt" && git add . && git commit -qm "$1"';

export const safeToDeleteRows: readonly Row[] = [
  { what: 'fresh branch with edits', protectedBy: 'uncommitted_changes', before: 'echo more >> README.md' },
  { what: 'fresh with only untracked files', protectedBy: 'untracked_files', before: 'echo new > new.txt' },
  { what: 'unpushed WIP commit', protectedBy: 'unmerged_commits', before: commit },
  { what: 'squash-merged', protectedBy: null, before: commit, after: ':' },
  { what: 'merged then edited', protectedBy: 'uncommitted_changes', before: commit, after: 'echo more >> README.md' },
  {
    what: 'detached head with a commit',
    protectedBy: 'detached_commits',
    before: commit,
    after: 'git checkout -q --detach && echo more > more.txt && git add . && git commit -qm more',
  },
  { what: 'a stash', protectedBy: 'stash', before: commit, after: 'echo more >> README.md && git stash -q' },
  {
    what: 'broken .git pointer',
    protectedBy: 'git_pointer_broken',
    before: commit,
    after: 'rm .git && echo "gitdir: /nowhere" > .git',
  },
];

/** Between the two passes. */
const apartMs = 2_000;

async function judged(drilling: Drilling): Promise<readonly string[]> {
  const places = await prepared(drilling);
  const first = await passed(drilling, places);
  const killed = await killDaemon(drilling);
  await new Promise((resolve) => setTimeout(resolve, apartMs));
  const { pid } = await drilling.installation.start();
  const second = await passed(drilling, places);
  const rows = safeToDeleteRows.map((row, at) => verdict(row, first[at]!, second[at]!));
  const failed = rows.filter(({ ok }) => !ok);
  expectThat(
    failed.length === 0,
    'only the squash-merged one is reclaimable, in both passes',
    failed.map(({ line }) => line),
  );
  return [...rows.map(({ line }) => line), `daemon ${killed} killed, judged again by daemon ${pid}: nothing changed`];
}

function verdict({ what, protectedBy }: Row, first: PredictionView, second: PredictionView) {
  const [codes, again] = [first, second].map(({ blockers }) => blockers.map(({ code }) => code).toSorted());
  const isSame = codes!.join() === again!.join() && first.path === second.path && first.lifecycle === second.lifecycle;
  const isRight = protectedBy === null ? first.eligible && second.eligible : codes!.includes(protectedBy);
  const ok = isSame && isRight && first.eligible === (protectedBy === null);
  const said = (view: readonly string[]) => (view.length === 0 ? 'reclaimable' : `protected by ${view.join(', ')}`);
  return { ok, line: `${ok ? 'pass' : 'FAIL'}  ${what}: ${said(codes!)}${isSame ? '' : `, then ${said(again!)}`}` };
}

/** Processes that hide from their own user are on many machines, and are not what this is about. */
const passed = ({ installation }: Drilling, places: readonly Workplace[]): Promise<readonly PredictionView[]> =>
  Promise.all(places.map(({ generationId: id }) => installation.call('worktrees.predict', { id, allowUnseen: true })));

async function prepared(drilling: Drilling): Promise<readonly Workplace[]> {
  const { installation, repository, scratch, interruption } = drilling;
  const env = {
    ...callersGit(scratch.env),
    ...{ GIT_AUTHOR_NAME: 'Drill', GIT_AUTHOR_EMAIL: 'drill@example.org' },
    ...{ GIT_COMMITTER_NAME: 'Drill', GIT_COMMITTER_EMAIL: 'drill@example.org' },
  };
  const { signal } = interruption;
  const sh = (cwd: string, script: string, ...operands: readonly string[]) =>
    outputOf('sh', ['-c', script, 'sh', ...operands], { cwd, env, signal });
  const desk = join(scratch.dir, 'integration');
  await sh(repository, 'git worktree add -q --detach "$1" main', desk);
  const squash = 'git merge -q --squash "$1" && git commit -qm squashed && git update-ref refs/heads/main HEAD';
  const places: Workplace[] = [];
  for (const [at, { before, after }] of safeToDeleteRows.entries()) {
    const place = await workplace(drilling, 'is it safe to delete?');
    places.push(place);
    await sh(place.path, before, `row-${at}`);
    if (after !== undefined) {
      await sh(desk, squash, await sh(place.path, 'git rev-parse HEAD'));
      await sh(place.path, after, `row-${at}`);
    }
    await installation.call('worktrees.close', { id: place.generationId });
  }
  return places;
}

export const deletionDrills: readonly Drill[] = [
  { name: 'D4', title: 'only what is kept elsewhere is safe to delete', run: judged },
];
