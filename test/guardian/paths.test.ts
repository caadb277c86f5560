import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from './support/fifo.ts';
import { heardReady, launcher } from './support/launcher.ts';
import { guardian, guardianBuiltWith, wrapped } from './support/programs.ts';
import { makeDirectory, readReceipt, run, runToEnd, workDirectory } from './support/scope.ts';

describe('a directory whose path is long or has spaces and other letters (linux case 36)', () => {
  it.each([
    ['150 characters', 'x'.repeat(150)],
    ['2000 bytes', Array(10).fill('é'.repeat(100)).join('/')],
    ['spaces and letters', 'a b/Zürich/日本/…'],
  ])('%s', async (_name, part) => {
    const parent = makeDirectory(join(workDirectory(), part));
    const scope = await run(['sh', '-c', 'read line; exit 6'], { scopeDir: join(parent, 'scope'), cwd: parent });
    await scope.launch.exited; // stdin is empty
    expect(scope.receipt('exit').code).toBe(6);
  });

  it('has a control socket that can be reached', async () => {
    const parent = makeDirectory(join(workDirectory(), 'é'.repeat(100), 'x'.repeat(200)));
    const t = turns(workDirectory());
    const argv = ['sh', '-c', `echo $$ > '${t.paths[0]}'; read line < '${t.paths[1]}'`];
    const scope = await run(argv, { scopeDir: join(parent, 'scope') });
    await t.ready();
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ protocol: 1, guardian: scope.launch.ready.guardian });
    control.close();
    await t.release();
    await scope.launch.exited;
  });
});

describe('descriptors that the launcher forgot to close (linux case 37)', () => {
  async function withLeaks(guardianPath: string): Promise<{ inWorkload: string[]; closed: Promise<string> }> {
    const directory = workDirectory();
    const [leak] = turns(directory, 'leak').paths;
    const closed = readFile(leak, 'utf8'); // ends when nobody has the FIFO open for writing any more
    const path = wrapped(directory, ['leak', leak], guardianPath);
    const t = turns(directory);
    const list = 'for fd in $(seq 0 99); do test -e /proc/$$/fd/$fd && echo $fd; done | tr "\\n" " "';
    const script = `${list}; echo $$ > '${t.paths[0]}'; read line < '${t.paths[1]}'`;
    const scope = await run(['sh', '-c', script], { guardianPath: path });
    await t.ready();
    const inWorkload = scope.stdout().trim().split(' ');
    onTestFinished(() => void closed);
    if (guardianPath === guardian()) await closed; // while guardian and workload both live
    await t.release();
    await scope.launch.exited;
    return { inWorkload, closed };
  }

  it('are in neither the workload nor the guardian', async () => {
    const { inWorkload } = await withLeaks(guardian());
    expect(inWorkload).toEqual(['0', '1', '2']);
  });

  it('are in both without the closing', async () => {
    const { inWorkload } = await withLeaks(guardianBuiltWith('WITHOUT_CLOSE'));
    expect(inWorkload.length).toBeGreaterThan(50);
  });
});

describe('modes', () => {
  it.each([0o000, 0o077])('are private under umask %o', async (umask) => {
    const before = process.umask(umask);
    onTestFinished(() => void process.umask(before));
    const parent = makeDirectory(join(workDirectory(), 'state'));
    const t = turns(workDirectory());
    const argv = ['sh', '-c', `echo $$ > '${t.paths[0]}'; read line < '${t.paths[1]}'`];
    const scope = await run(argv, { scopeDir: join(parent, 'scope') });
    await t.ready();
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(scope.directory)).toBe(0o700);
    for (const name of readdirSync(scope.directory))
      expect([name, mode(join(scope.directory, name))]).toEqual([name, 0o600]);
    await t.release();
    await scope.launch.exited;
    for (const name of readdirSync(scope.directory))
      expect([name, mode(join(scope.directory, name))]).toEqual([name, 0o600]);
  });
});

/** Somebody who is not root: with the rights of `nobody` when the tests run as root, else with our own. */
function ordinaryUser(directory: string): { uid: number; options: { uid?: number; gid?: number } } {
  const own = process.getuid!();
  if (own !== 0) return { uid: own, options: {} };
  chmodSync(directory, 0o711);
  chownSync(makeDirectory(join(directory, 'state')), 65_534, 65_534);
  return { uid: 65_534, options: { uid: 65_534, gid: 65_534 } };
}

describe('an ordinary user (GRD-03)', () => {
  it('launches, is the owner of the receipts and cannot be looked into', async () => {
    const directory = workDirectory();
    const { uid, options } = ordinaryUser(directory);
    const scopeDir = join(makeDirectory(join(directory, 'state')), 'scope');
    const argv = ['sh', '-c', 'cat /proc/self/oom_score_adj; ls -l "/proc/$PPID/fd" 2>&1 | head -1; id -u'];
    const l = launcher({ scopeDir, argv, atOnce: true }, options);
    await heardReady(l);
    expect(await l.heard()).toEqual({ opened: { released: true } });
    expect(await l.heard()).toEqual({ exited: { code: 0, signal: null } });
    expect(readReceipt(scopeDir, 'exit')).toMatchObject({ uid, how: 'exited', code: 0 });
    const [score, fds, id] = (await readFile(join(scopeDir, 'stdout.log'), 'utf8')).trim().split('\n');
    expect([Number(score) >= 200, id]).toEqual([true, String(uid)]);
    expect(fds).toMatch(/Permission denied/);
  });

  it('still sees its guardian where /proc hides the processes of others', async () => {
    const directory = workDirectory();
    const { uid, options } = ordinaryUser(directory);
    const scopeDir = join(makeDirectory(join(directory, 'state')), 'scope');
    const namespace = options.uid === undefined ? ['-Urmpf'] : ['-mpf'];
    const script = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"';
    const drop = options.uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    const command = ['unshare', ...namespace, 'sh', '-c', script, 'sh', ...drop];
    const argv = ['sh', '-c', 'test -e /proc/$PPID/stat && echo visible'];
    const l = launcher({ scopeDir, argv, atOnce: true }, { command });
    await heardReady(l);
    await l.heard();
    expect(await l.heard()).toEqual({ exited: { code: 0, signal: null } });
    expect(await readFile(join(scopeDir, 'stdout.log'), 'utf8')).toBe('visible\n');
  });
});

describe('the executable (GRD-03)', () => {
  it('is one small file without privileges', () => {
    const { size, mode } = statSync(guardian());
    expect(size).toBeLessThanOrEqual(1024 * 1024);
    expect(mode & 0o6000).toBe(0);
  });

  it('says who it is', () => {
    const version = JSON.parse(execFileSync(guardian(), ['version'], { encoding: 'utf8' }));
    expect(version).toEqual({ name: 'custody-guardian', protocol: 1, build: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it('refuses words that it does not know', async () => {
    const attempt = () => execFileSync(guardian(), ['frobnicate'], { stdio: 'pipe' });
    expect(attempt).toThrow(/usage: custody-guardian/);
    await runToEnd(['true']);
  });
});
