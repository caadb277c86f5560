import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Where cgroup v2 is mounted, and where in it this process is (proc_pid_mountinfo(5), cgroups(7)). */
function ownCgroup(): string | undefined {
  const mount = /^\d+ \d+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  return mount === undefined || path === undefined ? undefined : join(mount, path);
}

/** Removes a cgroup with those inside it; one that somebody is still in stays. */
function removeCgroup(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeCgroup(join(path, entry.name));
  }
  rmdirSync(path);
}

let made = 0;

/**
 * A cgroup of this test alone, as a service manager would delegate one; undefined where this user may not make any. Then
 * the tests hold as well, by sweeps.
 */
export function delegatedCgroup(): string | undefined {
  const own = ownCgroup();
  if (own === undefined) return undefined;
  const path = join(own, `custody-test-${process.pid}-${made++}`);
  try {
    mkdirSync(path);
  } catch {
    return undefined;
  }
  onTestFinished(() => removeCgroup(path));
  // Something else may be mounted on top of it.
  return existsSync(join(path, 'cgroup.procs')) ? path : undefined;
}

export function moveInto(cgroup: string, pid: number): void {
  writeFileSync(join(cgroup, 'cgroup.procs'), String(pid));
}

export function cgroupFile(cgroup: string, name: string): string {
  return readFileSync(join(cgroup, name), 'utf8').trim();
}
