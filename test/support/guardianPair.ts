/**
 * A guardian is two processes (pty/guardian/witness.c): the recorded one, which waits, and its fork, which works. A test
 * that means the loss or the silence of a guardian means both.
 */
import { readFileSync } from 'node:fs';
import { isGone, statOf } from '../guardian/support/processes.ts';
import { isSame, type Named, signalVerified } from './daemonLeftovers.ts';

export interface GuardianPair {
  readonly witness: Named;
  /** Undefined before the fork, after a loss, and where a guardian has no witness. */
  readonly worker: Named | undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}

const named = (pid: number): Named => ({ pid, start: statOf(pid)?.start ?? '' });

const isNamedGuardian = (pid: number): boolean => /^custody-(witness|guardia)/.test(read(`/proc/${pid}/comm`));

/** Both of them as they are now; `guardian` is the recorded one. */
export function guardianPair(guardian: Named | number): GuardianPair {
  const witness = typeof guardian === 'number' ? named(guardian) : guardian;
  const { pid } = witness;
  const isWaiting = isSame(witness) && read(`/proc/${pid}/comm`) === 'custody-witness';
  const children = isWaiting ? read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number) : [];
  const worker = children.find(isNamedGuardian);
  return { witness, worker: worker === undefined ? undefined : named(worker) };
}

/** At once; the kernel tells nobody but the parent. */
function stop(one: Named): void {
  if (signalVerified(one, 'SIGSTOP')) while (!/^[TZX]?$/.test(statOf(one.pid)?.state ?? ''));
}

/** Sees to it that it makes no second process between our look and our signal. */
function held(guardian: Named | number): GuardianPair {
  const { witness } = guardianPair(guardian);
  stop(witness);
  return guardianPair(witness);
}

/** Kills both, and nobody who has got their pids since. False when there was nobody. */
export function killGuardian(guardian: Named | number): boolean {
  const pair = held(guardian);
  return bySignal(pair, 'SIGKILL');
}

const bySignal = ({ witness, worker }: GuardianPair, signal: NodeJS.Signals): boolean =>
  [witness, ...(worker === undefined ? [] : [worker])].map((one) => signalVerified(one, signal)).includes(true);

export function stopGuardian(guardian: Named | number): void {
  const { worker } = held(guardian);
  if (worker !== undefined) stop(worker);
}

export function continueGuardian(guardian: Named | number): void {
  bySignal(guardianPair(guardian), 'SIGCONT');
}

/** Kills both and resolves when they have gone; the witness may stay a zombie until its launcher has noticed. */
export async function loseGuardian(guardian: Named | number): Promise<void> {
  const pair = held(guardian);
  bySignal(pair, 'SIGKILL');
  await isGone(pair.witness.pid);
  if (pair.worker !== undefined) await isGone(pair.worker.pid);
}
