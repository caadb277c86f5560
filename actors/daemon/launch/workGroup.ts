/**
 * A control group for guardians and the PTY host, beside the one of the daemon: a service manager that kills the group of
 * the daemon (`cgroup.kill`, `KillMode=control-group`) does not reach them there. It can be had where the group around the
 * daemon's own is writable, as below `systemd --user`. Where it cannot, work shares the daemon's group, and `doctor` says so.
 */
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface WorkGroup {
  /** Undefined where there is none; `reason` says why. */
  readonly directory: string | undefined;
  readonly reason: string;
}

export interface GroupFiles {
  /** The contents of /proc/self/cgroup and /proc/self/mountinfo (proc(5)). */
  readonly cgroup: string;
  readonly mountinfo: string;
}

const none = (reason: string): WorkGroup => ({ directory: undefined, reason });

/** Makes it, unless it is there already. Never throws: work without a group of its own is work all the same. */
export function createWorkGroup(installationId: string, setting: string): WorkGroup {
  if (setting === 'none') return none('it is turned off (workGroup)');
  try {
    return besideOwn(`custody-${installationId.replace(/[^\w-]/g, '')}`, ownGroup(ownFiles()));
  } catch (error) {
    return none(`it cannot be made: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

/** Succeeds once nobody is left in it. */
export function removeWorkGroup({ directory }: WorkGroup): void {
  if (directory === undefined) return;
  try {
    // A guardian that was killed has left the part of its workload.
    for (const { name } of readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      rmdirSync(join(directory, name));
    rmdirSync(directory);
  } catch {
    // Work that goes on keeps it, and the next daemon finds it.
  }
}

const ownFiles = (): GroupFiles => ({
  cgroup: readFileSync('/proc/self/cgroup', 'utf8'),
  mountinfo: readFileSync('/proc/self/mountinfo', 'utf8'),
});

/** The directory of the group that this process is in; undefined at the root of what is mounted, or where nothing is. */
export function ownGroup({ cgroup, mountinfo }: GroupFiles): string | undefined {
  const path = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  // The paths of another namespace lead out of what is seen here.
  if (path === undefined || path.split('/').includes('..')) return undefined;
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '', mountPoint = ''] = left.split(' ');
    if (!right.startsWith('cgroup2 ')) continue;
    const below = relative(unescaped(root), path);
    // Outside of what is mounted here, as in a namespace of another group.
    if (below !== '' && !below.startsWith('..')) return join(unescaped(mountPoint), below);
  }
  return undefined;
}

/** Blanks and the like are octal in mountinfo. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

function besideOwn(name: string, own: string | undefined): WorkGroup {
  if (own === undefined) return none('this daemon is in no control group of its own');
  const directory = join(dirname(own), name);
  if (directory === own) return none('this daemon is itself in the group of its work');
  mkdirSync(directory, { recursive: true });
  // To move a process one has to be allowed to write where both groups begin (cgroups(7), delegation containment).
  accessSync(join(dirname(own), 'cgroup.procs'), constants.W_OK);
  accessSync(join(directory, 'cgroup.procs'), constants.W_OK);
  return { directory, reason: `guardians and terminals are in ${directory}` };
}
