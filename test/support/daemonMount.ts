/** A daemon whose state directory lies on a small tmpfs, in a mount namespace that ends with the test. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { TestDaemon } from './daemon.ts';
import { daemonHome } from './daemonHome.ts';

export interface SmallDisk {
  readonly daemon: TestDaemon;
  /** Leaves no block free. */
  fill(): void;
  free(): void;
  /** Remounts, with options like `ro`. */
  remount(options: string): void;
}

/** An ordinary user gets the namespace by way of one of users. */
export async function daemonOnSmallDisk(size: string): Promise<SmallDisk> {
  const home = daemonHome({ name: join('disk', 'state') });
  const disk = join(home.dir, 'disk');
  mkdirSync(disk);
  const isRoot = process.getuid?.() === 0;
  const script = 'mount -t tmpfs -o mode=0700,size="$1" small "$0" && echo mounted && read line';
  const holder = spawn('unshare', [isRoot ? '-m' : '-Urm', 'sh', '-c', script, disk, size], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([once(createInterface({ input: holder.stdout }), 'line'), once(holder, 'exit')]);
  if (line !== 'mounted') throw new Error(`no small disk: ${line}`);
  const prefix = ['nsenter', '-t', String(holder.pid), '-m', ...(isRoot ? [] : ['-U', '--preserve-credentials'])];
  const daemon = new TestDaemon(home, { prefix, root: `/proc/${holder.pid}/root` });
  onTestFinished(async () => {
    await daemon.dispose();
    holder.stdin.end();
  });
  const ballast = daemon.inside(join(disk, 'ballast'));
  return {
    daemon,
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast),
    remount: (options) => {
      execFileSync(prefix[0]!, [...prefix.slice(1), 'mount', '-o', `remount,bind,${options}`, disk]);
    },
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
