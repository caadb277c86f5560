import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { makeDirectory, workDirectory } from '../guardian/support/scope.ts';

const sources = fileURLToPath(new URL('../../pty/guardian', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly stderr: string;
}

/** A copy of the sources, as an installed package has them: without tests, dependencies or a git directory. */
function installed(): string {
  const directory = join(workDirectory(), 'node_modules', 'custody', 'pty', 'guardian');
  const wanted = (path: string) => !/\/build(\/|$)/.test(path.slice(sources.length));
  cpSync(sources, makeDirectory(directory), { recursive: true, filter: wanted });
  return directory;
}

/** The compiler without its optimiser, and with whatever else a machine's compiler may do. */
function compiler(before = ''): string {
  const wrapper = join(workDirectory(), 'cc');
  writeFileSync(wrapper, `#!/bin/sh\n${before}\nexec cc "$@" -O0\n`, { mode: 0o755 });
  return wrapper;
}

async function build(directory: string, env: Record<string, string> = { CC: compiler() }): Promise<Outcome> {
  const options = { env: { PATH: process.env.PATH!, ...env } };
  return promisify(execFile)(process.execPath, [join(directory, 'build.mjs')], options).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

const executable = (directory: string) => join(directory, 'build', 'custody-guardian');

describe('building the guardian', () => {
  it('takes the sources alone, complains about nothing, and does nothing the second time', async () => {
    const directory = installed();
    expect(await build(directory, { CI: 'true' })).toEqual({ code: 0, stderr: '' });
    const { mtimeNs, mode } = statSync(executable(directory), { bigint: true });
    expect(Number(mode) & 0o777).toBe(0o755);
    expect(await build(directory)).toEqual({ code: 0, stderr: '' });
    expect(statSync(executable(directory), { bigint: true }).mtimeNs).toBe(mtimeNs);
    expect(readdirSync(join(directory, 'build')).sort()).toEqual(['custody-guardian', 'custody-guardian.stamp']);
  });

  it('notices changed sources and tells builds apart', async () => {
    const directory = installed();
    const version = () => JSON.parse(execFileSync(executable(directory), ['version'], { encoding: 'utf8' })).build;
    await build(directory);
    const first = version();
    writeFileSync(join(directory, 'clock.c'), '\n', { flag: 'a' });
    await build(directory);
    expect(version()).not.toBe(first);
  });

  it('takes a compiler of several words, as make does', async () => {
    expect(await build(installed(), { CC: `env ${compiler()}` })).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    ['no-such-compiler', 69, /`no-such-compiler` was not found[\s\S]*apt install gcc/],
    ['false', 1, /does not compile/],
  ])('says what is wrong when the compiler is `%s`', async (CC, code, message) => {
    const directory = installed();
    const outcome = await build(directory, { CC });
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(message);
  });

  it('links dynamically where it cannot link statically', async () => {
    const directory = installed();
    const CC = compiler('case " $* " in *" -static "*) exit 1;; esac');
    expect((await build(directory, { CC })).code).toBe(0);
    expect(execFileSync('ldd', [executable(directory)], { encoding: 'utf8' })).toMatch(/libc\.so|ld-musl/);
  });

  it('survives several builds at once', async () => {
    const directory = installed();
    const outcomes = await Promise.all([build(directory), build(directory), build(directory)]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readdirSync(join(directory, 'build')).length).toBe(2);
  });

  it('goes into the user’s cache where the package belongs to somebody else', async () => {
    const directory = installed();
    const cache = makeDirectory(join(workDirectory(), 'cache'));
    const script = `import('${join(directory, 'build.mjs')}').then((b) => console.log(b.ensureGuardian()))`;
    const root = process.getuid!() === 0;
    const home = join(directory, '..', '..', '..', '..');
    const CC = compiler();
    for (const path of [home, join(cache, '..'), join(CC, '..')]) chmodSync(path, 0o755);
    if (root) chownSync(cache, 65_534, 65_534);
    else execFileSync('chmod', ['-R', 'a-w', directory]);
    const options = {
      env: { PATH: process.env.PATH!, XDG_CACHE_HOME: cache, CC },
      encoding: 'utf8',
      cwd: '/',
    } as const;
    const path = execFileSync(process.execPath, ['-e', script], {
      ...options,
      ...(root && { uid: 65_534, gid: 65_534 }),
    }).trim();
    expect(path.startsWith(join(cache, 'custody'))).toBe(true);
    expect(JSON.parse(execFileSync(path, ['version'], { encoding: 'utf8' })).protocol).toBe(1);
    if (!root) execFileSync('chmod', ['-R', 'u+w', directory]);
    rmSync(cache, { recursive: true });
  });
});
