import { execFileSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { patienceMs } from '../support/patience.ts';
import { everyFile } from './support/files.ts';

function disposed(daemon: TestDaemon): TestDaemon {
  onTestFinished(() => daemon.dispose());
  return daemon;
}

/** From the first start to the seal, with a crash in the middle. */
async function expectWholeLife(daemon: TestDaemon): Promise<void> {
  await daemon.start();
  const { goalId, generationId, path } = await daemon.goal();
  await daemon.event({ actor: generationId, type: 'contract.verified' });
  const run = await daemon.exec(goalId, 'pwd; setsid sleep 600 & exit 3', { onRootExit: 'wait' });
  expect(await daemon.ended(run.runId)).toMatchObject({ result: { how: 'exited', code: 3 }, scope: { state: 'live' } });
  await daemon.restart();
  const { members } = await daemon.scope(run.scopeId);
  expect(members?.map(({ name }) => name)).toEqual(['sleep']);
  const stopped = await daemon.attempt('runs.stop', { id: run.runId, waitMs: patienceMs });
  expect(stopped).toMatchObject({ exitCode: 0, data: { outcome: 'proved' } });
  const lines: string[] = [];
  for await (const { data } of daemon.client.stream<{ data?: string }>('runs.logs', {
    id: run.runId,
    stream: 'stdout',
  }))
    if (data) lines.push(Buffer.from(data, 'base64').toString());
  expect(lines.join('')).toBe(`${path}\n`);
  await daemon.call('worktrees.close', { id: generationId });
  expect(await daemon.call('worktrees.seal', { id: generationId })).toMatchObject({ lifecycle: 'sealed' });
}

/** What is inside a worktree has the modes that git and the job give it; the directory around all of them is private. */
function openToOthers({ home }: TestDaemon): string[] {
  return [...everyFile(home.stateDir)]
    .map(({ path, info }) => ({
      name: relative(home.stateDir, path),
      mode: info.mode & 0o777,
      isLink: info.isSymbolicLink(),
    }))
    .filter(({ name, isLink }) => !isLink && !name.startsWith(join('worktrees', sep)))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name} ${mode.toString(8)}`);
}

describe('the state directory', () => {
  it('may have a path of 150 characters with spaces and letters of other alphabets, without a locale', async () => {
    const part = 'ein Verzeichnis für Arbeit — 仕事の記録 ';
    const home = daemonHome({ name: join(part.repeat(2).trim(), part.repeat(3).trim()) });
    execFileSync('mkdir', ['-p', join(home.stateDir, '..')]);
    expect(home.stateDir.length).toBeGreaterThan(150);
    expect(Object.keys(home.env).filter((name) => /^(LANG|LC_)/.test(name))).toEqual([]);
    await expectWholeLife(disposed(new TestDaemon(home)));
  });

  it.each(['000', '077'])('is private under umask %s', async (umask) => {
    const prefix = ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'];
    const daemon = disposed(new TestDaemon(daemonHome(), { prefix }));
    await expectWholeLife(daemon);
    const { goalId } = await daemon.goal();
    await daemon.exec(goalId, 'exec sleep 600', { umask: 0o000, stdin: 'eA==' });
    expect(openToOthers(daemon)).toEqual([]);
    await daemon.kill();
    expect(openToOthers(daemon)).toEqual([]);
  });

  it('the search for open modes finds one', async () => {
    const daemon = disposed(await new TestDaemon(daemonHome()).start());
    execFileSync('chmod', ['644', join(daemon.home.stateDir, 'custody.db')]);
    expect(openToOthers(daemon)).toEqual(['custody.db 644']);
  });
});

describe('an ordinary user', () => {
  it('needs nothing that only root has', async () => {
    const home = daemonHome();
    const isRoot = process.getuid?.() === 0;
    const uid = isRoot ? 60_000 + (process.pid % 5_000) : process.getuid!();
    if (isRoot) execFileSync('chown', ['-R', `${uid}:${uid}`, home.dir]);
    const become = ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--no-new-privs'];
    const daemon = disposed(new TestDaemon(home, { prefix: isRoot ? become : [] }));
    await expectWholeLife(daemon);
    const owners = new Set([...everyFile(home.stateDir)].map(({ info }) => info.uid));
    expect([...owners]).toEqual([uid]);
  });
});
