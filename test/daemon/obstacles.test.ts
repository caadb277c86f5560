import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { Refused } from '../support/daemonProcess.ts';

describe('what somebody removed, or put in the way', () => {
  it('CAP-04: output whose directory is gone is an error, and no job that said nothing', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, 'echo said');
    await daemon.proved(runId);
    rmSync(daemon.scopeDir(scopeId), { recursive: true });
    for (const follow of [false, true]) {
      const lines = daemon.client.stream('runs.logs', { id: runId, stream: 'both', follow, until: 'ended' });
      await expect(lines.next()).rejects.toMatchObject({
        code: 'output_missing',
        exitCode: 3,
        details: { scopeId, directory: daemon.scopeDir(scopeId) },
      });
    }
  });

  it.each(['daemon.json', 'daemon.json.new'])(
    'a directory named %s keeps a daemon from starting, by name',
    async (name) => {
      const daemon = await testDaemon().start();
      await daemon.kill();
      const obstacle = join(daemon.home.stateDir, 'run', name);
      rmSync(obstacle, { force: true });
      mkdirSync(obstacle);
      const refused = await daemon.start().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Refused);
      expect(refused).toMatchObject({
        error: { code: 'run_directory_unusable', exitCode: 9, next: [expect.stringContaining(obstacle)] },
      });
      rmdirSync(obstacle);
      await daemon.start();
      expect(await daemon.call('status', {})).toMatchObject({ admission: 'open' });
    },
  );
});
