/** processes --all: everything by lineage, and what looks like work and belongs to no tree. It proves nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { testDaemon } from '../support/daemon.ts';
import { lostRun } from '../support/guardianLoss.ts';

async function sleeper(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn('sleep', ['600'], { cwd, env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child.pid!;
}

it('tells the members of trees from those that only look like them', async () => {
  const daemon = await testDaemon().start();
  const { goalId, generationId, path } = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const script = `setsid sleep 600 & echo $$ > "${turn.paths[0]}"; exec sleep 600`;
  const { scopeId } = await daemon.exec(goalId, script);
  await turn.ready();
  const standing = await sleeper(path);
  const named = await sleeper('/', { CUSTODY_SCOPE: scopeId! });
  await sleeper('/', { CUSTODY_SCOPE: 'Sofsomebody' });
  await sleeper('/');

  const plain = await daemon.call('processes', {});
  expect(plain.census).toBeNull();
  const { scopes, census } = await daemon.call('processes', { all: true });
  expect(scopes).toMatchObject([{ scopeId, parentScopeId: null, membersTotal: 2 }]);
  expect(census!.infrastructure).toEqual([{ what: 'daemon', pid: daemon.pid }]);
  expect(census!.escapees).toHaveLength(census!.escapeesTotal);
  expect(census!.escapees.toSorted((one, other) => one.pid - other.pid)).toMatchObject([
    { pid: standing, name: 'sleep', scopeId: null, generationId },
    { pid: named, name: 'sleep', scopeId, generationId: null },
  ]);
  expect(census!.looked).toBeGreaterThan(4);
});

it('names who runs on after the guardian was lost, and no scope for being released', async () => {
  const daemon = await testDaemon().start();
  const { scopeId, generationId } = await lostRun(daemon, { beside: 'exit 0' });
  const { scopes, census } = await daemon.call('processes', { all: true });
  expect(scopes.map((scope) => scope.scopeId)).toEqual([scopeId]);
  expect(census!.escapees).toMatchObject([{ name: 'sleep', scopeId, generationId }]);
  const { scopes: every } = await daemon.call('processes', { released: true });
  expect(every.length).toBeGreaterThan(1);
});

it('counts the holder of terminals among the infrastructure, and what runs in them among the members', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  await daemon.exec(goalId, 'exec sleep 600', { terminal: { cols: 80, rows: 24, term: 'xterm-256color' } });
  const { census } = await daemon.call('processes', { all: true });
  expect(census!.infrastructure.map(({ what }) => what)).toEqual(['daemon', 'terminals']);
  expect(census!.escapees).toEqual([]);
});
