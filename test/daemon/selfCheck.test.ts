import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { isSame, startReceipt } from '../support/daemonLeftovers.ts';

function checksIn({ home }: TestDaemon): string[] {
  const run = join(home.stateDir, 'run');
  return readdirSync(run)
    .filter((name) => name.startsWith('selfcheck-'))
    .map((name) => join(run, name));
}

describe('PROMO-06: the containment check of the host', () => {
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
