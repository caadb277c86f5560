/** Wherever it is run and by whomever: paths, masks, users, settings and installations that other programs trip over. */
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { json } from '../cli/support/program.ts';
import { type DemoOptions, demo, handOver, nobodyLeft, type Stage, stage } from './support/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let at: Stage;
afterEach(() => at.remove());

/** Runs it and checks what holds everywhere; returns the data. */
async function succeeds(options: DemoOptions = {}) {
  const before = at.untouched();
  const ended = await demo(at, ['--json'], options);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(at.untouched()).toEqual(before);
  expect(at.leftFiles()).toEqual([]);
  await nobodyLeft(at);
  // biome-ignore lint/suspicious/noExplicitAny: the tests are what checks this shape
  const data: any = json(ended).data;
  expect(data.sealed.lifecycle).toBe('sealed');
  return data;
}

/** The package as npm lays it out: no sources, no .git, its dependencies beside it. */
function installedPackage(): string {
  const home = join(at.dir, 'lib', 'node_modules', 'custody');
  mkdirSync(home, { recursive: true });
  for (const part of ['dist', 'package.json', join('pty', 'guardian')]) {
    cpSync(join(root, part), join(home, part), { recursive: true });
  }
  symlinkSync(realpathSync(join(root, 'node_modules')), join(at.dir, 'lib', 'node_modules', 'custody', 'node_modules'));
  return join(home, 'dist', 'cli.cjs');
}

/** Settings of a user whose every git command runs programs; each leaves a file in the home, and most fail. */
function trapsFor(home: string): string {
  const trap = `touch '${join(home, 'trapped')}'; exit 1`;
  for (const hooks of [join(home, 'hooks'), join(home, 'template', 'hooks')]) {
    mkdirSync(hooks, { recursive: true });
    for (const hook of ['post-checkout', 'pre-commit', 'post-commit', 'reference-transaction']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\n${trap}\n`, { mode: 0o755 });
    }
  }
  writeFileSync(join(home, 'attributes'), '* filter=trap\n');
  return [
    `[core]\n\thooksPath = ${join(home, 'hooks')}\n\tattributesFile = ${join(home, 'attributes')}`,
    `[filter "trap"]\n\tsmudge = "${trap}"\n\tclean = "${trap}"\n\trequired = true`,
    `[init]\n\ttemplateDir = ${join(home, 'template')}\n\tdefaultBranch = other`,
    '[commit]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n',
  ].join('\n');
}

describe('custody demo', () => {
  it('works where paths are long and hold blanks, quotes and letters of other alphabets', async () => {
    at = stage({ tmpName: `mein 'Tmp' für Ærøskøbing 東京/${'d'.repeat(100)}/${'e'.repeat(60)}` });
    await succeeds();
  });

  it.each(['000', '077'])('works under umask %s', async (umask) => {
    at = stage();
    await succeeds({ umask });
  });

  it('works as an ordinary user from an installed package, on a history that it makes itself', async () => {
    at = stage();
    const program = installedPackage();
    const user = handOver(at);
    const data = await succeeds({ ...user, program, umask: '777' });
    expect(data.repository).toMatchObject({ why: 'made', commits: 3 });
  });

  it('heeds nothing of its surroundings that would lead it elsewhere', async () => {
    at = stage();
    const elsewhere = join(at.home, 'elsewhere');
    const runtime = join(at.home, 'runtime');
    mkdirSync(runtime, { mode: 0o700 });
    writeFileSync(join(at.home, '.gitconfig'), trapsFor(at.home));
    await succeeds({
      env: {
        CUSTODY_HOME: elsewhere,
        CUSTODY_ON_ROOT_EXIT: 'wait',
        CUSTODY_GRACE_MS: 'no number',
        XDG_STATE_HOME: elsewhere,
        XDG_CONFIG_HOME: elsewhere,
        XDG_CACHE_HOME: elsewhere,
        XDG_RUNTIME_DIR: runtime,
        GIT_DIR: join(elsewhere, 'git'),
        GIT_WORK_TREE: elsewhere,
        GIT_INDEX_FILE: join(elsewhere, 'index'),
        GIT_OBJECT_DIRECTORY: join(elsewhere, 'objects'),
        LC_ALL: 'xx_YY.no-such-locale',
      },
    });
  });
});
