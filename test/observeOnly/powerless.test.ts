/**
 * INT-01…03: what observes can change nothing but its own store. Shown from outside, in a file system where everything
 * else is read-only and a process that sends any signal dies of it, and by what the program is made of.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { bind, exit, reserve } from '../ingest/support/notes.ts';
import { claimOf, job, launcher, Observing } from './support/observing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'node_modules', '.cache', 'custody-tests');
const harmless = join(folder, `harmless-${process.pid}`);

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  const source = fileURLToPath(new URL('fixtures/harmless.c', import.meta.url));
  execFileSync('cc', ['-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-o', harmless, source]);
  return () => execFileSync('rm', ['-f', harmless]);
});

/** Everything but the state directory is read-only for what follows; 90 when it is not. */
const readOnly = `
mount --bind "$0" "$0" || exit 91
while read -r device directory rest; do
  [ "$directory" = "$0" ] || mount -o remount,bind,ro "$directory" 2>/dev/null
done < /proc/self/mounts
touch "$1/mark" 2>/dev/null && exit 90
shift
exec "$@"`;

function trapped(): Observing {
  const isRoot = process.getuid?.() === 0;
  const observing = new Observing();
  mkdirSync(observing.stateDir, { mode: 0o700 });
  const prefix = ['unshare', isRoot ? '-m' : '-Urm', 'sh', '-c', readOnly, observing.stateDir, observing.dir, harmless];
  return Object.assign(observing, { prefix });
}

describe('INT-01, INT-02: the whole of observing, with everything else read-only and no signal allowed', () => {
  it('works', async () => {
    const observing = trapped();
    const { process, end } = await job();
    const note = launcher();
    const notes = [
      note(reserve('job-1', { place: observing.place() })),
      note(bind('job-1', { process })),
      note(exit('x'), 9),
    ];
    for (const args of [['status'], ['ingest', observing.file(notes)], ['ingest'], ['reconcile', '--once'], ['status']])
      expect(await observing.observe(args)).toMatchObject({ code: 0, json: { ok: true } });
    await end();
    expect((await observing.observe(['reconcile'])).json.data.pass.outcomes).toEqual({ ended: 1 });
    const theirs = await job();
    const source = observing.document({
      worktrees: [{ id: 'w', path: observing.repo }],
      runs: [{ id: 'r', process: claimOf(theirs.process) }],
      bindings: [{ run: 'r', worktree: 'w' }],
    });
    for (const args of [['--dry-run'], []]) {
      const answer = await observing.observe(['import-legacy', source, '--format', 'custody-legacy/1', ...args]);
      expect(answer).toMatchObject({ code: 0, json: { ok: true, data: { counts: { invalid: 0, refused: 0 } } } });
    }
    expect((await observing.observe(['reconcile'])).json.data.claims).toEqual({ bound: 1, refuted: 0, open: 0 });
  });

  it('and the trap is one: a write elsewhere fails, and a signal is deadly', () => {
    const [file, ...args] = trapped().prefix;
    const run = (...program: string[]) => spawnSync(file!, [...args, ...program]);
    expect(run('sh', '-c', 'exit 7').status).toBe(7);
    expect(run('sh', '-c', 'kill -0 $$; exit 7').signal ?? 'SIGSYS').toBe('SIGSYS');
    expect(run('sh', '-c', 'kill -0 $$; exit 7').status).not.toBe(7);
    expect(run('sh', '-c', `: > ${join(root, 'mark')}`).status).not.toBe(0);
  });
});

describe('INT-03, INT-04: what the program is made of', () => {
  const executors =
    /^(pty\/(launch|host|guardian)\/|actors\/(drain|worker)\/|actors\/daemon\/(?!config|api\/)|cli\/(acceptance|autostart|commands|demo|drill|service))/;

  it('holds no module that launches, drains, signals, or touches a worktree', async () => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ['cli/observe.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
      outdir: 'nowhere',
      metafile: true,
      external: ['better-sqlite3', 'node-pty'],
      mainFields: ['module', 'main'],
    });
    const inputs = Object.keys(metafile.inputs);
    for (const part of ['actors/reconcile/pass.ts', 'actors/ingest/legacy/intake.ts']) expect(inputs).toContain(part);
    expect(inputs.filter((input) => executors.test(input))).toEqual([]);
    const users = (name: string) =>
      inputs.filter((input) =>
        metafile.inputs[input]!.imports.some(({ path }) => path === name || path === `node:${name}`),
      );
    // The library that parses commands could start programs; in what ships it has nothing to do it with.
    expect(users('child_process').filter((input) => !input.startsWith('node_modules/commander/'))).toEqual([]);
    expect(users('node-pty')).toEqual([]);
  });

  it('as it ships, has no way to start a program or to send a signal', () => {
    const shipped = readFileSync(join(root, 'dist', 'observe.js'), 'utf8');
    expect(shipped).not.toMatch(/from ["'](node:)?child_process["']|require\(["'](node:)?child_process["']\)/);
    expect(shipped).not.toMatch(/process\d*\.kill\(/);
    // The same question finds what the daemon does.
    expect(readFileSync(join(root, 'dist', 'daemon.js'), 'utf8')).toMatch(/child_process["']/);
  });

  it('is what `custody observe` runs, and takes no option that changes that', async () => {
    const observing = new Observing();
    for (const flag of ['--control', '--autostart', '--force', '--seal'])
      for (const command of [['reconcile'], ['import-legacy', '-', '--format', 'custody-legacy/1']])
        expect((await observing.observe([...command, flag])).json.error.code).toBe('usage');
  });
});
