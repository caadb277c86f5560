import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { isSame, startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';

function checksIn({ home }: TestDaemon): string[] {
  const run = join(home.stateDir, 'run');
  return readdirSync(run)
    .filter((name) => name.startsWith('selfcheck-'))
    .map((name) => join(run, name));
}

describe('PROMO-06: the containment check of the host', () => {
  it('is over before its daemon is gone that is told to leave', async () => {
    const daemon = await testDaemon().start();
    const { generationId } = await daemon.goal();
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    const verifying = daemon.attempt('contract.verify', {}).catch((error: { code?: string }) => error);
    const begun = await eventually('the guardian of a check', () => {
      const guardians = checksIn(daemon).flatMap((path) =>
        readdirSync(path).flatMap((id) => startReceipt(join(path, id))?.guardian ?? []),
      );
      return guardians.length > 0 ? guardians : undefined;
    });
    await daemon.kill('SIGTERM');
    expect(checksIn(daemon)).toEqual([]);
    for (const guardian of begun) expect(isSame(guardian)).toBe(false);
    expect(await verifying).toBeDefined();
  });

  it('leaves nothing running and nothing lying about when its daemon dies in the middle', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { generationId } = await daemon.goal();
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    await killAt(daemon, { at: 'gate byte', of: 'escapee' });
    await expect(daemon.call('contract.verify', {})).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    const [interrupted] = checksIn(daemon);
    const { guardian } = startReceipt(join(interrupted!, 'escapee'))!;
    expect(isSame(guardian)).toBe(true);
    await daemon.start();
    expect(checksIn(daemon)).toEqual([]);
    await isGone(guardian.pid);
    expect(await daemon.call('contract.verify', {})).toMatchObject({ passed: true });
    expect(checksIn(daemon)).toEqual([]);
  });
});
