import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';

it('GOAL-05: a job is told what it works on by references, and finds the request in a private file', async () => {
  const daemon = await testDaemon().start();
  const { goalId, generationId } = await daemon.goal();
  const told = join(daemon.home.dir, 'told');
  // What the caller passes under these names is not what the job is told.
  const env = { CUSTODY_GOAL: 'Gforged', CUSTODY_REQUEST_FILE: '/etc/passwd' };
  const { runId, scopeId } = await daemon.exec(goalId, `env > "${told}"`, { env });
  await daemon.proved(runId);
  const lines = readFileSync(told, 'utf8').split('\n');
  const order = Object.fromEntries(
    lines.map((line) => line.split(/=(.*)/s)).filter(([name]) => /^CUSTODY_/.test(name!)),
  );
  const { CUSTODY_REQUEST_FILE: file, CUSTODY_REQUEST_DIGEST: digest, ...references } = order;
  expect(references).toEqual({
    CUSTODY_GOAL: goalId,
    CUSTODY_RUN: runId,
    CUSTODY_SCOPE: scopeId,
    CUSTODY_WORKTREE: generationId,
    CUSTODY_OCCURRENCE: String((await daemon.call('goals.show', { id: goalId })).occurrence),
    CUSTODY_ROUND: '1',
  });
  const request = readFileSync(file!, 'utf8');
  expect(request).toBe('do something\n');
  expect(digest).toBe(createHash('sha256').update(request).digest('hex'));
  expect(statSync(file!).mode & 0o777).toBe(0o600);
});
