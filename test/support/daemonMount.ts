/** A daemon whose state directory lies on a small tmpfs. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { TestDaemon } from './daemon.ts';
import { daemonHome } from './daemonHome.ts';
import { type MountedDisk, mountedDisk } from './mountedDisk.ts';

export interface SmallDisk extends Pick<MountedDisk, 'fill' | 'free' | 'remount'> {
  readonly daemon: TestDaemon;
}

export async function daemonOnSmallDisk(size: string): Promise<SmallDisk> {
  const home = daemonHome({ name: join('disk', 'state') });
  const { prefix, inside, end, ...disk } = await mountedDisk(join(home.dir, 'disk'), size);
  const daemon = new TestDaemon(home, { prefix, root: inside('/') });
  onTestFinished(async () => {
    await daemon.dispose();
    end();
  });
  return { daemon, ...disk };
}
