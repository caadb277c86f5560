/**
 * What has to be different for one command only: another boot id, an empty /proc, a disk without room. Private namespaces
 * (unshare(1)), by root or by a user who may have them; nothing of the machine itself is changed.
 */
import { release } from 'node:os';
import { attempt } from '../demo/command.ts';

/** What stands in front of a command; undefined where this user may not have such namespaces. */
export type Prefix = readonly string[];

type Environment = Readonly<Record<string, string | undefined>>;

const asWhom = (): string[] => (process.getuid?.() === 0 ? [] : ['-U', '-r']);

/** In front of a script of sh and its operands. */
export const privateMounts = (env: Environment): Promise<Prefix | undefined> =>
  ifAllowed(['unshare', ...asWhom(), '-m'], env);

/** With PIDs of its own, and the procfs that shows them. */
export const privatePids = (env: Environment): Promise<Prefix | undefined> =>
  ifAllowed(['unshare', ...asWhom(), '-m', '-p', '-f', '--kill-child', '--mount-proc'], env);

async function ifAllowed(prefix: readonly string[], env: Environment): Promise<Prefix | undefined> {
  const [program = '', ...args] = prefix;
  try {
    const { code } = await attempt(program, [...args, 'true'], { env });
    return code === 0 ? prefix : undefined;
  } catch {
    return undefined;
  }
}

/** Since Linux 6.14 each PID namespace has a pid_max of its own; before, the machine has one, which is not ours to set. */
export function hasOwnPidMax(kernel = release()): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return major > 6 || (major === 6 && minor >= 14);
}
