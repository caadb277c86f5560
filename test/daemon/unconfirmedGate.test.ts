import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killGuardianAt, stopGuardianAt } from '../support/daemonFailpoints.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { continueGuardian } from '../support/guardianPair.ts';

describe('GRD-07: a gate that nobody confirmed to be open', () => {
  it('is never taken for one that stayed shut: the doubt is journaled, and the launch counts as begun', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    await killGuardianAt(daemon, { at: 'before gate' });
    const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600');
    const doubt = await daemon.event({ actor: scopeId!, type: 'launch.releaseUncertain' });
    expect(doubt).toMatchObject({ outcome: 'changed', payload: { errno: 'release_uncertain' } });
    expect((await daemon.call('status', {})).capacity.scopeIds).toEqual([scopeId]);
    expect((await daemon.call('runs.show', { id: runId })).state).not.toBe('cancelled');
  });

  it('may open late: a guardian that was silent just then starts the work, and its receipts say how it ended', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_HANDSHAKE_MS: '1000' } }).start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const ran = join(daemon.home.dir, 'ran');
    await stopGuardianAt(daemon, { at: 'before gate' });
    const reply = await daemon.attempt('runs.exec', daemon.launchArguments(goalId, `: > "${ran}"; exit 4`));
    expect(reply).toMatchObject({ ok: true, exitCode: 5 });
    const { runId, scopeId } = (reply as { readonly data: { readonly runId: string; readonly scopeId: string } }).data;
    await daemon.event({ actor: scopeId, type: 'launch.releaseUncertain' });
    expect(existsSync(ran)).toBe(false);
    continueGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    expect(await daemon.proved(runId)).toMatchObject({
      result: { how: 'exited', code: 4 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
    expect(existsSync(ran)).toBe(true);
  });
});
