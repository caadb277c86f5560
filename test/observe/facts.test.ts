import { describe, expect, it } from 'vitest';
import { guardianFacts, processFacts } from '../../actors/observe/facts.ts';
import type { Sample } from '../../actors/observe/sample.ts';
import { payloadSchemas } from '../../machines/events/catalogue.ts';
import { processIdentitySchema } from '../../machines/identity.ts';

const identity = processIdentitySchema.parse({
  evidenceVersion: 1,
  installationId: 'Itest',
  platform: 'linux',
  bootId: 'boot-1',
  pid: 1,
  processToken: '5',
  uid: 0,
  namespace: 'pid:1,time:1',
  adapterEvidence: '',
});

const sample = (result: Sample['result'], reason: string): Sample => ({
  result,
  reason,
  sampledAt: { monoMs: 7, bootId: 'boot-1' },
  contextDigest: 'c0ffee',
  signalable: result === 'alive',
  strength: 'ticks',
});

describe('what is told of an observation', () => {
  it.each([
    ['alive', 'running', true],
    ['ended', 'absent', true],
    ['unknown', 'permission', false],
  ] as const)('OBS-08: a process that is %s (%s) is told as that, stable %s', (result, reason, stable) => {
    const facts = processFacts(identity, sample(result, reason), 3);
    expect(payloadSchemas['process.observed'].parse(facts)).toEqual(facts);
    expect(facts).toMatchObject({ result, reason, stable, identity, basisVersion: 3, sampledAt: { monoMs: 7 } });
  });

  it.each([
    ['alive', 'stopped', 'alive'],
    ['ended', 'replaced', 'absent'],
    ['unknown', 'proc_hidden', 'unknown'],
  ] as const)('OBS-08: a guardian that is %s (%s) is %s to its scope', (result, reason, told) => {
    const facts = guardianFacts(sample(result, reason));
    expect(payloadSchemas['guardian.observed'].parse(facts)).toEqual(facts);
    expect(facts).toMatchObject({ result: told, reason });
  });
});
