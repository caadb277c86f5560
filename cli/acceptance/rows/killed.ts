/** FAULT-01: an ingest or a pass is killed at seeded instants, looked at from outside, and repeated. */

import { ObserverPlace } from '../observerPlace.ts';
import type { Random } from '../random.ts';
import { claim, type Judgement, notRun, row, type Trying } from '../row.ts';
import { lookIn, type RunSeen } from '../storeLook.ts';
import { subject } from '../subject.ts';

export interface Killed {
  readonly asked: number;
  readonly kills: number;
  /** After how many kills nothing, a part, and all of the notes was committed. Each note is an event of its own. */
  readonly left: { readonly nothing: number; readonly some: number; readonly all: number };
  /** Rows, references and digests that did not agree after a kill. */
  readonly problems: number;
  /** Runs that nobody had told of, or of which a part was there. */
  readonly partial: number;
  /** Notes that the repetition did not bring in. */
  readonly missing: number;
  /** Notes that counted as lost although none was. */
  readonly lost: number;
  /** The one process that lived through all of it. */
  readonly boundAtEnd: boolean;
}

export const notesEach = 4;

async function observe(trying: Trying): Promise<Killed> {
  const { random, kills: asked } = trying;
  const place = new ObserverPlace(trying, 'killed');
  const living = await subject(trying);
  await place.note('bind', 'living', '--pid', String(living.pid));
  let aimMs = await durationOf(() => place.observe(['reconcile']));
  const seen = { kills: 0, problems: 0, partial: 0, missing: 0, lost: 0 };
  const left = { nothing: 0, some: 0, all: 0 };
  let known = 1;
  for (let round = 0; seen.kills < asked && round < 4 * asked; round += 1) {
    const verb = round % 2 === 0 ? 'ingest' : 'reconcile';
    for (let nth = 0; nth < notesEach; nth += 1)
      await place.note('reserve', `${round}/${nth}`, '--label', labelOf(round));
    const { killed } = await place.observe([verb], { killAfterMs: instant(random, aimMs) });
    const after = await lookIn(place.stateDir);
    const came = after.runs.length - known;
    aimMs *= came === 0 ? later : earlier;
    if (killed) {
      seen.kills += 1;
      left[came === 0 ? 'nothing' : came === notesEach ? 'all' : 'some'] += 1;
    }
    seen.problems += after.problems + after.corrupt;
    seen.partial += after.runs.filter((run) => !isWhole(run, round)).length;
    const { data } = await place.observe([verb]);
    known += notesEach;
    const now = await lookIn(place.stateDir);
    seen.missing += Math.abs(known - now.runs.length);
    seen.lost += data?.lost ?? data?.spool.lost ?? notesEach;
  }
  const { runs } = await lookIn(place.stateDir);
  const boundAtEnd = runs.some(({ state, pid }) => state === 'bound' && pid === living.pid);
  return { asked, left, ...seen, boundAtEnd };
}

/** Around its commit, wherever that is on a machine that does other things besides: too early once is later the next time. */
const instant = (random: Random, aimMs: number): number => aimMs * (0.7 + 0.6 * random.next());
const later = 1.3;
const earlier = 0.8;

const labelOf = (round: number): string => `round ${round}`;

/** A reservation with its label, or the living process; of no round that is still to come. */
function isWhole({ state, label, pid }: RunSeen, round: number): boolean {
  if (state === 'bound') return pid !== null;
  return state === 'reserved' && label !== null && Number(label.replace('round ', '')) <= round;
}

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** With fewer kills chance alone may have put all of them on one side of the commit. */
const fewKills = 8;

const onBothSides = ({ kills, left: { nothing } }: Killed): boolean => kills < fewKills || nothing < kills;

export function judgeKilled(seen: Killed): Judgement {
  const { asked, kills, left, problems, partial, missing, lost, boundAtEnd } = seen;
  return {
    claims: [
      claim(
        `${kills} SIGKILLs of an ingest or a pass, at seeded instants around its commit`,
        kills >= asked && kills > 0,
      ),
      onBothSides(seen)
        ? claim(
            `after ${left.nothing} of them nothing was committed, after ${left.some} a part of the notes, after ${left.all} all of them`,
            true,
          )
        : notRun(`not run: after ${left.nothing} of ${kills} nothing was committed, so none came behind a commit`),
      claim(
        `${problems} rows, references or digests that did not agree; ${partial} runs of which only a part was there`,
        problems + partial === 0,
      ),
      claim(
        `repeated each time: ${missing} notes missing or there twice, ${lost} wrongly called lost`,
        missing + lost === 0,
      ),
      claim(`the process that lived all the time is ${boundAtEnd ? 'still' : 'no longer'} bound`, boundAtEnd),
    ],
  };
}

export const killedRow = row('FAULT-01', observe, judgeKilled);
