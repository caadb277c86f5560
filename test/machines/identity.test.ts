import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDigest } from '../../machines/canonical.ts';
import {
  identityDigest,
  observationSchema,
  type ProcessIdentity,
  processIdentitySchema,
  sameProcess,
} from '../../machines/identity.ts';
import { processOf, sampledAt, workload } from './support/evidence.ts';

const bends: Readonly<Record<string, Partial<ProcessIdentity>>> = {
  evidenceVersion: { evidenceVersion: 2 },
  installationId: { installationId: 'I2' as ProcessIdentity['installationId'] },
  platform: { platform: 'elsewhere' },
  bootId: { bootId: 'boot-z' },
  pid: { pid: 7 },
  processToken: { processToken: '1' },
  namespace: { namespace: '' },
  adapterEvidence: { adapterEvidence: '1' },
};

describe('which process is meant (ID-01)', () => {
  it('is a record of known fields, each of them needed', () => {
    expect(processIdentitySchema.parse(workload)).toEqual(workload);
    expect(processIdentitySchema.safeParse({ ...workload, name: 'sleep' }).success).toBe(false);
    for (const field of Object.keys(workload)) {
      expect(processIdentitySchema.safeParse({ ...workload, [field]: undefined }).success, field).toBe(false);
    }
  });

  it('is never a group or a broadcast (I-29)', () => {
    for (const pid of [0, -1, -100, 1.5]) {
      expect(processIdentitySchema.safeParse({ ...workload, pid }).success, `${pid}`).toBe(false);
    }
  });

  it.each(Object.entries(bends))('is another one with another %s (ID-03, ID-06)', (_, bend) => {
    expect(sameProcess(workload, { ...workload, ...bend })).toBe(false);
    expect(sameProcess({ ...workload, ...bend }, workload)).toBe(false);
    expect(identityDigest({ ...workload, ...bend })).not.toBe(identityDigest(workload));
  });

  it('is bound under the digest of its canonical form, whatever the order of its fields', () => {
    const turned = Object.fromEntries(Object.entries(workload).reverse()) as typeof workload;
    expect(identityDigest(turned)).toBe(canonicalDigest(workload));
    expect(identityDigest({ ...workload, namespace: 'é"\\' })).toBe(
      canonicalDigest({ ...workload, namespace: 'é"\\' }),
    );
  });

  it('is the same one where an observer has no evidence of its own, or the user changed', () => {
    expect(sameProcess(workload, { ...workload, adapterEvidence: '' })).toBe(true);
    expect(sameProcess(workload, { ...workload, uid: 0 })).toBe(true);
    expect(sameProcess(workload, structuredClone(workload))).toBe(true);
  });

  it('compares tokens for equality and reads nothing into them, however odd (ID-02)', () => {
    const text = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' }).filter((token) => token.length <= 128);
    fc.assert(
      fc.property(text, text, (a, b) => {
        const one = processOf(1, a, { namespace: a, adapterEvidence: a });
        expect(processIdentitySchema.parse(one)).toEqual(one);
        expect(sameProcess(one, { ...one, processToken: b })).toBe(a === b);
        expect(sameProcess(one, { ...one, namespace: b })).toBe(a === b);
      }),
    );
    expect(sameProcess(processOf(1, '7'), processOf(1, '07'))).toBe(false);
    expect(sameProcess(processOf(1, '7'), processOf(1, '7 '))).toBe(false);
  });
});

describe('an observation (ID-01)', () => {
  const seen = { result: 'alive', reason: 'present', sampledAt, contextDigest: '', signalable: true };

  it.each(['alive', 'ended', 'unknown'])('may say %s', (result) => {
    expect(observationSchema.parse({ ...seen, result })).toEqual({ ...seen, result });
  });

  it('may say nothing else, and always says why', () => {
    expect(observationSchema.safeParse({ ...seen, result: 'dead' }).success).toBe(false);
    expect(observationSchema.safeParse({ ...seen, reason: '' }).success).toBe(false);
    expect(observationSchema.safeParse({ ...seen, reason: undefined }).success).toBe(false);
    expect(observationSchema.safeParse({ ...seen, pid: 1 }).success).toBe(false);
  });
});
