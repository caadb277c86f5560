/** Control groups of version 2, where the machine lets a test make some. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where groups of version 2 are mounted, from the root of their hierarchy. */
function mounted(): string | undefined {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((one) => / - cgroup2 /.test(one) && one.split(' ')[3] === '/');
  return line?.split(' ')[4];
}

/** A new group's directory; undefined where there are none, or where they are not ours to make. */
export function controlGroup(name: string): string | undefined {
  const root = mounted();
  if (root === undefined) return undefined;
  const directory = join(root, name);
  try {
    mkdirSync(directory);
  } catch {
    return undefined;
  }
  if (existsSync(join(directory, 'cgroup.kill'))) return directory;
  rmdirSync(directory);
  return undefined;
}

/** Everybody in it and below it is killed at once. */
export const killGroup = (directory: string): void => writeFileSync(join(directory, 'cgroup.kill'), '1');

/** False while somebody is in it or below. */
export function removeGroup(directory: string): boolean {
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  if (!below.every(({ name }) => removeGroup(join(directory, name)))) return false;
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

/** The group of a process, as a path in the hierarchy. */
export const groupOf = (pid: number): string => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))![1]!;
