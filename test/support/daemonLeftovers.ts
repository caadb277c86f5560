/** Ends what the daemons of one test launched, also when the test failed in the middle and no daemon is left. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseReceipt } from '../../pty/guardian/receipt.ts';
import { isAlive, isGone, statOf } from '../guardian/support/processes.ts';

/** Set for every workload that a test launches; whoever carries it, or lives in the test's home, belongs to that test. */
export const homeVariable = 'TEST_HOME';

export interface Named {
  readonly pid: number;
  /** Start time in clock ticks, as /proc/PID/stat has it. */
  readonly start: string;
}

/** False when the process is gone, or when its pid is another's by now. */
export function isSame({ pid, start }: Named): boolean {
  return isAlive(pid) && statOf(pid)?.start === start;
}

/** Signals one process, and nobody else that may have got its pid since. */
export function signalVerified(named: Named, signal: NodeJS.Signals): boolean {
  return isSame(named) && signalled(named.pid, signal);
}

/** False when it has ended since it was looked at. */
function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}

/** Both processes of a launch, from the receipt that its guardian wrote before anything ran. */
export function startReceipt(scopeDir: string): { readonly guardian: Named; readonly workload: Named } | undefined {
  try {
    const parsed = parseReceipt('start', readFileSync(join(scopeDir, 'start.json')));
    return parsed.ok ? parsed.receipt : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(directory: string, options: { readonly recursive?: boolean } = {}): string[] {
  try {
    return readdirSync(directory, { ...options, encoding: 'utf8' });
  } catch {
    return [];
  }
}

/** Where guardians have been: scopes, and the tricks of containment checks, which have scopes inside scopes. */
function scopeDirectories(stateDir: string): string[] {
  const scopes = join(stateDir, 'scopes');
  const run = join(stateDir, 'run');
  const checks = namesIn(run).filter((name) => name.startsWith('selfcheck-'));
  const places = checks.flatMap((name) => [
    name,
    ...namesIn(join(run, name), { recursive: true }).map((below) => join(name, below)),
  ]);
  return [...namesIn(scopes).map((name) => join(scopes, name)), ...places.map((place) => join(run, place))];
}

/** A guardian that is told to end takes its whole tree along; one that was stopped has to wake up for it. */
async function endGuardians(stateDir: string): Promise<void> {
  const guardians = scopeDirectories(stateDir).flatMap((directory) => startReceipt(directory)?.guardian ?? []);
  const told = guardians.filter((guardian) => signalVerified(guardian, 'SIGTERM'));
  for (const guardian of told) signalVerified(guardian, 'SIGCONT');
  for (const { pid } of told) await isGone(pid);
}

function carriers(dir: string): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
        return environment.includes(`${homeVariable}=${dir}`) || environment.includes(`HOME=${dir}`);
      } catch {
        return false;
      }
    });
}

/** What lost its guardian in the course of the test. */
async function endOrphans(dir: string): Promise<void> {
  for (let left = carriers(dir); left.length > 0; left = carriers(dir)) {
    for (const pid of left) if (isAlive(pid)) signalled(pid, 'SIGKILL');
    for (const pid of left) await isGone(pid);
  }
}

/** The holder of the terminals outlives its daemon, and hangs up what is left of them when it goes. */
async function endPtyHost(stateDir: string): Promise<void> {
  let recorded: { readonly pid: number; readonly processToken: string };
  try {
    recorded = JSON.parse(readFileSync(join(stateDir, 'run', 'pty-host.json'), 'utf8'));
  } catch {
    return;
  }
  const { pid, processToken: start } = recorded;
  if (signalVerified({ pid, start }, 'SIGKILL')) await isGone(pid);
}

export async function endLeftovers({ dir, stateDir }: { readonly dir: string; readonly stateDir: string }) {
  await endGuardians(stateDir);
  await endPtyHost(stateDir);
  await endOrphans(dir);
}
