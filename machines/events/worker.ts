/** Events of worker incarnations and of the fence that orders their replacement (section E, local plane). */
import { z } from 'zod';
import { processIdentitySchema, sampledAtSchema } from '../identity.ts';
import { incarnationIdSchema, nodeIdSchema, registrationIdSchema, runtimeIdSchema, scopeIdSchema } from '../ids.ts';
import { digest, effectId, reasonCode } from './fields.ts';

const targetId = z.string().min(1).max(256);
const count = z.int().min(0);

/** What a worker says with every sign of life; each field is compared with the record of its launch (WRK-02). */
const tickSchema = z.strictObject({
  incarnationId: incarnationIdSchema,
  runtimeId: runtimeIdSchema,
  registrationId: registrationIdSchema,
  /** Digest of the token that the launch handed over; the token itself is never stored. */
  launchTokenHash: digest,
  process: processIdentitySchema,
  targetId,
  nodeId: nodeIdSchema,
  seq: z.int().positive(),
  sampledAt: sampledAtSchema,
  /** It looked at everything that is due, and will look again. */
  completedCycle: z.boolean(),
  /** The kernel named the sender as the registered process (SO_PEERCRED, unix(7)), not just one that has its token. */
  isRegisteredPeer: z.boolean(),
});

/** What a look at everything that earlier incarnations launched has shown (REC-03). */
const rescan = {
  /** False where somebody could not be looked at: then the numbers say nothing. */
  rescanned: z.boolean(),
  pending: count,
  unverified: count,
  /** Those that are not proved to be gone. */
  scopeIds: z.array(scopeIdSchema).max(64),
};

export const workerEvents = {
  'worker.requested': z.strictObject({
    incarnationId: incarnationIdSchema,
    runtimeId: runtimeIdSchema,
    registrationId: registrationIdSchema,
    launchTokenHash: digest,
    scopeId: scopeIdSchema,
    targetId,
    nodeId: nodeIdSchema,
    /** How long it may take to begin and be silent afterwards, in milliseconds. */
    startupMs: z.int().positive(),
    silenceMs: z.int().positive(),
    requestedAt: sampledAtSchema,
  }),
  'worker.registered': z.strictObject({
    launchTokenHash: digest,
    registrationId: registrationIdSchema,
    scopeId: scopeIdSchema,
    process: processIdentitySchema,
    /** The sender is the workload that the guardian of its scope has launched. */
    isRegisteredPeer: z.boolean(),
  }),
  'worker.launchFailed': z.strictObject({ reasonCode }),
  'worker.stopRequested': z.strictObject({ reason: reasonCode, fenceId: effectId }),
  'target.changed': z.strictObject({ targetId, changedAt: sampledAtSchema }),
  'scheduler.tick': tickSchema,
} as const;

export const fenceEvents = {
  'fence.established': z.strictObject({ runtimeId: runtimeIdSchema }),
  'recovery.started': z.strictObject({
    /** The incarnation that is to be replaced; null where none is left. */
    old: z.strictObject({ incarnationId: incarnationIdSchema, scopeId: scopeIdSchema }).nullable(),
    /** Incarnations that are not proved to be gone. */
    liveWorkers: count,
    reason: reasonCode,
  }),
  'worker.scopeSettled': z.strictObject({ scopeId: scopeIdSchema, proofEventId: z.string().min(1).max(256) }),
  'ownership.rescanned': z.strictObject({ ...rescan, retryAt: sampledAtSchema }),
  'replacement.launched': z.strictObject({
    ...rescan,
    incarnationId: incarnationIdSchema,
    scopeId: scopeIdSchema,
    workerEnabled: z.boolean(),
  }),
  'recovery.failed': z.strictObject({
    phase: z.enum(['stoppingOld', 'rescanning', 'launchPermitted', 'awaitingTick']),
    reason: reasonCode,
    retryAt: sampledAtSchema,
  }),
  'recovery.retry': z.strictObject({ reason: reasonCode }),
} as const;
