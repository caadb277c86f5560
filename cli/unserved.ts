/** Why nobody answers: there is no daemon, or there is one that cannot be reached. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OperatingError } from '../actors/runtime/operatingError.ts';
import { type Places, readRendezvous } from '../actors/runtime/places.ts';
import { daemonNotRunning, daemonUnreachable } from './failure.ts';

export async function unserved(places: Places): Promise<OperatingError> {
  if (!(await isHeld(places.stateDir))) return daemonNotRunning(places.stateDir);
  return daemonUnreachable(places.stateDir, readRendezvous(places)?.pid ?? null);
}

/** The lock tells what no pid can: the kernel drops it with the process. It is taken for a moment where it is free. */
async function isHeld(stateDir: string): Promise<boolean> {
  if (!existsSync(join(stateDir, 'lock.db'))) return false;
  const { acquireRuntimeLock } = await import('../persistence/lock.ts');
  try {
    acquireRuntimeLock(stateDir).release();
    return false;
  } catch (cause) {
    return (cause as { readonly code?: unknown }).code === 'runtime_busy';
  }
}
