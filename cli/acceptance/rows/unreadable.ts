/** FAULT-07: what procfs shows of a process cannot be understood, or there is no procfs at all; later there is again. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../demo/command.ts';
import { privateMounts } from '../namespaces.ts';
import { answerIn, ObserverPlace, observeCommand } from '../observerPlace.ts';
import { claim, type Judgement, notRun, row, type Trying } from '../row.ts';
import { lookIn } from '../storeLook.ts';
import { subject } from '../subject.ts';

export interface Unreadable {
  readonly passes: number;
  /** Passes that looked at the process, and that left it alone because it was asked lately. */
  readonly looks: number;
  readonly left: number;
  /** What the looks have given. */
  readonly outcomes: readonly string[];
  readonly stateAfter: string | undefined;
  readonly failures: number;
  /** The pause after the last look, in ms, and the first and the longest that are configured. */
  readonly pauseMs: number;
  readonly firstMs: number;
  readonly longestMs: number;
  readonly withoutProcfs: {
    readonly code: number;
    readonly error: string | undefined;
    readonly state: string | undefined;
  };
  /** What is seen when procfs can be read again. */
  readonly recovered: string | undefined;
}

const passes = 12;
/** On a busy machine a pass takes longer than the first of these pauses. */
const firstMs = 200;
const longestMs = 5_000;
const pace = { CUSTODY_RETRY_BACKOFF_MS: String(firstMs), CUSTODY_RETRY_BACKOFF_LONGEST_MS: String(longestMs) };

/** `$1` is the PID, `$2` how often, `$3` where the answers go; the rest is the observer. */
const hiddenScript = `mount --bind /dev/null "/proc/$1/stat" || exit 91
times=$2 answers=$3; shift 3
while [ "$times" -gt 0 ]; do "$@" reconcile --json >> "$answers" || exit; times=$((times - 1)); done`;

const emptyScript = 'mount -t tmpfs none /proc || exit 91; exec "$@"';

async function observe(trying: Trying): Promise<Unreadable | string> {
  const { scratch, interruption } = trying;
  const prefix = await privateMounts(scratch.env);
  if (prefix === undefined) return 'not run: this user may have no private namespaces here (unshare)';
  const place = new ObserverPlace(trying, 'unreadable');
  const { pid } = await subject(trying);
  await place.note('bind', 'job', '--pid', String(pid));
  await place.observe(['reconcile']);
  const answers = join(scratch.dir, 'unreadable-answers');
  const [program = '', ...args] = [...prefix, 'sh', '-c', hiddenScript, 'sh', String(pid), String(passes), answers];
  const options = { env: { ...place.env, ...pace }, signal: interruption.signal };
  const { code } = await attempt(program, [...args, ...observeCommand], options);
  if (code === 91) return 'not run: nothing may be mounted in a private namespace here';
  const seen = readFileSync(answers, 'utf8')
    .trim()
    .split('\n')
    .map((line) => answerIn(line).data?.pass);
  const [run] = (await lookIn(place.stateDir)).runs;
  const { failures = 0, retryMonoMs = 0, monoMs = 0 } = run?.freshness ?? {};
  const inside = [...prefix, 'sh', '-c', emptyScript, 'sh'];
  const blind = await place.observe(['reconcile'], { prefix: inside });
  const [still] = (await lookIn(place.stateDir)).runs;
  return {
    passes,
    looks: seen.filter((pass) => pass?.lookedAt === 1).length,
    left: seen.filter((pass) => pass?.paused === 1).length,
    outcomes: [...new Set(seen.flatMap((pass) => Object.keys(pass?.outcomes ?? {})))],
    stateAfter: run?.state,
    failures,
    pauseMs: (retryMonoMs ?? 0) - monoMs,
    firstMs,
    longestMs,
    withoutProcfs: { code: blind.code, error: blind.error, state: still?.state },
    recovered: await recovered(place),
  };
}

/** The last pause is shorter than this. */
const patienceMs = 3 * longestMs;

async function recovered(place: ObserverPlace): Promise<string | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { data } = await place.observe(['reconcile'], { env: pace });
    const [outcome] = Object.keys(data?.pass.outcomes ?? {});
    if (outcome !== undefined || performance.now() > deadline) return outcome;
  }
}

/** Times are written in whole milliseconds. */
const roundingMs = 2;

/** The exit status for what this machine does not offer. */
const unsupported = 8;

export function judgeUnreadable(seen: Unreadable | string): Judgement {
  if (typeof seen === 'string') return { claims: [notRun(seen)] };
  const {
    passes: count,
    looks,
    left,
    outcomes,
    stateAfter,
    failures,
    pauseMs,
    firstMs: first,
    longestMs: bound,
    withoutProcfs,
    recovered: again,
  } = seen;
  const isUnknown = outcomes.length > 0 && outcomes.every((outcome) => outcome.startsWith('unknown:'));
  const expected = Math.min(bound, first * 2 ** (failures - 1));
  return {
    claims: [
      claim(
        `${count} passes: looked ${looks} times (${outcomes.join(', ')}), left alone ${left} times; the run is ${stateAfter}`,
        isUnknown && stateAfter === 'bound' && looks + left === count,
      ),
      claim(
        `${failures} unknowns in a row, the last pause ${pauseMs} ms of at most ${bound}`,
        failures === looks && left > 0 && Math.abs(pauseMs - expected) <= roundingMs,
      ),
      claim(
        `without any procfs: exit ${withoutProcfs.code}, ${withoutProcfs.error ?? 'no error'}; the run is ${withoutProcfs.state}`,
        withoutProcfs.code === unsupported && withoutProcfs.state === 'bound',
      ),
      claim(`once it can be read again: ${again ?? 'nothing'}`, again === 'alive'),
    ],
  };
}

export const unreadableRow = row('FAULT-07', observe, judgeUnreadable);
