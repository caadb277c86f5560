import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seeded } from '../host/support/random.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { loseGuardianOf } from '../support/guardianLoss.ts';
import { patienceMs } from '../support/patience.ts';
import {
  checksOf,
  expectNoneBesideAnother,
  positionOf,
  ticked,
  tickingWorker,
  workingDaemon,
} from './support/workers.ts';

const kills = process.env.CUSTODY_SOAK === '1' ? 500 : 8;

const victims = ['daemon', 'worker', 'guardian of the check'] as const;
const instants = [
  'goal.queued',
  'claim.recorded',
  'scope.requested',
  'guardian.attached',
  'launch.releaseCommitted',
  'workload.statusReceipt',
  'guardian.exitReceipt',
  'receipt.recorded',
] as const;

interface Kill {
  readonly victim: (typeof victims)[number];
  readonly instant: (typeof instants)[number];
  readonly turns: number;
}

/** A Goal is queued, and when its check is as far as that, and a little further, somebody dies. */
async function killOnce(daemon: TestDaemon, { victim, instant, turns }: Kill): Promise<void> {
  const { goalId } = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
  await daemon.call('worktrees.add', { goalId });
  const since = await positionOf(daemon);
  const reached = daemon.event({ since, type: instant });
  await daemon.call('goals.queue', { id: goalId });
  await reached;
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  if (victim === 'daemon') await daemon.restart('SIGKILL');
  else if (victim === 'worker') await endWorker(daemon);
  else await loseCheck(daemon, since);
  const receipt = await daemon.event({ since, actor: goalId, type: 'receipt.recorded' });
  expect(receipt.payload).toMatchObject({ verdict: 'accepted' });
}

/** The one that is there now, if one is: it may be about to be replaced. */
async function endWorker(daemon: TestDaemon): Promise<void> {
  const { pid } = await tickingWorker(daemon);
  process.kill(pid!, 'SIGKILL');
}

/** Its end is proved by the worker's guardian then, as soon as there is nobody left for that one to wait for. */
async function loseCheck(daemon: TestDaemon, since: number): Promise<void> {
  const requested = await daemon.event(
    { since, type: 'scope.requested' },
    ({ payload }) => payload.purpose === 'check',
  );
  const { scopeId } = requested.payload as { scopeId: string };
  await daemon.event({ since, type: 'launch.releaseCommitted', actor: scopeId });
  await loseGuardianOf(daemon, scopeId);
  for await (const { type, payload } of daemon.client.stream<{ type: string; payload: { result?: string } }>(
    'events.follow',
    { since, actor: scopeId },
  )) {
    if (type === 'guardian.exitReceipt') return;
    if (type === 'guardian.observed' && payload.result === 'absent') break;
  }
  await endWorker(daemon);
}

function runsOf(daemon: TestDaemon): Map<string, number> {
  const counts = new Map<string, number>();
  const path = join(daemon.home.dir, 'ran');
  if (!existsSync(path)) return counts;
  for (const runId of readFileSync(path, 'utf8').trim().split('\n')) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  return counts;
}

describe('I-24, SHUT-03, CLAIM-04: whoever dies while checks are run', () => {
  it(
    `${kills} kills: one receipt for each Goal, no check launched twice, no worker beside another, everything proved`,
    async ({ annotate }) => {
      const daemon = workingDaemon({ env: { CUSTODY_RETRY_BACKOFF_MS: '50' } });
      const check = `echo $CUSTODY_RUN >> ${daemon.home.dir}/ran; sleep 0.05`;
      Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(check) });
      await daemon.start();
      await ticked(daemon);
      const random = seeded(20_261_130);
      for (let nth = 0; nth < kills; nth += 1) {
        const kill: Kill = {
          victim: victims[nth % victims.length]!,
          instant: instants[random(instants.length)]!,
          turns: random(40),
        };
        await killOnce(daemon, kill).catch((cause) => {
          throw new Error(`kill ${nth}: ${JSON.stringify(kill)}`, { cause });
        });
      }
      const goals = await daemon.events({ type: 'receipt.recorded' });
      expect(goals.map(({ outcome }) => outcome)).toEqual(Array.from({ length: kills }, () => 'changed'));
      const runs = runsOf(daemon);
      expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
      await tickingWorker(daemon);
      await expectNoneBesideAnother(daemon);
      const { scopes } = await daemon.call('processes', { all: true });
      const unproved = scopes.filter(({ assessment, purpose }) => assessment.state !== 'exited' && purpose === 'check');
      expect(unproved).toEqual([]);
      await annotate(
        `${kills} kills of daemon, worker or guardian of a check; ${runs.size} checks ran for ${kills} Goals`,
      );
    },
    kills * patienceMs,
  );
});
