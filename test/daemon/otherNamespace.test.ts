/** Ruling 16: a daemon in another PID namespace under the same boot, as in a restarted container, proves and assumes nothing. */
import { existsSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { assumptionWords } from '../../actors/daemon/commands/assumeEnded.ts';
import { isGone } from '../guardian/support/processes.ts';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { loseGuardian } from '../support/guardianPair.ts';

const isRoot = process.getuid?.() === 0;
const container = ['unshare', ...(isRoot ? [] : ['-U', '--map-current-user']), '-m', '--pid', '--fork', '--kill-child'];

it('a scope from before is unverified with that reason, and the last resort is offered at once', async () => {
  const daemon = await testDaemon().start();
  const { goalId, path } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600');
  const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
  await daemon.kill();

  const restarted = new TestDaemon(daemon.home, { prefix: [...container, '--mount-proc'] });
  onTestFinished(() => void restarted.kill());
  await restarted.start();
  await restarted.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'unknown');
  const unverified = { state: 'unverified', certainty: 'transient', reason: 'namespace_mismatch' };
  expect((await restarted.scope(scopeId)).assessment).toEqual(unverified);
  const { health } = await restarted.call('status', {});
  expect(health.next).toContain(`custody recover --assume-ended ${scopeId} --because TEXT`);
  const request = {
    scopeId: scopeId!,
    because: 'the container is new',
    confirm: { scopeId: scopeId!, text: assumptionWords },
  };

  // A guardian that is reached all the same says that not everything is gone.
  const refusal = await restarted.refusal('recover.assumeEnded', request);
  expect(refusal.details?.blockers).toMatchObject([{ code: 'guardian_answers' }]);

  await loseGuardian(guardian);
  signalVerified(workload, 'SIGKILL');
  await isGone(workload.pid);
  const { assessment, quarantine } = await restarted.call('recover.assumeEnded', request);
  expect(assessment).toMatchObject({ ...unverified, assumed: { because: 'the container is new' } });
  expect(quarantine).toMatchObject({ from: path });
  expect(existsSync(path)).toBe(false);
  expect((await restarted.call('status', {})).capacity.used).toBe(0);
  expect(runId).toBeDefined();
});
