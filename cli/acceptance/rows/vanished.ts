/** FAULT-05: supervisors are killed, and the kernel is the only one who knows. */
import { eventually, found } from '../../demo/expectation.ts';
import { living } from '../../demo/witness.ts';
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Eligibility, type Judgement, row, saidSafely, type Trying } from '../row.ts';
import { lookIn } from '../storeLook.ts';
import { subject, subjects } from '../subject.ts';
import { noteToInstallation, predicted, watchedWorktree } from '../worktree.ts';

export interface Vanished {
  readonly killed: number;
  readonly kept: number;
  readonly passes: number;
  /** Runs of killed processes that have ended as absent, and those of living ones that are still bound. */
  readonly absent: number;
  readonly bound: number;
  /** What the daemon found out by itself of one more. */
  readonly daemonSaw: { readonly state: string; readonly reason: string };
  readonly predictions: readonly Eligibility[];
}

const killed = 6;
const kept = 3;
const passesAtMost = 4;

async function observe(trying: Trying): Promise<Vanished> {
  const place = new ObserverPlace(trying, 'vanished');
  const gone = await subjects(trying, killed);
  const staying = await subjects(trying, kept);
  for (const { pid } of [...gone, ...staying]) await place.note('bind', `job-${pid}`, '--pid', String(pid));
  await place.observe(['reconcile']);
  await Promise.all(gone.map(({ end }) => end()));
  let passes = 0;
  for (let ended = 0; ended < killed && passes < passesAtMost; passes += 1)
    ended += (await place.observe(['reconcile', '--once'])).data?.pass.outcomes.ended ?? 0;
  const { runs } = await lookIn(place.stateDir);
  const pids = new Set(gone.map(({ pid }) => pid));
  const absent = runs.filter(
    ({ pid, state, endReason }) => pids.has(pid!) && state === 'ended' && endReason === 'absent',
  );
  const bound = runs.filter(({ pid, state }) => !pids.has(pid!) && state === 'bound');
  return { killed, kept, passes, absent: absent.length, bound: bound.length, ...(await unasked(trying)) };
}

/** The same beside a daemon: nobody calls anything, and the worktree is asked about before and after. */
async function unasked(trying: Trying): Promise<Pick<Vanished, 'daemonSaw' | 'predictions'>> {
  const { installation, interruption } = trying;
  const { generationId: id, path } = await watchedWorktree(trying, 'vanished');
  const process = await subject(trying, { cwd: path });
  await noteToInstallation(trying, ['bind', 'vanished', '--worktree', path, '--pid', String(process.pid)]);
  const ofIt = async () => (await installation.call('runs.list', {})).runs.find((run) => run.generationId === id);
  await eventually(interruption.signal, 'the run is bound', async () => (await ofIt())?.state === 'bound');
  const before = await predicted(trying, id, false);
  await process.end();
  await eventually(interruption.signal, 'the end is seen', async () => (await ofIt())?.state === 'ended');
  const { state, end } = found(await ofIt(), 'the run');
  const isGone = (await living([process.pid])).length === 0;
  const after = await predicted(trying, id, isGone);
  return { daemonSaw: { state, reason: end?.reason ?? 'none' }, predictions: [before, after] };
}

export function judgeVanished(seen: Vanished): Judgement {
  const { killed: count, kept: others, passes, absent, bound, daemonSaw, predictions } = seen;
  return {
    claims: [
      claim(
        `${count} of ${count + others} processes killed without a word: after ${passes} passes ${absent} had ended as absent`,
        absent === count,
      ),
      claim(`${bound} of ${others} that live are still bound`, bound === others),
      claim(
        `the daemon, asked by nobody: ${daemonSaw.state}, ${daemonSaw.reason}`,
        daemonSaw.state === 'ended' && daemonSaw.reason === 'absent',
      ),
      saidSafely(predictions),
    ],
    eligibility: predictions,
    convergence: { ended: count + 1, converged: absent + (daemonSaw.state === 'ended' ? 1 : 0) },
  };
}

export const vanishedRow = row('FAULT-05', observe, judgeVanished);
