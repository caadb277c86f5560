import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';

let here: Installation;
afterEach(() => here.dispose());

describe('what a daemon announces in its state directory', () => {
  it('is nothing to a copy of that directory, and holds through a link to it', async () => {
    here = await installation();
    await here.ask(['goals', 'add', 'the goal of the original', '--request', 'README.md']);
    const copy = join(here.dir, 'copy');
    mkdirSync(join(copy, 'run'), { recursive: true, mode: 0o700 });
    copyFileSync(join(here.stateDir, 'run', 'daemon.json'), join(copy, 'run', 'daemon.json'));
    const link = join(here.dir, 'link');
    symlinkSync(here.stateDir, link);

    const list = (stateDir: string) =>
      here.custody(['goals', 'list', '--json', '--no-autostart', '--state-dir', stateDir]);
    expect(refused(await list(copy))).toMatchObject({ code: 'daemon_not_running', exitCode: 10 });
    expect((await list(link)).stdout).toContain('the goal of the original');
  });
});
