/** Runs by the name of their launcher, worktrees by their directory: what people have at hand when they have no id. */
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reserve } from '../ingest/support/notes.ts';
import { launcher } from '../observeOnly/support/observing.ts';
import { testDaemon } from '../support/daemon.ts';
import { makeRepository } from '../support/daemonHome.ts';

it('a worktree is found by the directory that it is, and not by a path alone (WT-01)', async () => {
  const daemon = await testDaemon().start();
  const { dir, repo } = daemon.home;
  const { generationId } = await daemon.call('worktrees.register', { path: repo });
  const shown = async (id: string) => (await daemon.call('worktrees.show', { id })).generationId;
  expect(await shown(repo)).toBe(generationId);
  symlinkSync(repo, join(dir, 'link'));
  expect(await shown(join(dir, 'link'))).toBe(generationId);
  const prediction = await daemon.call('worktrees.predict', { id: repo, processes: false });
  expect(prediction.generationId).toBe(generationId);

  // Moved it is the same one; what is made anew at its path is not.
  const elsewhere = join(dir, 'elsewhere');
  renameSync(repo, elsewhere);
  expect(await daemon.refusal('worktrees.show', { id: repo })).toMatchObject({ code: 'not_found', exitCode: 3 });
  makeRepository(repo);
  const refused = await daemon.refusal('worktrees.predict', { id: repo });
  expect(refused).toMatchObject({ code: 'not_found', exitCode: 3 });
  expect(refused.message).toContain('not registered');
  mkdirSync(join(elsewhere, 'below'));
  expect(await daemon.refusal('worktrees.show', { id: join(elsewhere, 'below') })).toMatchObject({ code: 'not_found' });
});

it('a name that a launcher and a record both have means neither until the id is typed', async () => {
  const daemon = await testDaemon().start();
  const note = launcher();
  await daemon.call('observe.take', { notes: [note(reserve('job-1', { place: null }))] });
  const record = { kind: 'run', name: 'job-1', retryOf: null, startedWallMs: null, endedWallMs: null } as const;
  const imported = await daemon.call('observe.import', {
    ...{ tool: 'shell', dryRun: false },
    records: [{ ...record, digest: 'd'.repeat(64), exit: null, process: null }],
  });
  const refused = await daemon.refusal('runs.show', { id: 'shell:job-1' });
  expect(refused).toMatchObject({ code: 'ambiguous_id', exitCode: 2 });
  const legacy = imported.answers[0]!.id!;
  expect(refused.details?.matches).toContain(legacy);
  expect(await daemon.call('runs.show', { id: legacy })).toMatchObject({ launcher: 'shell:job-1' });
});
