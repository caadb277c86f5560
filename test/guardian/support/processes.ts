import { readFileSync } from 'node:fs';
import { eventually } from '../../support/eventually.ts';

/** One line of /proc/PID/stat, counted from the last parenthesis; undefined when there is no such process. */
export function statOf(pid: number): { state: string; ppid: number; session: number; start: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, ppid: Number(fields[1]), session: Number(fields[3]), start: fields[19]! };
}

/** The process group in the foreground of the process's controlling terminal; -1 without one (proc_pid_stat(5), tpgid). */
export function foregroundOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[5]);
}

export async function inForeground(leader: number, terminalOf: number): Promise<void> {
  await eventually(`group ${leader} in the foreground`, () => foregroundOf(terminalOf) === leader || undefined);
}

export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

/** The kernel tells nobody but the parent when a process changes its state. */
export async function inState(pid: number, states: string): Promise<void> {
  await eventually(`process ${pid} in state ${states}`, () => {
    const state = statOf(pid)?.state ?? 'gone';
    return states.includes(state) || undefined;
  });
}

export async function isGone(pid: number): Promise<void> {
  await eventually(`end of process ${pid}`, () => !isAlive(pid) || undefined);
}
