/**
 * FAULT-12: a run past its deadline, and a worker that is silent past its time, both stopped together with their guardians, so
 * that nobody can end them; later they are let go.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { eventually, found } from '../../demo/expectation.ts';
import { childrenOf, living, signalled } from '../../demo/witness.ts';
import { exec, proved, scopeOf, workplace } from '../../drill/drill.ts';
import { killDaemon } from '../../drill/drills/daemonDies.ts';
import { claim, type Eligibility, type Judgement, row, saidSafely, type Trying } from '../row.ts';
import { predicted } from '../worktree.ts';

export interface LateOwner {
  readonly run: {
    /** Once its deadline was over. */
    readonly scope: string;
    readonly sealRefused: string;
    readonly isAlive: boolean;
    readonly afterwards: string;
    readonly sealed: string;
  };
  readonly worker: {
    readonly reason: string;
    /** While it could not be proved to be gone. */
    readonly refusal: string;
    readonly replacements: number;
    readonly isStillOwner: boolean;
    /** Let go: the order of what happened. */
    readonly order: readonly string[];
  };
  readonly said: readonly Eligibility[];
}

async function observe(trying: Trying): Promise<LateOwner> {
  const { said, ...run } = await lateRun(trying);
  return { run, worker: await silentWorker(trying), said };
}

/** The process on record, the one that works for it, and the root. */
async function everybodyOf(trying: Trying, scopeId: string): Promise<readonly number[]> {
  const { guardianPid, workloadPid } = await scopeOf(trying, scopeId);
  const guardian = found(guardianPid, 'a guardian');
  const pids = [guardian, ...(await childrenOf(guardian)), found(workloadPid, 'a root')];
  return [...new Set(pids)];
}

/** Stops them until the row is over at the latest; the function that lets them go. */
async function stopped({ atEnd }: Trying, pids: readonly number[]): Promise<() => Promise<void>> {
  let isStopped = true;
  await signalled('STOP', ...pids);
  const letGo = async (): Promise<void> => {
    // The guardian last but for who waits for it: it may end the root as soon as it runs.
    if (isStopped) await signalled('CONT', ...pids.toReversed());
    isStopped = false;
  };
  atEnd(letGo);
  return letGo;
}

/** Longer than it takes to stop everybody, on whatever machine. */
const deadlineMs = 4_000;

async function lateRun(trying: Trying): Promise<LateOwner['run'] & Pick<LateOwner, 'said'>> {
  const { installation, interruption } = trying;
  const place = await workplace(trying, 'the late owner');
  const id = place.generationId;
  const run = await exec(trying, place, { script: 'exec sleep 600', onRootExit: 'terminate', timeoutMs: deadlineMs });
  const pids = await everybodyOf(trying, run.scopeId);
  const letGo = await stopped(trying, pids);
  await eventually(interruption.signal, 'its deadline is over', async () => {
    const { events } = await installation.call('events', { actor: run.scopeId, type: 'drain.requested' });
    return events.some(({ payload }) => payload.cause === 'deadline');
  });
  await installation.call('worktrees.close', { id });
  const { code } = await installation.refusal('worktrees.seal', { id });
  const { assessment } = await scopeOf(trying, run.scopeId);
  const late = await predicted(trying, id, false);
  const isAlive = (await living(pids)).length === pids.length;
  await letGo();
  const { scope } = await proved(trying, run.runId);
  const isGone = (await living(pids)).length === 0;
  const { lifecycle } = await installation.call('worktrees.seal', { id });
  return {
    ...{
      scope: assessment.state,
      sealRefused: code,
      isAlive,
      afterwards: scope?.state ?? 'not there',
      sealed: lifecycle,
    },
    said: [late, { eligible: lifecycle === 'sealed', justified: isGone }],
  };
}

const workerConfig = { checks: { '/nowhere': ['true'] }, tickIntervalMs: 100, silenceMs: 1_500 };
const fenceEvents = ['recovery.started', 'worker.scopeSettled', 'ownership.rescanned', 'replacement.launched'];

async function silentWorker(trying: Trying): Promise<LateOwner['worker']> {
  const { installation, interruption } = trying;
  trying.atEnd(() => withoutWorker(trying));
  await configured(trying, workerConfig);
  const status = async () => (await installation.call('status', {})).worker;
  await eventually(interruption.signal, 'a worker is at work', async () => (await status()).state === 'ticking');
  const { scopeId, incarnationId } = await status();
  const position = await newestPosition(trying);
  const letGo = await stopped(trying, await everybodyOf(trying, found(scopeId, 'a scope of the worker')));
  const started = async () => (await fenceStory(trying, position)).find(({ type }) => type === 'recovery.started');
  await eventually(interruption.signal, 'its silence is noticed', async () => (await started()) !== undefined);
  const { code } = await installation.refusal('recover', { now: true });
  const story = await fenceStory(trying, position);
  const owner = await status();
  const during = {
    reason: String((await started())?.payload.reason),
    refusal: code,
    replacements: story.filter(({ type }) => type === 'replacement.launched').length,
    isStillOwner: owner.incarnationId === incarnationId,
  };
  await letGo();
  await eventually(interruption.signal, 'it is replaced', async () => {
    const { state, incarnationId: now } = await status();
    return state === 'ticking' && now !== incarnationId;
  });
  const order = (await fenceStory(trying, position)).map(({ type }) => type);
  return { ...during, order: order.filter((type) => fenceEvents.includes(type)) };
}

/** By the next daemon: parameters are read at its start. */
async function configured(trying: Trying, more: object): Promise<void> {
  const { configFile } = trying.scratch.places;
  const { checks: _c, tickIntervalMs: _t, silenceMs: _s, ...own } = JSON.parse(readFileSync(configFile, 'utf8'));
  writeFileSync(configFile, JSON.stringify({ ...own, ...more }));
  await killDaemon(trying);
  await trying.installation.start();
}

/** Whoever comes next, the end of the installation above all, is not to meet a recovery that is under way. */
async function withoutWorker(trying: Trying): Promise<void> {
  const { installation, interruption } = trying;
  await configured(trying, {});
  await eventually(interruption.signal, 'no worker is left', async () => {
    const { state, recovery } = (await installation.call('status', {})).worker;
    return state === 'none' && recovery.phase === 'idle';
  });
}

async function newestPosition({ installation }: Trying): Promise<number> {
  return (await installation.call('events', { limit: 1 })).events.at(-1)?.position ?? 0;
}

async function fenceStory({ installation }: Trying, since: number) {
  const { events } = await installation.call('events', { since, limit: 1_000 });
  return events.filter(({ actor }) => actor.kind === 'recoveryFence');
}

export function judgeLateOwner({ run, worker, said }: LateOwner): Judgement {
  const proof = worker.order.indexOf('worker.scopeSettled');
  const isProvedFirst = proof >= 0 && proof < worker.order.indexOf('replacement.launched');
  return {
    claims: [
      claim(
        `a run past its deadline, stopped: its scope is ${run.scope}, its seal ${run.sealRefused}`,
        run.isAlive && run.scope === 'live' && run.sealRefused === 'seal_refused',
      ),
      claim(`let go: ${run.afterwards}, then ${run.sealed}`, run.afterwards === 'exited' && run.sealed === 'sealed'),
      claim(
        `a worker past its time, stopped (${worker.reason}): recovery ${worker.refusal}, ${worker.replacements} replacements, ${worker.isStillOwner ? 'still' : 'no longer'} on record`,
        worker.refusal === 'fence_busy' && worker.replacements === 0 && worker.isStillOwner,
      ),
      claim(`let go: ${worker.order.join(', ')}`, isProvedFirst),
      saidSafely(said),
    ],
    eligibility: said,
    convergence: { ended: 2, converged: [run.afterwards === 'exited', isProvedFirst].filter(Boolean).length },
  };
}

export const lateOwnerRow = row('FAULT-12', observe, judgeLateOwner);
