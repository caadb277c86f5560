/** FAULT-09: bounded passes that are killed in between, and a daemon that is killed; the next one goes on. */
import { eventually } from '../../demo/expectation.ts';
import { killDaemon } from '../../drill/drills/daemonDies.ts';
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Judgement, row, type Trying } from '../row.ts';
import { lookIn, type StoreSeen } from '../storeLook.ts';
import { type Subject, subject, subjects } from '../subject.ts';
import { noteToInstallation } from '../worktree.ts';

export interface Resumed {
  readonly processes: number;
  readonly kills: number;
  /** Runs that have another id than before, or were made anew. */
  readonly changedIds: number;
  /** Processes at which nobody looked in a whole turn of bounded passes after the last kill. */
  readonly leftOut: number;
  readonly ended: number;
  readonly seenToEnd: number;
  readonly stillBound: number;
  /** The same beside a daemon that was killed while one of its observed processes ended. */
  readonly daemon: { readonly isSameRun: boolean; readonly state: string };
}

const count = 9;
const atATime = 4;
/** Whole turns from wherever the last pass stopped. */
const turns = 4;
const endings = 4;

async function observe(trying: Trying): Promise<Resumed> {
  const place = new ObserverPlace(trying, 'resumed');
  const processes = await subjects(trying, count);
  for (const [at, { pid }] of processes.entries()) await place.note('bind', `job-${at}`, '--pid', String(pid));
  await place.observe(['ingest']);
  const before = await lookIn(place.stateDir);
  const kills = await killedPasses(trying, place);
  const turnedWallMs = Date.now();
  await turn(place);
  const after = await lookIn(place.stateDir);
  const looked = after.runs.filter(({ freshness }) => (freshness?.wallMs ?? 0) >= turnedWallMs);
  return {
    processes: count,
    kills,
    changedIds: idsOf(before).filter((id, at) => idsOf(after)[at] !== id).length + Math.abs(after.runs.length - count),
    leftOut: count - looked.length,
    ...(await ended(place, processes)),
    daemon: await besideDaemon(trying),
  };
}

const idsOf = ({ runs }: StoreSeen): string[] => runs.map(({ runId }) => runId);

const bounded = ['reconcile', '--once', '--max-count', String(atATime)] as const;

async function killedPasses({ kills, random }: Trying, place: ObserverPlace): Promise<number> {
  const startedAt = performance.now();
  await place.observe(bounded);
  let longestMs = performance.now() - startedAt;
  const wanted = Math.ceil(kills / 2);
  let done = 0;
  for (let nth = 0; done < wanted && nth < 6 * wanted; nth += 1) {
    const { killed } = await place.observe(bounded, { killAfterMs: longestMs * (0.3 + 0.7 * random.next()) });
    if (killed) done += 1;
    // The machine has become quicker.
    else longestMs *= 0.8;
  }
  return done;
}

async function turn(place: ObserverPlace): Promise<void> {
  for (let nth = 0; nth < turns; nth += 1) await place.observe(bounded);
}

async function ended(place: ObserverPlace, processes: readonly Subject[]) {
  await Promise.all(processes.slice(0, endings).map(({ end }) => end()));
  await turn(place);
  const { runs } = await lookIn(place.stateDir);
  const seenToEnd = runs.filter(({ state, endReason }) => state === 'ended' && endReason === 'absent').length;
  return { ended: endings, seenToEnd, stillBound: runs.filter(({ state }) => state === 'bound').length };
}

async function besideDaemon(trying: Trying): Promise<Resumed['daemon']> {
  const { installation, interruption } = trying;
  const process = await subject(trying);
  await noteToInstallation(trying, ['reserve', 'resumed', '--label', 'resumed']);
  await noteToInstallation(trying, ['bind', 'resumed', '--pid', String(process.pid)]);
  const ofIt = async () => (await installation.call('runs.list', {})).runs.find(({ label }) => label === 'resumed');
  await eventually(interruption.signal, 'the run is bound', async () => (await ofIt())?.state === 'bound');
  const before = await ofIt();
  await killDaemon(trying);
  await process.end();
  await installation.start();
  await eventually(interruption.signal, 'the end is seen', async () => (await ofIt())?.state === 'ended');
  const after = await ofIt();
  return { isSameRun: before !== undefined && before.runId === after?.runId, state: after?.state ?? 'not there' };
}

export function judgeResumed(seen: Resumed): Judgement {
  const { processes, kills, changedIds, leftOut, ended: ends, seenToEnd, stillBound, daemon } = seen;
  return {
    claims: [
      claim(
        `${kills} SIGKILLs of passes over ${atATime} of ${processes} processes: ${changedIds} runs have another id`,
        kills > 0 && changedIds === 0,
      ),
      claim(`a turn of bounded passes afterwards: ${leftOut} processes left out`, leftOut === 0),
      claim(
        `of ${ends} that ended ${seenToEnd} are known to have; ${stillBound} live on`,
        seenToEnd === ends && stillBound === processes - ends,
      ),
      claim(
        `a daemon killed while a process of its ended: the next one has ${daemon.isSameRun ? 'the same run' : 'another run'}, ${daemon.state}`,
        daemon.isSameRun && daemon.state === 'ended',
      ),
    ],
    convergence: { ended: ends + 1, converged: seenToEnd + (daemon.state === 'ended' ? 1 : 0) },
  };
}

export const resumedRow = row('FAULT-09', observe, judgeResumed);
