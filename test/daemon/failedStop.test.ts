import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { occupied } from './support/occupied.ts';

describe('SHUT-06, C.9: after a stop that failed', () => {
  it('it shows why, and nothing is launched until a person resumes; then all is as before, a busy store included', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600');
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    await daemon.attempt('runs.wait', { id: runId, until: 'proved' });
    const refusal = await daemon.refusal('daemon.stop', {});
    expect(refusal).toMatchObject({ code: 'drain_blocked', details: { blocked: [scopeId] } });

    const admission = async () => (await daemon.call('status', {})).admission;
    expect(await daemon.call('status', {})).toMatchObject({
      lifecycle: 'drainBlocked',
      admission: 'closed',
      health: {
        reasons: expect.arrayContaining([
          expect.objectContaining({ code: 'drain_blocked', scopeId, next: ['custody daemon stop', 'custody resume'] }),
        ]),
      },
    });
    // Its own git is not launched for anybody, and so is not kept back.
    const other = await daemon.goal();
    const exec = daemon.launchArguments(other.goalId, 'exit 3');
    expect(await daemon.refusal('runs.exec', exec)).toMatchObject({
      code: 'admission_closed',
      next: ['custody status'],
    });
    await daemon.call('resume', {});
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });

    const letGo = occupied(daemon);
    expect(await daemon.refusal('goals.cancel', { id: other.goalId })).toMatchObject({ code: 'store_busy' });
    expect(await admission()).toBe('closed');
    letGo();
    await eventually('admission', async () => ((await admission()) === 'open' ? true : undefined));
    expect(await daemon.proved((await daemon.call('runs.exec', exec)).runId)).toMatchObject({ result: { code: 3 } });
  });

  it('a store that takes nothing blocks it as well, by name, and a repeat succeeds once there is room', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
    const { goalId } = await daemon.goal();
    const { scopeId } = await daemon.exec(goalId, 'exec sleep 600');
    const letGo = occupied(daemon);
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({
      code: 'store_busy',
      exitCode: 10,
      retryable: true,
    });
    const { lifecycle, admission, health } = await daemon.call('status', {});
    expect([lifecycle, admission]).toEqual(['drainBlocked', 'closed']);
    expect(health.reasons.map(({ code }) => code)).toEqual(['drain_blocked', 'store_busy']);
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'live' }, termination: 'idle' });
    letGo();
    await eventually('a store that is written again', async () => {
      const now = await daemon.call('status', {});
      return now.health.reasons.length === 1 ? now : undefined;
    });
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'drainBlocked', admission: 'closed' });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ settled: [scopeId], blocked: [] });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
  });
});
