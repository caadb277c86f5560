/** FAULT-02: the daemon is killed while it answers, an ingest while it commits; both are asked the same again. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../demo/expectation.ts';
import { armedKill, living } from '../../demo/witness.ts';
import { failureOf } from '../../failure.ts';
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Judgement, notRun, row, type Trying } from '../row.ts';

export interface Repeated {
  readonly asked: number;
  /** Kills of the daemon, and how many of them took the reply along. */
  readonly kills: number;
  readonly unanswered: number;
  /** Of these, requests that had been carried out. */
  readonly committed: number;
  /** Requests that gave something else when they were repeated than they had given before. */
  readonly different: number;
  /** Goals on record for the requests, and how many there should be. */
  readonly goals: number;
  /** Ingests that were killed, and notes that a third time still changed something. */
  readonly ingestKills: number;
  readonly changedAgain: number;
  readonly missing: number;
}

/** A start of the daemon takes longer than anything else here. */
const killsOfDaemon = (kills: number): number => Math.max(2, Math.ceil(kills / 6));
/** A request is committed about then. A kill after its answer is followed by an earlier one, a kill before its commit by a later one. */
const answerMs = 12;
const earlier = 0.7;
const later = 1.3;
/** Rounds until one was killed in between; without a reply that was lost nothing of this row was tried. */
const roundsAtMost = (asked: number): number => Math.max(16, 4 * asked);
const notesEach = 20;

async function observe(trying: Trying): Promise<Repeated> {
  const wanted = killsOfDaemon(trying.kills);
  let aimMs = answerMs;
  let asked = 0;
  let unanswered = 0;
  let committed = 0;
  let different = 0;
  while (asked < wanted || (committed === 0 && asked < roundsAtMost(wanted))) {
    const { wasAnswered, wasDone, isSame } = await askedAgain(trying, asked, aimMs);
    asked += 1;
    if (wasAnswered) aimMs *= earlier;
    else unanswered += 1;
    if (!wasDone) aimMs *= later;
    else if (!wasAnswered) committed += 1;
    if (!isSame) different += 1;
  }
  const goals = (await titlesOf(trying)).filter((text) => text.startsWith(title)).length;
  return { asked, kills: asked, unanswered, committed, different, goals, ...(await ingested(trying)) };
}

const title = 'asked again';
/** The daemon was there no more, before the request was sent or after. */
const lost: ReadonlySet<string> = new Set(['daemon_gone', 'daemon_not_running']);

async function titlesOf({ installation }: Trying): Promise<readonly string[]> {
  return (await installation.call('goals.list', {})).goals.map((goal) => goal.title);
}

async function askedAgain(trying: Trying, nth: number, aimMs: number) {
  const { installation, repository, random, interruption } = trying;
  const args = { title: `${title} ${nth}`, repo: repository, request: 'again\n', requestId: `again-${nth}` };
  const { pid } = await installation.start();
  const kill = await armedKill(pid);
  const pause = new Promise((resolve) => setTimeout(resolve, aimMs * (0.8 + 0.4 * random.next())));
  const first = installation.call('goals.add', args).then(
    ({ goalId }) => goalId,
    (cause) => {
      if (!lost.has(failureOf(cause).code)) throw cause;
      return undefined;
    },
  );
  await pause;
  await kill.fire();
  await eventually(interruption.signal, 'the daemon is gone', async () => (await living([pid])).length === 0);
  const answered = await first;
  await installation.start();
  const wasDone = (await titlesOf(trying)).includes(args.title);
  const second = await installation.call('goals.add', args);
  const third = await installation.call('goals.add', args);
  const isSame = second.goalId === third.goalId && (answered ?? second.goalId) === second.goalId;
  return { wasAnswered: answered !== undefined, wasDone, isSame };
}

/** Lines of a file, which whoever calls sends again from the beginning. */
async function ingested(trying: Trying): Promise<Pick<Repeated, 'ingestKills' | 'changedAgain' | 'missing'>> {
  const { random } = trying;
  const voice = new ObserverPlace(trying, 'repeated-voice');
  for (let nth = 0; nth < notesEach; nth += 1) await voice.note('reserve', `job-${nth}`);
  const file = join(voice.stateDir, 'notes.jsonl');
  writeFileSync(file, voice.spooled('shell').join(''));
  const asked = killsOfDaemon(trying.kills);
  const first = new ObserverPlace(trying, 'repeated-first');
  const startedAt = performance.now();
  await first.observe(['ingest', file]);
  let longestMs = performance.now() - startedAt;
  const seen = { ingestKills: 0, changedAgain: 0, missing: 0 };
  for (let nth = 0; seen.ingestKills < asked && nth < 6 * asked; nth += 1) {
    const place = new ObserverPlace(trying, `repeated-${nth}`);
    const { killed } = await place.observe(['ingest', file], { killAfterMs: longestMs * (0.4 + 0.6 * random.next()) });
    if (!killed) {
      // The machine has become quicker.
      longestMs *= 0.8;
      continue;
    }
    seen.ingestKills += 1;
    const counts = (await place.observe(['ingest', file])).data?.counts;
    seen.missing += notesEach - (counts ? counts.changed + counts.noop + counts.duplicate : 0);
    const again = (await place.observe(['ingest', file])).data?.counts;
    seen.changedAgain += again ? again.changed + again.rejected : notesEach;
  }
  return seen;
}

export function judgeRepeated(seen: Repeated): Judgement {
  const { asked, kills, unanswered, committed, different, goals, ingestKills, changedAgain, missing } = seen;
  return {
    claims: [
      unanswered > 0
        ? claim(
            `${kills} SIGKILLs of the daemon during a request; ${unanswered} took the reply along, ${committed} of them after the commit`,
            kills >= asked && kills > 0,
          )
        : notRun(`not run: none of ${kills} SIGKILLs of the daemon came before the reply`),
      claim(
        `repeated twice under the same id: ${different} answered otherwise; ${goals} of ${asked} things done, each once`,
        different === 0 && goals === asked,
      ),
      claim(
        `${ingestKills} SIGKILLs of an ingest: repeated, ${missing} notes missing; once more, ${changedAgain} changed anything`,
        ingestKills > 0 && missing + changedAgain === 0,
      ),
    ],
  };
}

export const repeatedRow = row('FAULT-02', observe, judgeRepeated);
