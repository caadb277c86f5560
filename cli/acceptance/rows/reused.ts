/** FAULT-06: a PID that was given to another process, in a PID namespace of its own; and another boot id. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noteClient } from '../../../pty/note/client.ts';
import { attempt, toolMissing } from '../../demo/command.ts';
import { living } from '../../demo/witness.ts';
import { hasOwnPidMax, privateMounts, privatePids } from '../namespaces.ts';
import { answerIn, ObserverPlace, observeCommand } from '../observerPlace.ts';
import { claim, type Judgement, notRun, row, type Trying } from '../row.ts';
import { lookIn } from '../storeLook.ts';
import { subject } from '../subject.ts';

export interface Reuse {
  /** How the PID was had again. */
  readonly how: 'a pid_max of 400' | 'ns_last_pid';
  readonly isSamePid: boolean;
  readonly forks: number;
  readonly before: Outcomes;
  readonly after: Outcomes;
  readonly old: { readonly state: string; readonly reason: string | null } | undefined;
  /** The process that has the PID now, noted as a run of its own. */
  readonly taker: string | undefined;
}

type Outcomes = Readonly<Record<string, number>>;

export interface Reboot {
  readonly outcomes: Outcomes;
  readonly reason: string | null;
  /** The process lived all the time, under the very same PID. */
  readonly isAlive: boolean;
}

export interface Reused {
  /** Why it was not run, where it was not. */
  readonly reuse: Reuse | string;
  readonly reboot: Reboot | string;
}

const notAllowed = 'not run: this user may have no private namespaces here (unshare)';

/**
 * `$1` is the directory for answers, `$2` the client for notes, `$3` how a PID comes again; the rest is the observer. A
 * process of this namespace has its PIDs, so it is noted and looked at from within. The lowest 300 never come again
 * (RESERVED_PIDS).
 */
const reuseScript = `set -e
ended() { kill -9 "$1"; wait "$1" 2> /dev/null || :; }
answers=$1 note=$2 how=$3; shift 3
[ "$how" = last ] || echo 400 > /proc/sys/kernel/pid_max
old=0
while [ "$old" -le 310 ]; do
  [ "$old" = 0 ] || ended "$old"
  sleep 600 & old=$!
done
"$note" bind old --pid "$old" --strict --wait 10000
"$@" reconcile --once --json > "$answers/before"
ended "$old"
new=0 forks=0
while [ "$new" != "$old" ] && [ "$forks" -lt 5000 ]; do
  [ "$how" != last ] || echo "$((old - 1))" > /proc/sys/kernel/ns_last_pid
  sleep 600 & new=$!
  forks=$((forks + 1))
  [ "$new" = "$old" ] || ended "$new"
done
"$note" bind new --pid "$new" --strict --wait 10000
"$@" reconcile --once --json > "$answers/after"
echo "$old $new $forks"
ended "$new"`;

/** `$1` is what is shown as the boot id; the rest is the observer. */
const rebootScript = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"';

async function observe(trying: Trying): Promise<Reused> {
  return { reuse: await reused(trying), reboot: await rebooted(trying) };
}

async function reused(trying: Trying): Promise<Reuse | string> {
  const { scratch, interruption } = trying;
  const prefix = await privatePids(scratch.env);
  if (prefix === undefined) return notAllowed;
  const client = noteClient();
  if (client === undefined) throw toolMissing('custody-note');
  const place = new ObserverPlace(trying, 'reused');
  const answers = join(scratch.dir, 'reused-answers');
  mkdirSync(answers);
  const hasOwn = hasOwnPidMax();
  const [program = '', ...args] = [...prefix, 'sh', '-c', reuseScript, 'sh', answers, client];
  const options = { env: place.env, signal: interruption.signal };
  const ended = await attempt(program, [...args, hasOwn ? 'small' : 'last', ...observeCommand], options);
  if (ended.code !== 0) return 'not run: the private PID namespace does not give a PID again on demand';
  const [old, now, forks] = ended.stdout.trim().split(' ').map(Number);
  const outcomes = (name: string) => answerIn(readFileSync(join(answers, name), 'utf8')).data?.pass.outcomes ?? {};
  const { runs } = await lookIn(place.stateDir);
  const [first, second] = runs;
  return {
    how: hasOwn ? 'a pid_max of 400' : 'ns_last_pid',
    isSamePid: old === now,
    forks: forks!,
    before: outcomes('before'),
    after: outcomes('after'),
    old: first && { state: first.state, reason: first.endReason },
    taker: second?.state,
  };
}

async function rebooted(trying: Trying): Promise<Reboot | string> {
  const { scratch } = trying;
  const prefix = await privateMounts(scratch.env);
  if (prefix === undefined) return notAllowed;
  const place = new ObserverPlace(trying, 'rebooted');
  const { pid } = await subject(trying);
  await place.note('bind', 'job', '--pid', String(pid));
  await place.observe(['reconcile']);
  const bootId = join(scratch.dir, 'another-boot-id');
  writeFileSync(bootId, `${randomUUID()}\n`);
  const inside = [...prefix, 'sh', '-c', rebootScript, 'sh', bootId];
  const { data, code } = await place.observe(['reconcile'], { prefix: inside });
  if (code !== 0 || data === undefined) return 'not run: nothing may be mounted in a private namespace here';
  const { runs } = await lookIn(place.stateDir);
  const isAlive = (await living([pid])).length === 1;
  return { outcomes: data.pass.outcomes, reason: runs[0]?.endReason ?? null, isAlive };
}

const told = (outcomes: Outcomes): string =>
  Object.entries(outcomes)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'nothing';

export function judgeReused({ reuse, reboot }: Reused): Judgement {
  const hadAgain =
    typeof reuse === 'string'
      ? [notRun(`PID reuse ${reuse}`)]
      : [
          claim(
            `with ${reuse.how} another process had the PID after ${reuse.forks} forks; before: ${told(reuse.before)}`,
            reuse.isSamePid && reuse.before.alive === 1,
          ),
          claim(
            `afterwards ${told(reuse.after)}; the old run: ${reuse.old?.state ?? 'not there'}, ${reuse.old?.reason ?? 'no reason'}`,
            reuse.old?.state === 'ended' && reuse.old.reason === 'replaced',
          ),
          claim(`who has the PID now is a run of its own: ${reuse.taker ?? 'not there'}`, reuse.taker === 'bound'),
        ];
  const isOver = typeof reboot !== 'string' && reboot.outcomes.ended === 1 && reboot.reason === 'boot_changed';
  const started =
    typeof reboot === 'string'
      ? [notRun(`another boot ${reboot}`)]
      : [
          claim(
            `under another boot id a process that lives on: ${told(reboot.outcomes)}, ${reboot.reason ?? 'no reason'}`,
            reboot.isAlive && isOver,
          ),
        ];
  const tried = [reuse, reboot].filter((part) => typeof part !== 'string').length;
  const ends = [typeof reuse !== 'string' && reuse.old?.state === 'ended', isOver].filter(Boolean).length;
  return { claims: [...hadAgain, ...started], convergence: { ended: tried, converged: ends } };
}

export const reusedRow = row('FAULT-06', observe, judgeReused);
