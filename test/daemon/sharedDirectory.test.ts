/** Writers of a directory of which another generation knows, or of which it was heard after the seal (WT-01, WT-04, WT-07). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileIdentityOf } from '../../actors/runtime/generations.ts';
import { bind, noting, put } from '../ingest/support/notes.ts';
import { job, launcher, thisBoot } from '../observeOnly/support/observing.ts';
import { TestDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { control, git, sealedGeneration, uncontrolled, watched } from './support/generations.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await new TestDaemon(daemonHome()).start();
});
afterAll(() => daemon.dispose());

const note = launcher();
/** Of an earlier boot of this machine. */
const earlier = noting({ stream: 'b'.repeat(32) });
const placeOf = (path: string) => ({ path, ...fileIdentityOf(path) });
const codesOf = ({ details }: { readonly details?: unknown }): string[] =>
  (details as { blockers: { code: string }[] }).blockers.map(({ code }) => code);

it('a run that was noted before the directory had a repository keeps it from being taken over and from its seal', async () => {
  const path = join(daemon.home.dir, 'early');
  mkdirSync(path);
  const { process: noted, end } = await job();
  const early = placeOf(path);
  const first = note(bind('early', { process: noted, place: early }));
  const { outcomes } = await daemon.call('observe.take', { notes: [first] });
  git(path, 'init', '-q');
  git(path, '-c', 'user.name=T', '-c', 'user.email=t@example.org', 'commit', '-q', '--allow-empty', '-m', 'first');
  const { generationId: id } = await daemon.call('worktrees.register', { path });
  await daemon.event({ actor: id, type: 'contract.verified' });
  const refusal = await uncontrolled(daemon, id, { change: 'migrate', evidence: ['e'] });
  expect(refusal).toMatchObject({ code: 'migration_refused', exitCode: 13 });
  expect(codesOf(refusal)).toEqual(['noted_run']);
  const { blockers } = await daemon.call('worktrees.predict', { id, allowUnseen: true });
  expect(blockers.map(({ code }) => code)).toContain('noted_run');

  await end();
  await daemon.event(
    { actor: outcomes[0]!.runId, type: 'process.observed' },
    ({ payload }) => payload.result === 'ended',
  );
  await control(daemon, id, { change: 'migrate', evidence: ['e'] });
  await daemon.call('worktrees.close', { id });
  // Whoever looked before the repository was there goes on calling the directory what it was. A restart of the machine
  // closes the gap that this is, and says nothing of a run without a process.
  await daemon.call('observe.take', { notes: [earlier(put('unbound', early))] });
  await daemon.call('observe.reconcile', { maxMs: 5_000, maxCount: 100 });
  const sealing = await daemon.refusal('worktrees.seal', { id });
  expect(sealing).toMatchObject({ code: 'seal_refused', exitCode: 13 });
  expect(codesOf(sealing)).toEqual(['noted_run']);
  await daemon.call('observe.take', { notes: [note(put('late', early))] });
  expect(codesOf(await daemon.refusal('worktrees.seal', { id }))).toEqual(['coverage_gap', 'noted_run', 'noted_run']);
  expect(await daemon.call('worktrees.show', { id })).toMatchObject({ lifecycle: 'closing' });
});

it('whoever comes into a sealed worktree without asking keeps it from its ticket', async () => {
  const { generationId: id, path } = await sealedGeneration(daemon);
  await daemon.call('observe.take', { notes: [note(put('stranger', placeOf(path)))] });
  const refusal = await daemon.refusal('worktrees.ticket', { id, executor: 'custody-remove' });
  expect(refusal).toMatchObject({ code: 'seal_in_doubt', exitCode: 13 });
  expect(codesOf(refusal)).toEqual(['coverage_gap']);
});

it('a note that was lost before a directory was registered may have been about it', async () => {
  const account = { producer: 'shell', stream: 'c'.repeat(32), taken: 2, lastNoteWallMs: 2 };
  const loss = { firstSeq: 1, lastSeq: 1, fromWallMs: 1, toWallMs: 2, bootId: thisBoot };
  await daemon.call('observe.account', { ...account, losses: [loss] });
  const { generationId: id } = await watched(daemon, 'afterwards');
  const refusal = await uncontrolled(daemon, id, { change: 'migrate', evidence: ['e'] });
  expect(codesOf(refusal)).toContain('coverage_gap');
});
