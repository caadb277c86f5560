import { expect, it } from 'vitest';
import type { Clock } from '../../actors/observe/clock.ts';
import type { Sample } from '../../actors/observe/sample.ts';
import type { DueProcess } from '../../actors/observe/streams/observations.ts';
import { createObservedRuns } from '../../actors/reconcile/observedRuns.ts';
import { dueLink } from '../../machines/run.ts';
import { bind, bootId, job, noting, testIntake } from '../ingest/support/notes.ts';
import { asked } from '../persistence/support/reading.ts';

const time = { monoMs: 1_000, bootId };
const clock = {
  now: () => ({ wallMs: 1_700_000_000_000 + time.monoMs, ...time }),
  monoMs: () => time.monoMs,
  bootId: () => time.bootId,
} as Clock;

const seen = (result: Sample['result'], reason: string): Sample => ({
  result,
  reason: reason as Sample['reason'],
  sampledAt: { monoMs: time.monoMs, bootId },
  contextDigest: 'c'.repeat(64),
  signalable: true,
  strength: 'path' as Sample['strength'],
});

it('OBS-04: an unknown pauses its own run, longer each time, also for whoever looks after this process', async () => {
  const { host, store, intake } = testIntake();
  const note = noting();
  const names = ['one', 'two', 'three'];
  await intake.take(names.map((run, at) => note(bind(run, { process: { ...job, pid: 5_000 + at } }))));
  const looking = () =>
    createObservedRuns({ host, store, clock, retryFirstMs: 100, retryLongestMs: 150, freshnessRowMs: 1_000_000 });
  const pidsOf = (due: readonly DueProcess[]) => due.map(({ request }) => request.identity.pid);
  const observed = ({ key, request: { identity } }: DueProcess) => ({ key, identity, retryAtMonoMs: null });

  const runs = looking();
  const first = runs.due(null, 10);
  expect(pidsOf(first)).toEqual([5_000, 5_001, 5_002]);
  const says = [seen('alive', 'identity_equal'), seen('unknown', 'permission'), seen('alive', 'identity_equal')];
  await runs.deliver(first.map((one, at) => ({ ...observed(one), sample: says[at]! })));

  // Kept back and written alike; the page goes on behind the one that pauses.
  expect([pidsOf(runs.due(null, 2)), runs.paused()]).toEqual([[5_000, 5_002], 1]);
  runs.flush();
  expect([pidsOf(looking().due(null, 10)), runs.paused()]).toEqual([[5_000, 5_002], 0]);

  time.monoMs += 100;
  const again = looking();
  const [, second] = again.due(null, 10);
  expect(second?.request.identity.pid).toBe(5_001);
  await again.deliver([{ ...observed(second!), sample: seen('unknown', 'permission') }]);
  again.flush();
  const row = Number(second!.key.split(':')[0]);
  expect(store.freshness.of(row)).toMatchObject({ failures: 2, monoMs: 1_100, retryMonoMs: 1_250 });
  time.monoMs += 149;
  expect(pidsOf(looking().due(null, 10))).toEqual([5_000, 5_002]);
  // Times of another boot mean nothing (TIME-03).
  time.bootId = 'b7b2a1f0-0000-4000-8000-000000000002';
  expect(pidsOf(looking().due(null, 10))).toEqual([5_000, 5_001, 5_002]);
});

it('OBS-12: asks once which run has which row, as long as it is due', async () => {
  const { host, store, intake } = testIntake();
  const note = noting();
  const told = (names: readonly string[], from: number) =>
    intake.take(names.map((run, at) => note(bind(run, { process: { ...job, pid: from + at } }))));
  const runs = createObservedRuns({
    ...{ host, store, clock },
    ...{ retryFirstMs: 100, retryLongestMs: 150, freshnessRowMs: 1_000_000 },
  });
  /** The pids that are due in a round, and how often it asked for ids. */
  const round = async () => {
    const pids: number[] = [];
    const { statements } = await asked(async () => {
      pids.push(...runs.due(null, 10).map(({ request }) => request.identity.pid));
    });
    const ofIds = Object.entries(statements).filter(([sql]) => sql.startsWith('SELECT actor, id'));
    return [pids, ofIds.reduce((sum, [, times]) => sum + times, 0)];
  };
  await told(['one', 'two'], 5_000);
  expect(await round()).toEqual([[5_000, 5_001], 1]);
  expect(await round()).toEqual([[5_000, 5_001], 0]);
  await told(['three'], 5_002);
  expect(await round()).toEqual([[5_000, 5_001, 5_002], 1]);
  const due = { kind: 'run', name: dueLink, value: 'observe' };
  const [first] = store.links.keysOf(due, 0, 1);
  store.write(() => store.links.remove(due, first!));
  expect([await round(), await round()]).toEqual([
    [[5_001, 5_002], 0],
    [[5_001, 5_002], 0],
  ]);
  store.write(() => store.links.add(due, first!));
  expect(await round()).toEqual([[5_000, 5_001, 5_002], 1]);
});
