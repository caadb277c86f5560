/** Control groups of version 2 (cgroups(7)), as far as a launcher needs them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Moves a process into a group, with whatever it starts from then on. False when the kernel does not let us: the process
 * stays where it is, and works there as well. The pid has to be that of a child that has not been reaped.
 */
export function enterGroup(directory: string, pid: number): boolean {
  try {
    // Whoever tidies up removes a group that nobody is in.
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    return false;
  }
}
