/** Who could write in a worktree: scopes, runs, and every process that is seen there at that moment (WT-09, FAULT-11, OBS-09). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, copyFileSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { commit, factOf, mergedWork, put, servingPredictions, squash } from './support/prediction.ts';

const daemon = servingPredictions();

interface Standing {
  readonly cwd?: string;
  readonly program?: string;
  readonly fd?: number;
}

async function sleeper({ cwd = '/', program = 'sleep', fd }: Standing): Promise<number> {
  const stdio = ['ignore', 'ignore', 'ignore', ...(fd === undefined ? [] : [fd])] as 'ignore'[];
  const child = spawn(program, ['600'], { cwd, env: { PATH: process.env.PATH }, stdio });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child.pid!;
}

it('a process that has only its working directory there is named', async () => {
  const spot = await daemon.spot(mergedWork);
  expect(await daemon.predict(spot)).toMatchObject({ eligible: true });
  const pid = await sleeper({ cwd: spot.path });
  const { eligible, blockers } = await daemon.predict(spot);
  expect(eligible).toBe(false);
  expect(blockers).toMatchObject([{ code: 'process_present', holders: [{ pid, name: 'sleep', holds: ['cwd'] }] }]);
});

it('one that has only a file of it open is named', async () => {
  const spot = await daemon.spot(mergedWork);
  const fd = openSync(join(spot.path, 'README.md'), 'r');
  const pid = await sleeper({ fd });
  closeSync(fd);
  const { blockers } = await daemon.predict(spot);
  expect(blockers).toMatchObject([{ code: 'process_present', holders: [{ pid, holds: ['open'] }] }]);
});

it('one that has only a file of it mapped is named', async () => {
  const spot = await daemon.spot((one) => {
    put(one, '.gitignore', 'tool\n');
    mergedWork(one);
  });
  const program = join(spot.path, 'tool');
  copyFileSync('/bin/sleep', program);
  chmodSync(program, 0o755);
  const pid = await sleeper({ program });
  const { blockers } = await daemon.predict(spot);
  expect(blockers).toMatchObject([{ code: 'process_present', holders: [{ pid, name: 'tool', holds: ['mapped'] }] }]);
});

it('one that stands in what was removed is named beside the removal', async () => {
  const spot = await daemon.spot(mergedWork);
  const pid = await sleeper({ cwd: spot.path });
  rmSync(spot.path, { recursive: true });
  const prediction = await daemon.predict(spot);
  expect(factOf(prediction, 'directory_missing')).toBeDefined();
  expect(factOf(prediction, 'process_present')?.holders).toMatchObject([{ pid, holds: ['cwd'] }]);
});

it('says that nobody was seen, and when, and never that there is nobody', async () => {
  const spot = await daemon.spot(mergedWork);
  const { processes, atWallMs } = await daemon.predict(spot);
  const [, at] = /^nobody was seen at (\S+), of \d+ processes$/.exec(processes!.statement)!;
  expect(Date.parse(at!)).toBeGreaterThanOrEqual(atWallMs);
});

it('has those of this user that nobody may look into protect, unless they are allowed', async () => {
  const spot = await daemon.spot(mergedWork);
  // A live scope elsewhere: its guardian lets nobody look into it, and is none of them.
  const other = await daemon.goal();
  const { scopeId } = await daemon.exec(other.goalId, 'exec sleep 600');
  const { guardianPid } = await daemon.scope(scopeId);
  const strict = await daemon.predict(spot, { allowUnseen: false });
  const unseen = factOf(strict, 'processes_unseen');
  expect(unseen?.count ?? 0).toBe(strict.processes!.unseenOwn);
  expect(strict.eligible).toBe(strict.processes!.unseenOwn === 0);
  expect(unseen?.holders?.map(({ pid }) => pid) ?? []).not.toContain(guardianPid);
});

it('is never yes when nobody looked', async () => {
  const spot = await daemon.spot(mergedWork);
  const { blockers, processes } = await daemon.predict(spot, { processes: false });
  expect(processes).toBeNull();
  expect(blockers).toMatchObject([{ code: 'processes_not_looked' }]);
});

it('a run whose root has ended and whose child has not protects by its scope, with the pid', async () => {
  const { goalId, generationId, path, branch } = await daemon.goal();
  await daemon.event({ actor: generationId, type: 'contract.verified' });
  const turn = turns(daemon.home.dir, 'escapee');
  const script = `cd /; setsid sh -c 'echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; sleep 600' & wait`;
  const run = await daemon.exec(goalId, `${script} & exit 0`, { onRootExit: 'wait' });
  const pid = await turn.ready();
  await daemon.ended(run.runId);
  const spot = { generationId, goalId, path, branch: branch!, repo: daemon.home.repo };
  commit(spot, 'mine');
  squash(spot);
  await daemon.call('worktrees.close', { id: generationId });
  const prediction = await daemon.predict(spot);
  const fact = factOf(prediction, 'scope_unproved');
  expect(fact).toMatchObject({ scopeId: run.scopeId, runId: run.runId });
  expect(fact!.evidenceIds).toEqual([run.runId, run.scopeId]);
  expect(fact!.holders!.map((one) => one.pid)).toContain(pid);
  expect(prediction.eligible).toBe(false);
  await daemon.call('runs.stop', { id: run.runId, graceMs: 0 });
  expect(await daemon.predict(spot)).toMatchObject({ eligible: true, blockers: [] });
});

it('an open generation is not closed, and an active run is named', async () => {
  const { goalId, generationId } = await daemon.goal();
  const { runId } = await daemon.exec(goalId, 'exec sleep 600');
  const prediction = await daemon.predict({ generationId });
  expect(factOf(prediction, 'not_closed')).toBeDefined();
  expect(factOf(prediction, 'run_active')).toMatchObject({ runId, evidenceIds: [runId] });
  expect(prediction.recorded).toBe('not_observed');
});

it('what is sealed is judged by its content and by who is there, and not for being sealed', async () => {
  const spot = await daemon.spot(mergedWork);
  await daemon.call('worktrees.seal', { id: spot.generationId });
  expect(await daemon.predict(spot)).toMatchObject({ lifecycle: 'sealed', eligible: true });
});

it('looks of several callers at once do not find each other', async () => {
  const spot = await daemon.spot(mergedWork);
  const all = await Promise.all([1, 2, 3].map(() => daemon.predict(spot)));
  expect(all.map(({ eligible }) => eligible)).toEqual([true, true, true]);
});
