import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';

describe('WT-04, ruling 29: a store that was restored', () => {
  it('seals no worktree that a forgotten run may be writing to', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId } = await daemon.goal();
    // With the contract in the copy, nothing but the gap stands between this worktree and its seal.
    await daemon.event({ type: 'contract.verified' });
    const copy = join(daemon.home.dir, 'backup.db');
    await daemon.call('backup', { to: copy });
    const forgotten = await daemon.exec(goalId, 'exec sleep 600', { onRootExit: 'wait' });
    await daemon.kill();
    const store = join(daemon.home.stateDir, 'custody.db');
    for (const suffix of ['-wal', '-shm']) rmSync(store + suffix, { force: true });
    copyFileSync(copy, store);
    await daemon.start();
    expect((await daemon.call('runs.list', {})).runs).toEqual([]);
    await daemon.call('worktrees.close', { id: generationId });
    const refused = await daemon.refusal('worktrees.seal', { id: generationId });
    expect(refused).toMatchObject({
      code: 'seal_refused',
      details: { blockers: expect.arrayContaining([expect.objectContaining({ code: 'coverage_gap' })]) },
    });
    // Also after a further start of the same boot, which finds nothing restored any more.
    await daemon.restart();
    expect(await daemon.refusal('worktrees.seal', { id: generationId })).toMatchObject({ code: 'seal_refused' });
    expect(forgotten.guardianPid).toBeGreaterThan(0);
  });
});
