/**
 * Which process is meant (ID-01). Outside its adapter a token, a namespace and the adapter's own evidence are opaque:
 * they are compared for equality and never parsed, ordered or shown as a time (ID-02).
 */
import { z } from 'zod';
import { sha256 } from './canonical.ts';
import { installationIdSchema } from './ids.ts';

export const identityVersion = 1;

export const pidSchema = z.int().positive();
export const bootIdSchema = z.string().min(1).max(64);
/** Kernel counters that outgrow a double travel as decimal strings. */
export const decimalSchema = z.string().regex(/^\d{1,20}$/);

export const processIdentitySchema = z.strictObject({
  evidenceVersion: z.int().positive(),
  installationId: installationIdSchema,
  platform: z.string().min(1).max(32),
  bootId: bootIdSchema,
  pid: pidSchema,
  processToken: z.string().min(1).max(128),
  uid: z.int().min(0),
  namespace: z.string().max(128),
  adapterEvidence: z.string().max(128),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

export const sampledAtSchema = z.strictObject({ monoMs: z.int().min(0), bootId: bootIdSchema });

export const observationSchema = z.strictObject({
  result: z.enum(['alive', 'ended', 'unknown']),
  reason: z.string().regex(/^[a-z0-9_]{1,48}$/),
  sampledAt: sampledAtSchema,
  contextDigest: z.string().max(64),
  /** False where a signal could reach somebody else, as after a change of uid. */
  signalable: z.boolean(),
});
export type Observation = z.infer<typeof observationSchema>;

/** An identity never changes, and every change of a run asks for its digest again. */
const digests = new WeakMap<ProcessIdentity, string>();

/** Digest under which an identity is bound to at most one run (I-06). */
export function identityDigest(identity: ProcessIdentity): string {
  const known = digests.get(identity);
  if (known !== undefined) return known;
  const digest = sha256(spelt(identity));
  digests.set(identity, digest);
  return digest;
}

/** Its canonical JSON: the fields in order. Every note of a process asks for it, and JSON is quicker than the general way. */
function spelt(identity: ProcessIdentity): string {
  const { adapterEvidence, bootId, evidenceVersion, installationId, namespace } = identity;
  const { pid, platform, processToken, uid } = identity;
  const fields = {
    adapterEvidence,
    bootId,
    evidenceVersion,
    installationId,
    namespace,
    pid,
    platform,
    processToken,
    uid,
  };
  return JSON.stringify(fields);
}

/**
 * Whether two records name one process. Adapter evidence counts only where both have it: an older kernel, or an observer
 * without a pidfd, has none.
 */
export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  const evidenceAgrees =
    a.adapterEvidence === '' || b.adapterEvidence === '' || a.adapterEvidence === b.adapterEvidence;
  return (
    evidenceAgrees &&
    a.evidenceVersion === b.evidenceVersion &&
    a.installationId === b.installationId &&
    a.platform === b.platform &&
    a.bootId === b.bootId &&
    a.pid === b.pid &&
    a.processToken === b.processToken &&
    a.namespace === b.namespace
  );
}
