import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiError, EventView, Reply, StopView } from '../../actors/daemon/api/views.ts';
import { isGone } from '../guardian/support/processes.ts';
import { seeded } from '../host/support/random.ts';
import { TestDaemon } from '../support/daemon.ts';
import { type Failpoint, failingDaemonCommand, holdAt } from '../support/daemonFailpoints.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { isSame, startReceipt } from '../support/daemonLeftovers.ts';
import { patienceMs } from '../support/patience.ts';

const seeds = process.env.CUSTODY_SOAK === '1' ? 500 : 40;

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await new TestDaemon(daemonHome({ env: { CUSTODY_GRACE_MS: '0' } })).start(failingDaemonCommand());
});
afterAll(() => daemon.dispose());

const ranFile = (runId: string) => join(daemon.home.dir, `ran-${runId}`);
const script = () => `touch "${daemon.home.dir}/ran-$CUSTODY_RUN"; exec sleep 600`;

type ExecReply = Reply<{ readonly runId: string; readonly scopeId: string | null }>;

function launch(goalId: string, requestId: string): Promise<ExecReply> {
  return daemon.attempt('runs.exec', daemon.launchArguments(goalId, script(), { requestId }));
}

const stop = (id: string, requestId: string) => daemon.attempt('runs.stop', { id, requestId, waitMs: patienceMs });
const cancel = (id: string, requestId: string) => daemon.attempt('goals.cancel', { id, requestId, waitMs: patienceMs });

/** Of a proved scope no process is left but a guardian on its way out. */
async function expectNobodyLeft(scopeId: string): Promise<void> {
  const receipt = startReceipt(daemon.scopeDir(scopeId));
  if (receipt === undefined) return;
  expect(isSame(receipt.workload)).toBe(false);
  await isGone(receipt.guardian.pid);
}

const scopeOf = (reply: Reply<StopView>): string => (reply.ok ? reply.data.scopeId : '');

const journal = async (actor: string): Promise<EventView[]> => daemon.events({ actor });

/** Whatever was asked for at whatever moment: one of the endings that the contract knows, and nothing that runs on. */
async function expectValidEnd(runId: string): Promise<void> {
  const { state, result, scopeId, scope, generationId } = await daemon.proved(runId);
  expect(scope?.state).toBe('exited');
  const types = (await journal(scopeId!)).map(({ type }) => type);
  const isReleased = types.includes('launch.releaseCommitted');
  expect(types.filter((type) => type === 'guardian.attached').length).toBeLessThanOrEqual(1);
  if (existsSync(ranFile(runId)))
    expect({ isReleased, how: result?.how }).toEqual({ isReleased: true, how: 'signaled' });
  expect(state).toBe(isReleased ? 'ended' : 'cancelled');
  await expectNobodyLeft(scopeId!);
  const { runs } = await daemon.call('worktrees.show', { id: generationId! });
  const settled = runs.find((run) => run.runId === runId)!;
  expect(settled.state).toBe(state);
  expect(Object.values(settled.scopes)).toEqual(['proved']);
}

/** What a launch may be answered when somebody ends it meanwhile: it ran, or one of the refusals that say that nothing did. */
function expectValidLaunch(reply: ExecReply): void {
  if (!reply.ok) expect(['launch_abandoned', 'not_released', 'preconditions_unmet']).toContain(reply.error.code);
}

async function expectFirstResultAgain(first: Reply<StopView>, again: Reply<StopView>): Promise<void> {
  if (!first.ok || !again.ok) throw new Error(JSON.stringify([first, again]));
  const { elapsedMs: _, ...view } = first.data;
  expect(again.data).toMatchObject(view);
  const drains = await daemon.events({ actor: first.data.scopeId, type: 'drain.requested' });
  expect(drains.filter(({ outcome }) => outcome === 'changed').length).toBeLessThanOrEqual(1);
}

const points: readonly Failpoint[] = [
  { at: 'before slots' },
  { at: 'before reserve commit' },
  { at: 'after reserve commit' },
  { at: 'before handshake' },
  { at: 'after handshake' },
  { at: 'before release commit' },
  { at: 'after release commit' },
  { at: 'before gate' },
  { at: 'after gate' },
];

/** A launch that waits at the point. `runId` is known as soon as there is a run. */
async function heldLaunch(goalId: string, requestId: string, point: Failpoint) {
  const since = (await daemon.attempt('status', {})) as { journalPosition: number };
  const held = await holdAt(daemon, point);
  const exec = launch(goalId, requestId);
  await held.reached();
  const [reserved] = await daemon.events({ since: since.journalPosition, type: 'run.reserved' });
  return { held, exec, runId: reserved?.actor.id };
}

describe('D10 stop lands anywhere: held at every step (STOP-01, STOP-04, STOP-08, GRD-06)', () => {
  it.each(points)('stop, $at', async (point) => {
    const { goalId } = await daemon.goal();
    const { held, exec, runId } = await heldLaunch(goalId, `stop ${point.at}`, point);
    if (runId === undefined) {
      await held.letGo();
      const reply = (await exec) as Extract<ExecReply, { ok: true }>;
      expect(await stop(reply.data.runId, `late ${point.at}`)).toMatchObject({ data: { outcome: 'proved' } });
      return expectValidEnd(reply.data.runId);
    }
    const first = await stop(runId, `the stop ${point.at}`);
    expect(first).toMatchObject({ ok: true, exitCode: 0, data: { assessment: { state: 'exited' } } });
    const ranBefore = existsSync(ranFile(runId));
    await held.letGo();
    expectValidLaunch(await exec);
    await expectValidEnd(runId);
    // After a proved stop nothing begins that had not begun.
    expect(existsSync(ranFile(runId))).toBe(ranBefore);
    await expectFirstResultAgain(first, await stop(runId, `the stop ${point.at}`));
    if (point.at !== 'before handshake') return;
    // Nobody is spawned for a launch that was abandoned before; a whole launch later that would have been seen.
    await daemon.proved((await daemon.exec(goalId, 'true')).runId);
    expect(existsSync(join(daemon.scopeDir(scopeOf(first)), 'start.json'))).toBe(false);
  });

  it.each(points)('cancel, $at', async (point) => {
    const { goalId } = await daemon.goal();
    const { held, exec, runId } = await heldLaunch(goalId, `cancel ${point.at}`, point);
    const first = await cancel(goalId, `the cancel ${point.at}`);
    expect(first).toMatchObject({ ok: true, exitCode: 0, data: { outcome: 'changed', status: 'cancelled' } });
    const ranBefore = runId !== undefined && existsSync(ranFile(runId));
    await held.letGo();
    const reply = await exec;
    expectValidLaunch(reply);
    const [run] = (await daemon.call('runs.list', { goalId })).runs;
    if (run !== undefined) {
      await expectValidEnd(run.runId);
      expect(existsSync(ranFile(run.runId))).toBe(ranBefore);
    } else
      expect(reply).toMatchObject({ ok: false, error: { code: 'preconditions_unmet' } satisfies Partial<ApiError> });
    expect(await cancel(goalId, `the cancel ${point.at}`)).toMatchObject({
      data: { outcome: 'changed', status: 'cancelled' },
    });
  });
});

const moments = ['run.reserved', 'launch.prepared', 'guardian.attached', 'launch.releaseCommitted', 'answer'] as const;

/** Resolves with the run's id when its launch has come to the moment, and a seeded number of turns later. */
async function atMoment(since: number, exec: Promise<unknown>, random: (below: number) => number) {
  const moment = moments[random(moments.length)]!;
  const turns = random(40);
  const { actor: run, payload } = await daemon.event({ since, type: 'run.reserved' });
  if (moment === 'answer') await exec;
  else if (moment !== 'run.reserved') await daemon.event({ since, type: moment, actor: String(payload.rootScopeId) });
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return run.id;
}

describe('D10 stop lands anywhere: at seeded moments', () => {
  it(
    `${seeds} seeds: every outcome is valid, and a second stop returns the first result`,
    async ({ annotate }) => {
      let { goalId } = await daemon.goal();
      for (let seed = 1; seed <= seeds; seed += 1) {
        const random = seeded(seed);
        const { journalPosition } = (await daemon.attempt('status', {})) as { journalPosition: number };
        const exec = launch(goalId, `seed ${seed}`);
        const runId = await atMoment(journalPosition, exec, random);
        const verbs = [() => stop(runId, `stop ${seed}`), () => cancel(goalId, `cancel ${seed}`)];
        const isCancelled = random(4) === 0;
        const asked = isCancelled ? (random(2) === 0 ? verbs : verbs.toReversed()) : verbs.slice(0, 1);
        const replies = await Promise.all(asked.map((ask) => ask()));
        for (const reply of replies) expect(reply, `seed ${seed}`).toMatchObject({ ok: true, exitCode: 0 });
        expectValidLaunch(await exec);
        await expectValidEnd(runId);
        const first = replies.find((reply) => 'data' in reply && 'runId' in reply.data) as Reply<StopView>;
        await expectFirstResultAgain(first, await stop(runId, `stop ${seed}`));
        if (isCancelled) ({ goalId } = await daemon.goal());
      }
      await annotate(`${seeds} seeds`);
    },
    seeds * patienceMs,
  );
});
