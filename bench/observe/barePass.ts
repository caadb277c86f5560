/** Opens, reads and closes what the adapter reads for processes in batches, into one buffer, and parses nothing (ruling 32). */
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

const CONTEXT_FILES = ['mountinfo', 'status'].map((name) => `/proc/self/${name}`);
CONTEXT_FILES.push('/proc/sys/kernel/random/boot_id', '/proc/sys/kernel/pid_max');
const CONTEXT_LINKS = ['/proc/self', '/proc/self/ns/pid', '/proc/self/ns/time'];

const buffer = Buffer.allocUnsafe(4_096);
function bareRead(path: string): void {
  const fd = openSync(path, 'r');
  readSync(fd, buffer, 0, buffer.length, null);
  closeSync(fd);
}

/** stat, status and stat of every process, and the context once per batch. */
export function barePass(pids: readonly number[], batch: number): void {
  for (let from = 0; from < pids.length; from += batch) {
    for (const path of CONTEXT_FILES) bareRead(path);
    for (const path of CONTEXT_LINKS) readlinkSync(path);
    for (const pid of pids.slice(from, from + batch)) {
      bareRead(`/proc/${pid}/stat`);
      bareRead(`/proc/${pid}/status`);
      bareRead(`/proc/${pid}/stat`);
    }
  }
}
