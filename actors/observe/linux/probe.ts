import { errnoOf } from './errno.ts';

/** Whether a pid is taken in our own PID namespace, by anybody. */
export type Existence = 'exists' | 'not_permitted' | 'no_such_process' | 'failed';
export type ExistenceProbe = (pid: number) => Existence;

/**
 * Signal 0 (kill(2)): the kernel checks and delivers nothing. It is the second witness beside a missing procfs entry,
 * because a mount option can hide an entry but not the process from kill. This is the only kill in this folder, and it is
 * handed to the adapter as a port: a build that may not even ask leaves this module out.
 */
export const probeExistence: ExistenceProbe = (pid) => {
  try {
    process.kill(pid, 0);
    return 'exists';
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ESRCH') return 'no_such_process';
    return code === 'EPERM' ? 'not_permitted' : 'failed';
  }
};
