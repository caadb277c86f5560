/** The fence in the real host, where a fact is told once: what it learned before a recovery began must not be lost (REC-09). */
import { expect, it } from 'vitest';
import type { Draft } from '../../actors/host/outcome.ts';
import { protocol } from '../../machines/protocol.ts';
import type { FenceSnapshot } from '../../machines/recoveryFence.ts';
import { boot } from '../machines/support/evidence.ts';
import { tickOf } from '../machines/support/workerSamples.ts';
import { producer, testHost } from './support/testHost.ts';

const worker = { incarnationId: 'K1', scopeId: 'S1' };
const nobody = { rescanned: true, pending: 0, unverified: 0, scopeIds: [] };
const settled = ['worker.scopeSettled', { scopeId: 'S1', proofEventId: 'e' }] as const;

it('does not wait for the end of a worker that had ended before', async () => {
  const { host } = testHost({ ...protocol });
  let asked = 0;
  const say = async (type: string, payload: object, eventId?: string) => {
    const actor = { kind: 'recoveryFence', id: 'X1' } as const;
    const draft = { type, actor, producer, payload, ...(eventId === undefined ? {} : { eventId }) };
    const [outcome] = await host.submit([draft as Draft]);
    return outcome?.outcome;
  };
  /** What somebody asks for has an id of its own each time. */
  const ask = (type: string, payload: object) => say(type, payload, `ask:${++asked}`);
  await say('fence.established', { runtimeId: 'X1' });
  await ask('recovery.started', { old: null, liveWorkers: 0, reason: 'none' });
  await ask('ownership.rescanned', { ...nobody, retryAt: { monoMs: 1, bootId: boot } });
  await say('replacement.launched', { ...nobody, ...worker, workerEnabled: true });
  expect(await say('scheduler.tick', tickOf())).toBe('changed');
  expect(await say(...settled)).toBe('changed');
  await ask('recovery.started', { old: worker, liveWorkers: 1, reason: 'silent' });
  expect(await say(...settled)).toBe('duplicate');
  expect((host.snapshotOf('recoveryFence', 'X1') as FenceSnapshot).value).toBe('rescanning');
});
