import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunView } from '../../actors/daemon/api/views.ts';
import { seeded } from '../host/support/random.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { patienceMs } from '../support/patience.ts';
import { type Answered, MortalDaemon } from './support/load.ts';

const kills = process.env.CUSTODY_SOAK === '1' ? 500 : 8;
const clients = 4;

interface Client {
  readonly goalId: string;
  readonly stop: () => boolean;
  readonly name: string;
}

const codeOf = (nth: number): number => nth % 5;

/** Short runs, Goals and worktrees in turn; a run says that it ran, and ends with a code that follows from its number. */
async function workload(mortal: MortalDaemon, { goalId, stop, name }: Client): Promise<void> {
  const { daemon } = mortal;
  const launch = (goal: string, nth: number) => {
    const script = `test -f README.md || exit 99; echo $CUSTODY_RUN >> "${daemon.home.dir}/launches"; exit ${codeOf(nth)}`;
    const requestId = `${name}-${nth}`;
    return mortal.ask('runs.exec', { ...daemon.launchArguments(goal, script), label: String(nth), requestId });
  };
  for (let nth = 0; !stop(); nth += 1) {
    if (nth % 4 !== 3) await launch(goalId, nth);
    else {
      const requestId = `${name}-${nth}`;
      const added = { title: requestId, repo: daemon.home.repo, request: requestId, requestId: `${requestId}-add` };
      const { goalId: id } = (await mortal.ask('goals.add', added)) as { goalId: string };
      await mortal.ask('goals.queue', { id, requestId: `${requestId}-queue` });
      if (nth % 8 === 7) {
        await mortal.ask('worktrees.add', { goalId: id, requestId: `${requestId}-worktree` });
        await launch(id, nth);
      } else await mortal.ask('goals.cancel', { id, requestId: `${requestId}-cancel` });
    }
  }
}

function launchCounts(daemon: TestDaemon): Map<string, number> {
  const counts = new Map<string, number>();
  for (const runId of readFileSync(join(daemon.home.dir, 'launches'), 'utf8').trim().split('\n'))
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
  return counts;
}

/** Ended as it ended, or cancelled and never seen; in no case launched twice. */
async function checkRuns(daemon: TestDaemon, runs: readonly Answered[]): Promise<number> {
  const launches = launchCounts(daemon);
  expect([...launches.values()].filter((count) => count !== 1)).toEqual([]);
  for (const { data, requestId } of runs) {
    const run = (await daemon.proved(data.runId)) as RunView;
    const launched = launches.get(run.runId) ?? 0;
    expect(run.scope, requestId).toMatchObject({ state: 'exited' });
    if (run.state === 'cancelled' || run.result?.how === 'notReleased')
      expect({ requestId, launched }).toEqual({ requestId, launched: 0 });
    else {
      const [nth] = [Number(run.label)];
      expect({ requestId, launched, ...run.result }).toMatchObject({
        requestId,
        launched: 1,
        how: 'exited',
        code: codeOf(nth),
      });
    }
  }
  return launches.size;
}

/** What was acknowledged is there, once, as acknowledged; asked again under its id it is answered the same. */
async function checkGoals(daemon: TestDaemon, answered: readonly Answered[]): Promise<void> {
  const { goals } = await daemon.call('goals.list', {});
  const titles = goals.map(({ title }) => title);
  expect(new Set(titles.filter((title) => title !== 'a goal')).size).toBe(
    titles.filter((title) => title !== 'a goal').length,
  );
  for (const { name, data, requestId } of answered) {
    const goal = goals.find(({ goalId }) => goalId === data.goalId)!;
    if (name === 'goals.add') expect(goal, requestId).toBeDefined();
    if (name === 'goals.cancel') expect({ requestId, status: goal.status }).toEqual({ requestId, status: 'cancelled' });
    const { goalId: id } = data;
    if (name === 'goals.cancel') {
      expect(await daemon.call('goals.cancel', { id, requestId })).toMatchObject({ outcome: data.outcome, goalId: id });
    }
    if (name === 'goals.queue') {
      const events = await daemon.events({ actor: id, type: 'goal.queued' });
      expect(events.map(({ outcome }) => outcome)).toEqual(['changed']);
      expect(await daemon.call('goals.queue', { id, requestId })).toMatchObject({ outcome: data.outcome, goalId: id });
    }
  }
}

describe('JRN-01, FAULT-01, FAULT-02, FAULT-09: the daemon killed under load', () => {
  it(
    `${kills} kills: no acknowledged request lost, none applied twice, every run ends with its own code and proof`,
    async ({ annotate }) => {
      const daemon = await testDaemon().start();
      const mortal = new MortalDaemon(daemon);
      const goals = await Promise.all(Array.from({ length: clients }, () => daemon.goal()));
      const random = seeded(20_250_301);
      let isOver = false;
      const working = goals.map(({ goalId }, at) => workload(mortal, { goalId, name: `c${at}`, stop: () => isOver }));
      const failure = Promise.all(working);
      failure.catch(() => {});
      for (let kill = 0; kill < kills; kill += 1)
        await Promise.race([mortal.killAfter(1 + random(12), random(30)), failure]);
      isOver = true;
      await failure;

      const runs = mortal.answered.filter(({ name }) => name === 'runs.exec');
      const launched = await checkRuns(daemon, runs);
      await checkGoals(
        daemon,
        mortal.answered.filter(({ name }) => name !== 'runs.exec'),
      );
      // A lost answer does not mean an unknown run: everything that was reserved was asked for here.
      const reserved = await daemon.events({ type: 'run.reserved' });
      expect(reserved.map(({ actor }) => actor.id).sort()).toEqual(runs.map(({ data }) => data.runId).sort());
      const { scopes } = await daemon.call('processes', { released: true });
      expect(scopes.filter(({ assessment }) => assessment.state !== 'exited')).toEqual([]);
      const { checks } = await daemon.call('doctor', {});
      expect(checks.filter(({ ok }) => !ok)).toEqual([]);
      const lost = mortal.answered.reduce((sum, { losses }) => sum + losses, 0);
      await annotate(`${kills} kills of the daemon, ${runs.length} runs, ${launched} launched, ${lost} answers lost`);
      expect(lost).toBeGreaterThan(0);
      expect(launched).toBeGreaterThan(kills);
    },
    kills * patienceMs,
  );
});
