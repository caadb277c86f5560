/** FAULT-04: short invocations that exclude each other for the moment, and decisions that were made on the same version. */
import { failureOf } from '../../failure.ts';
import { ObserverPlace } from '../observerPlace.ts';
import { claim, type Judgement, row, type Trying } from '../row.ts';
import { lookIn } from '../storeLook.ts';
import { subjects } from '../subject.ts';
import { watchedWorktree } from '../worktree.ts';

export interface Concurrent {
  readonly writers: number;
  readonly reconcilers: number;
  /** Invocations that were told to come again. */
  readonly deferred: number;
  /** Refusals of another kind. */
  readonly otherwise: number;
  readonly runs: number;
  readonly bound: number;
  readonly rounds: number;
  readonly decisions: number;
  /** Rounds in which not exactly one decision was made. */
  readonly wrongRounds: number;
  /** Codes by which the others were refused that do not say that something has changed. */
  readonly wrongRefusals: number;
}

const writers = 5;
const reconcilers = 3;
const rounds = 3;
const atOnce = 4;

async function observe(trying: Trying): Promise<Concurrent> {
  return {
    writers,
    reconcilers,
    ...(await invocations(trying)),
    rounds,
    decisions: rounds * atOnce,
    ...(await races(trying)),
  };
}

async function invocations(trying: Trying) {
  const place = new ObserverPlace(trying, 'concurrent');
  const voice = new ObserverPlace(trying, 'concurrent-voice');
  await place.observe(['status']);
  const processes = await subjects(trying, writers);
  const inputs: string[] = [];
  for (const [at, { pid }] of processes.entries()) {
    await voice.note('reserve', 'job', '--producer', `p${at}`);
    await voice.note('bind', 'job', '--pid', String(pid), '--producer', `p${at}`);
    inputs.push(voice.spooled(`p${at}`).join(''));
  }
  const seen = { deferred: 0, otherwise: 0 };
  const insist = async (args: readonly string[], input: string): Promise<void> => {
    for (;;) {
      trying.interruption.signal.throwIfAborted();
      const { code, error } = await place.observe(args, { input });
      if (code === 0) return;
      if (error === 'runtime_busy' || error === 'store_busy') seen.deferred += 1;
      else seen.otherwise += 1;
      if (seen.otherwise > writers) return;
    }
  };
  const passes = Array.from({ length: reconcilers }, () => insist(['reconcile'], ''));
  await Promise.all([...inputs.map((input) => insist(['ingest', '-'], input)), ...passes]);
  const { runs } = await lookIn(place.stateDir);
  const pids = new Set(processes.map(({ pid }) => pid));
  const bound = runs.filter(({ state, pid }) => state === 'bound' && pid !== null && pids.delete(pid));
  return { ...seen, runs: runs.length, bound: bound.length };
}

/** What a decision that came too late is told: the version has changed, or what it wants is no longer to be had. */
const tooLate = new Set(['version_conflict', 'preconditions_unmet', 'migration_refused']);

async function races(trying: Trying): Promise<Pick<Concurrent, 'wrongRounds' | 'wrongRefusals'>> {
  const { installation } = trying;
  const seen = { wrongRounds: 0, wrongRefusals: 0 };
  for (let nth = 0; nth < rounds; nth += 1) {
    const { generationId: id } = await watchedWorktree(trying, `race-${nth}`);
    const { version: expectVersion, authorityEpoch } = await installation.call('worktrees.show', { id });
    const decisions = Array.from({ length: atOnce }, (_, at) => {
      const args = { id, change: 'migrate' as const, evidence: [`decision-${at}`], expectVersion };
      return installation.call('worktrees.authority', args).then(
        () => 'made',
        (cause) => failureOf(cause).code,
      );
    });
    const outcomes = await Promise.all(decisions);
    const shown = await installation.call('worktrees.show', { id });
    const made = outcomes.filter((outcome) => outcome === 'made').length;
    if (made !== 1 || shown.authorityEpoch !== authorityEpoch + 1) seen.wrongRounds += 1;
    seen.wrongRefusals += outcomes.filter((outcome) => outcome !== 'made' && !tooLate.has(outcome)).length;
  }
  return seen;
}

export function judgeConcurrent(seen: Concurrent): Judgement {
  const {
    writers: wrote,
    reconcilers: looked,
    deferred,
    otherwise,
    runs,
    bound,
    rounds: raced,
    decisions,
    wrongRounds,
    wrongRefusals,
  } = seen;
  return {
    claims: [
      claim(
        `${wrote} writers and ${looked} reconcilers at once: ${deferred} times deferred and repeated, ${otherwise} times refused otherwise`,
        otherwise === 0,
      ),
      claim(
        `${runs} runs of ${wrote}, ${bound} bound to the process that was noted`,
        runs === wrote && bound === wrote,
      ),
      claim(
        `${decisions} decisions in ${raced} races on one version: ${wrongRounds} races without exactly one winner, ${wrongRefusals} losers told something else`,
        wrongRounds + wrongRefusals === 0,
      ),
    ],
  };
}

export const concurrentRow = row('FAULT-04', observe, judgeConcurrent);
