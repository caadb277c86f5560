/** A small tmpfs on a directory, in a mount namespace that ends with the test: programs get into it by a prefix. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface MountedDisk {
  /** What stands in front of a program that shall see the disk. */
  readonly prefix: readonly string[];
  /** The same path as those programs see it, from here. */
  inside(path: string): string;
  /** Leaves no block free. */
  fill(): void;
  free(): void;
  /** Remounts, with options like `ro`. */
  remount(options: string): void;
  /** The namespace goes when nobody is in it any more. */
  end(): void;
}

/** An ordinary user gets the namespace by way of one of users. */
export async function mountedDisk(directory: string, size: string): Promise<MountedDisk> {
  mkdirSync(directory);
  const isRoot = process.getuid?.() === 0;
  const script = 'mount -t tmpfs -o mode=0700,size="$1" small "$0" && echo mounted && read line';
  const holder = spawn('unshare', [isRoot ? '-m' : '-Urm', 'sh', '-c', script, directory, size], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([once(createInterface({ input: holder.stdout }), 'line'), once(holder, 'exit')]);
  if (line !== 'mounted') throw new Error(`no small disk: ${line}`);
  const prefix = ['nsenter', '-t', String(holder.pid), '-m', ...(isRoot ? [] : ['-U', '--preserve-credentials'])];
  const inside = (path: string) => join(`/proc/${holder.pid}/root`, path);
  const ballast = inside(join(directory, 'ballast'));
  return {
    prefix,
    inside,
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast),
    remount(options) {
      execFileSync(prefix[0]!, [...prefix.slice(1), 'mount', '-o', `remount,bind,${options}`, directory]);
    },
    end: () => void holder.stdin.end(),
  };
}

/** Page after page, until the kernel has none. */
function fillUp(path: string): void {
  const file = openSync(path, 'a');
  const page = Buffer.alloc(4096, 1);
  try {
    for (;;) writeSync(file, page);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
