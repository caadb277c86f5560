import { spawn } from 'node:child_process';
import { chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepository } from './support/installation.ts';
import { emptyHome, type Finished, finished, type Home, program } from './support/program.ts';

/** The main path of a person, in one shell, under the given conditions; prints what came of it. */
const story = `
  set -e
  custody() { "$NODE" "$CUSTODY" "$@"; }
  cd "$HOME/repository ü"
  custody init > /dev/null
  goal=$(custody goals add 'größer 日本' --queue --request README.md --quiet)
  worktree=$(custody worktrees add "$goal" --quiet)
  custody runs exec "$goal" --follow -- sh -c 'printf "hällo\\n"; touch made'
  custody worktrees close "$worktree" > /dev/null
  custody worktrees seal "$worktree" > /dev/null
  custody goals list
  custody daemon stop > /dev/null
`;

async function tell(home: Home, before = '', prefix: readonly string[] = []): Promise<Finished> {
  const [command = 'bash', ...rest] = [...prefix, 'bash', '-c', before + story];
  return finished(spawn(command, rest, { env: { ...home.env, NODE: process.execPath, CUSTODY: program }, cwd: '/' }));
}

/** Paths below the state directory that somebody else could open, worktrees aside: those are the user's files. */
function openToOthers(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    const open = !entry.isSymbolicLink() && (mode & 0o077) !== 0 ? [path] : [];
    return entry.isDirectory() && entry.name !== 'worktrees' ? [...open, ...openToOthers(path)] : open;
  });
}

/** Root becomes nobody in particular; anybody else is an ordinary user already. */
const strangerUid = 64_321;
const become = ['setpriv', `--reuid=${strangerUid}`, `--regid=${strangerUid}`, '--clear-groups', '--inh-caps=-all'];

const long = `${'lang und länger '.repeat(8)}日本 end`.padEnd(144, 'x');

describe('the main path works', () => {
  it.each<
    [string, { readonly name?: string; readonly before?: string; readonly env?: Readonly<Record<string, string>> }]
  >([
    ['with a state directory of 150 characters, spaces and non-ASCII', { name: long }],
    ['under umask 000', { before: 'umask 000' }],
    ['under umask 077', { before: 'umask 077' }],
    ['with LC_ALL=C', { env: { LC_ALL: 'C' } }],
    ['with a locale that does not exist', { env: { LC_ALL: 'xx_YY.UTF-8' } }],
    ['without a locale', { before: 'unset LANG LC_ALL LANGUAGE TERM' }],
    ['with a private runtime directory', { before: 'mkdir -m 700 "$HOME/run"; export XDG_RUNTIME_DIR="$HOME/run"' }],
  ])('%s', async (_, { name = 'state', before = '', env = {} }) => {
    const base = emptyHome(name);
    const home = { ...base, env: { ...base.env, ...env } };
    makeRepository(join(home.dir, 'repository ü'), home.env);
    const told = await tell(home, before);
    expect(told).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
    expect(told.stdout).toContain('hällo\n');
    expect(told.stdout).toContain('größer 日本');
    expect(openToOthers(home.stateDir)).toEqual([]);
    home.remove();
  });

  it('as an ordinary user', async () => {
    const home = emptyHome();
    makeRepository(join(home.dir, 'repository ü'), home.env);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) give(home.dir, strangerUid);
    const told = await tell(home, '', isRoot ? become : []);
    expect(told).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
    expect(told.stdout).toContain('hällo\n');
    home.remove();
  });

  it('on the state of another user it does not, served or not: that is refused (ruling 29)', async () => {
    const home = emptyHome();
    const isRoot = process.getuid?.() === 0;
    const asOwner = isRoot ? become : [];
    if (isRoot) give(home.dir, strangerUid);
    const custody = (args: readonly string[], prefix: readonly string[] = []) => {
      const [command = '', ...rest] = [...prefix, process.execPath, program, ...args];
      return finished(spawn(command, rest, { env: home.env, cwd: '/' }));
    };
    // Without root there is no second user to be had, but directories of root's are everywhere.
    const stateDir = isRoot ? home.stateDir : '/';
    expect((await custody(['init'], asOwner)).code).toBe(0);
    for (const daemon of ['start', 'stop']) {
      expect((await custody(['daemon', daemon], asOwner)).code).toBe(0);
      for (const command of [['status'], ['goals', 'list'], ['daemon', 'start']]) {
        const told = await custody([...command, '--json', '--state-dir', stateDir]);
        expect(told.code).toBe(9);
        expect(JSON.parse(told.stdout).error).toMatchObject({ code: 'store_permissions' });
      }
    }
    home.remove();
  });
});

function give(path: string, uid: number): void {
  chownSync(path, uid, uid);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name), uid);
}
