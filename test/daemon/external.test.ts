/** SHUT-07: scopes that others have launched, with no guardian: what they registered is ended, and nothing is proved. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../actors/host/host.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { draft } from '../../actors/runtime/submission.ts';
import type { ScopeId } from '../../machines/ids.ts';
import { protocol } from '../../machines/protocol.ts';
import { openStore } from '../../persistence/store.ts';
import { isAlive, statOf } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';

const scopeId = 'Sexternal1' as ScopeId;
const by = 'test';

interface Registered {
  readonly pid: number;
  readonly token: string;
}

/** What an adapter for another launcher commits, by a host of its own while no daemon holds the store. */
async function register(daemon: TestDaemon, processes: readonly Registered[], otherBoot?: string) {
  const system = createSystemClock();
  const bootId = () => otherBoot ?? system.bootId();
  const clock = { ...system, bootId, now: () => ({ ...system.now(), bootId: bootId() }) };
  const store = openStore({ stateDir: daemon.home.stateDir, clock, create: false });
  const host = createHost({ ...protocol, store, clock, onFault: ({ error }) => expect(error).toBeUndefined() });
  const to = ['executionScope', scopeId] as const;
  const { nodeId } = store;
  const payload = {
    ...{ scopeId, runId: null, generationId: null, parentScopeId: null, kind: 'external' as const, goalId: null },
    ...{ occurrence: null, nodeId, recipeDigest: 'd'.repeat(64), onRootExit: 'wait' as const, graceMs: 300 },
    ...{ budgetMs: 1_000, purpose: null },
  };
  const witnesses = Object.fromEntries(processes.map(({ pid, token }) => [String(pid), token]));
  const outcomes = await host.submit([
    draft('scope.requested', { to, payload: payload as never, by }),
    draft('scope.registeredExternally', { to, payload: { reason: 'external' }, by }),
    draft('witness.merged', { to, payload: { witnesses, basisVersion: 1 }, by }),
  ]);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['changed', 'changed', 'changed']);
  await host.close();
  store.close();
}

async function started(script: string): Promise<{ child: ChildProcess } & Registered> {
  const child = spawn('sh', ['-c', `${script}; echo; while :; do sleep 600 & wait $!; done`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return { child, pid: child.pid!, token: statOf(child.pid!)!.start };
}

/** A daemon on a store with one such scope. */
async function adopting(processes: readonly Registered[], bootId?: string): Promise<TestDaemon> {
  const daemon = await testDaemon().start();
  await daemon.kill();
  await register(daemon, processes, bootId);
  return daemon.start();
}

const unverified = { state: 'unverified', certainty: 'gap', reason: 'no_launch_scope' };

describe('SHUT-07: a stop with a scope that has no guardian', () => {
  it('ends each registered process, whoever else has got such a pid is left alone, and the scope stays unverified', async () => {
    const [polite, stubborn] = [await started('true'), await started('trap "" TERM')];
    const other = await started('trap "touch /nowhere; exit 9" TERM INT HUP');
    const daemon = await adopting([polite, stubborn, { pid: other.pid, token: '1' }]);
    const ends = [once(polite.child, 'exit'), once(stubborn.child, 'exit')];
    expect(await daemon.attempt('daemon.stop', {})).toMatchObject({
      ok: true,
      exitCode: 0,
      data: { stopped: true, settled: [], unverified: [scopeId], blocked: [] },
    });
    expect(await Promise.all(ends)).toEqual([
      [null, 'SIGTERM'],
      [null, 'SIGKILL'],
    ]);
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    expect(isAlive(other.pid)).toBe(true);
    await daemon.start();
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: unverified, holdsSlot: true });
    expect((await daemon.events({ actor: scopeId })).map(({ type }) => type)).not.toContain('guardian.exitReceipt');
  });

  it('is blocked while one of them is there (exit 6)', async () => {
    const stubborn = await started('trap "" TERM');
    const daemon = await adopting([stubborn]);
    expect(await daemon.refusal('drain', { graceMs: 3_600_000, waitMs: 0 })).toMatchObject({
      code: 'drain_blocked',
      exitCode: 6,
      details: { unverified: [], blocked: [scopeId] },
    });
    expect(isAlive(stubborn.pid)).toBe(true);
    // The order stands, and is heard with a shorter grace.
    expect(await daemon.attempt('drain', { graceMs: 0 })).toMatchObject({
      ok: true,
      exitCode: 5,
      data: { unverified: [scopeId], blocked: [] },
    });
    expect(isAlive(stubborn.pid)).toBe(false);
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: unverified, termination: 'stalled' });
  });

  it('signals nobody by what was recorded under another boot', async () => {
    const other = await started('true');
    const daemon = await adopting([other], 'another-boot');
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ unverified: [scopeId] });
    await daemon.process.exited;
    expect(isAlive(other.pid)).toBe(true);
  });
});
