/** Records of other tools beside a daemon that has the store: shown, in the way of a seal, and never taken for its own work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { ImportReport } from '../../actors/ingest/legacy/importing.ts';
import { claimOf, job } from '../observeOnly/support/observing.ts';
import { TestDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { foreignWorktree, uncontrolled } from './support/generations.ts';

/** As somebody who moves over from a tool called `herd` types it; through the socket of the daemon. */
async function imported({ home }: TestDaemon, parts: object, ...args: string[]): Promise<ImportReport> {
  const source = join(home.dir, 'records.json');
  writeFileSync(source, JSON.stringify({ format: 'custody-legacy/1', tool: 'herd', ...parts }));
  const words = [
    'import-legacy',
    source,
    '--format',
    'custody-legacy/1',
    '--json',
    '--state-dir',
    home.stateDir,
    ...args,
  ];
  const child = spawn(process.execPath, [cliProgram, ...words], { env: home.env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [out] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  const { ok, data } = JSON.parse(out);
  expect(ok).toBe(true);
  return data;
}

/** One slot, so that whatever held one would show. */
async function daemonOf(): Promise<TestDaemon> {
  const daemon = new TestDaemon(daemonHome({ env: { CUSTODY_CAPACITY: '1' } }));
  onTestFinished(() => daemon.dispose());
  return daemon.start();
}

it('INT-07…09: an import beside a daemon', { timeout: 300_000 }, async () => {
  const daemon = await daemonOf();
  const path = foreignWorktree(daemon);
  const theirs = await job();
  const parts = {
    worktrees: [{ id: 'w', path }],
    runs: [
      { id: 'r', startedWallMs: 1_000, exit: { code: 0 } },
      { id: 'alive', process: claimOf(theirs.process) },
    ],
    bindings: [{ run: 'r', worktree: 'w' }],
  };
  const position = async () => (await daemon.events()).at(-1)?.position;

  // A dry run asks and moves nothing.
  const before = await position();
  expect((await imported(daemon, parts, '--dry-run')).counts).toMatchObject({ imported: 4, refused: 0 });
  expect(await position()).toBe(before);
  const { records, counts } = await imported(daemon, parts);
  expect(counts).toMatchObject({ imported: 4, known: 0, refused: 0, invalid: 0 });
  const [generationId, runId, aliveId] = records.map(({ id }) => id!) as [string, string, string];
  expect((await imported(daemon, parts)).counts).toMatchObject({ imported: 0, known: 4 });

  // Origin, uncertainty and coverage are shown; nobody was admitted.
  const shown = await daemon.call('runs.show', { id: runId });
  expect(shown).toMatchObject({ state: 'reserved.unresolved', mode: 'observe', label: 'herd:r', epoch: null });
  expect(shown.derived).toMatchObject({ unresolvedReason: 'legacy_record', scope: { state: 'unverified' } });
  expect(shown.launcherFacts.recorded).toEqual({ tool: 'herd', name: 'r', startedWallMs: 1_000, endedWallMs: null });
  expect(await daemon.events({ actor: shown.scopeId!, type: 'scope.registeredExternally' })).toMatchObject([
    { payload: { reason: 'legacy' } },
  ]);
  expect(await daemon.events({ type: 'run.admitted' })).toEqual([]);

  // The prediction names the run, and control is neither granted nor migrated over it.
  const { blockers } = await daemon.call('worktrees.predict', { id: generationId, allowUnseen: true });
  expect(blockers.filter(({ code }) => code === 'noted_run')).toMatchObject([{ runId }]);
  const worktree = await daemon.call('worktrees.show', { id: generationId });
  expect(worktree).toMatchObject({ authority: 'observe', controller: 'legacy', origin: 'legacy', lifecycle: 'open' });
  for (const change of ['grant', 'migrate'] as const)
    expect(await uncontrolled(daemon, generationId, { change, evidence: ['report'] })).toMatchObject({ exitCode: 13 });

  // It holds no slot, is no trouble of this installation, and is not ended, nor answered for, from here.
  const status = await daemon.call('status', {});
  expect(status).toMatchObject({ capacity: { used: 0, limit: 1 }, counts: { scopes: { live: 0, unverified: 0 } } });
  expect(status.health.reasons.filter(({ code }) => code.startsWith('ownership'))).toEqual([]);
  expect(await daemon.refusal('runs.stop', { id: runId })).toMatchObject({ code: 'not_controller', exitCode: 4 });
  const assumed = await daemon.refusal('recover.assumeEnded', { scopeId: shown.scopeId!, because: 'it is old' });
  expect(assumed).toMatchObject({ code: 'recover_refused', details: { blockers: [{ code: 'not_controller' }] } });
  const { goalId } = await daemon.goal();
  const own = await daemon.exec(goalId, 'exit 0');
  expect(await daemon.proved(own.runId)).toMatchObject({ scope: { state: 'exited' } });
  await daemon.call('drain', {});
  expect(await daemon.events({ actor: shown.scopeId!, type: 'drain.requested' })).toEqual([]);

  // Its process is bound by a look at it, and only then ends as any other.
  await daemon.call('observe.reconcile', { maxMs: 1_000, maxCount: 100 });
  expect(await daemon.call('runs.show', { id: aliveId })).toMatchObject({ state: 'bound' });
  await theirs.end();
  await daemon.call('observe.reconcile', { maxMs: 1_000, maxCount: 100 });
  expect(await daemon.call('runs.show', { id: aliveId })).toMatchObject({ state: 'ended' });
  expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'reserved.unresolved' });

  // All of it goes, and nothing of theirs is in the way.
  await daemon.call('daemon.stop', {});
});
