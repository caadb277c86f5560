/** The same text from a daemon, from the store that it left behind, and as JSON; with who is in the tree where one answers. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Explanation } from '../../../inspect/explain/explanation.ts';
import { type Finished, json, run } from '../../cli/support/program.ts';
import { workingDaemon } from '../../daemon/support/workers.ts';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';
import { damageRow } from '../../support/damage.ts';

const explained = (daemon: TestDaemon, ...words: readonly string[]): Promise<Finished> =>
  run(['explain', ...words], {
    env: {
      ...daemon.home.env,
      PATH: process.env.PATH ?? '',
      HOME: daemon.home.dir,
      CUSTODY_HOME: daemon.home.stateDir,
    },
  });
const dataOf = (finished: Finished) => json(finished).data as Explanation;

it('explains a run with a survivor alike with and without a daemon, and names the survivor while somebody can say so', async () => {
  const daemon = await testDaemon().start();
  const { goalId, generationId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'setsid sleep 1000 & exit 3', { onRootExit: 'wait' });
  await daemon.ended(runId);
  const scope = await explained(daemon, scopeId as string);
  expect(scope).toMatchObject({ code: 0, stderr: '' });
  expect(scope.stdout).toContain('Its root has ended, and it waits for everybody else of its tree');
  expect(scope.stdout).toMatch(/its guardian lists pid \d+ \(sleep\)/);
  const worktree = await explained(daemon, generationId);
  expect(worktree.stdout).toContain(`nothing proves that scope ${scopeId} is empty (its guardian lists pid`);

  const served = dataOf(await explained(daemon, runId.slice(0, 6), '--json'));
  expect(served).toMatchObject({ kind: 'run', id: runId, waitsFor: [], fault: null });
  expect(served.state).toContain('lifecycle.ended');
  expect(served.sentences).toContainEqual(expect.stringContaining(`scope ${scopeId} is live`));
  const text = await explained(daemon, runId);
  expect(text.stdout.trimEnd().split('\n')).toEqual(served.sentences);

  await daemon.kill();
  const before = statSync(join(daemon.home.stateDir, 'custody.db'), { bigint: true }).mtimeNs;
  const bytes = readFileSync(join(daemon.home.stateDir, 'custody.db'));
  const alone = await explained(daemon, runId, '--json');
  expect(dataOf(alone)).toEqual(served);
  expect(json(alone).warnings?.join()).toContain('read from the store alone');
  expect(readFileSync(join(daemon.home.stateDir, 'custody.db')).equals(bytes)).toBe(true);
  expect(statSync(join(daemon.home.stateDir, 'custody.db'), { bigint: true }).mtimeNs).toBe(before);
});

it('answers for what is not there, is ambiguous, or is damaged, with a daemon and without one', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  await daemon.goal();
  const answers = async () => {
    const found = await Promise.all(['Gnobody', 'G', 'Q1'].map((id) => explained(daemon, id, '--json')));
    expect(found.map(({ code }) => code)).toEqual([3, 2, 3]);
    expect(found.map((one) => json(one).error?.code)).toEqual(['not_found', 'ambiguous_id', 'not_found']);
  };
  await answers();
  await daemon.kill();
  await answers();
  damageRow(daemon, goalId);
  const damaged = async () => {
    const answer = await explained(daemon, goalId, '--json');
    expect(answer.code).toBe(9);
    expect(dataOf(answer)).toMatchObject({ fault: 'actor_corrupt', state: [], next: [] });
    expect(dataOf(answer).sentences.join(' ')).toContain('cannot be trusted (actor corrupt), so nothing is concluded');
  };
  await damaged();
  await daemon.start();
  await damaged();
});

it('shows no work to work: inside of a run it is refused, whoever would answer', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const inside = {
    ...daemon.home.env,
    PATH: process.env.PATH ?? '',
    HOME: daemon.home.dir,
    CUSTODY_HOME: daemon.home.stateDir,
    CUSTODY_RUN: 'R1',
  };
  expect((await run(['explain', goalId], { env: inside })).code).toBe(4);
  await daemon.kill();
  expect((await run(['explain', goalId], { env: inside })).code).toBe(4);
});

it('names a Goal that has failed, its check and its output, alike with and without a daemon', async () => {
  const daemon = await workingDaemon({ check: 'exit 3' }).start();
  const { goalId } = await daemon.goal();
  await daemon.event({ actor: goalId, type: 'receipt.recorded' });
  const { runs } = await daemon.call('goals.show', { id: goalId });
  const failed = `Its check has failed: run ${runs[0]} (exit 3; custody runs logs ${runs[0]} shows its output).`;
  expect((await explained(daemon, goalId)).stdout).toContain(failed);
  const { health } = await daemon.call('status', {});
  expect(health.next).toContain(`custody explain ${goalId}`);
  expect(health.reasons).toContainEqual(expect.objectContaining({ code: 'goal_failed' }));
  expect(health.state).toBe('ok');
  await daemon.call('goals.cancel', { id: goalId });
  expect((await daemon.call('status', {})).health.next).not.toContain(`custody explain ${goalId}`);
  await daemon.kill();
  expect((await explained(daemon, runs[0] as string)).stdout).toContain('Its root ended: exit 3.');
});

it('says that no check is configured, alike with and without a daemon', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const served = await explained(daemon, goalId);
  expect(served.stdout).toContain('No check is configured for its repository');
  await daemon.kill();
  expect((await explained(daemon, goalId)).stdout).toContain('No check is configured for its repository');
});
