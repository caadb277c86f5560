import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/**
 * A small tmpfs in a mount namespace of its own: nothing of it is left on the machine when its holder ends, and an
 * ordinary user can have one. Reached from here through the holder's root.
 */
export async function smallDisk(mountOptions: string): Promise<string> {
  const namespace = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
  const script = `mount -t tmpfs -o mode=0755,${mountOptions} small /mnt && echo mounted && read line`;
  const holder = spawn('unshare', [...namespace, 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.stdin!.end());
  const lines = createInterface({ input: holder.stdout! });
  const [line] = await Promise.race([once(lines, 'line'), once(holder, 'exit')]);
  if (line !== 'mounted') throw new Error(`no small disk: ${line}`);
  return `/proc/${holder.pid}/root/mnt`;
}
