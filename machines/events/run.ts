/** Events of a run and of a worktree generation (section E, local plane). */
import { z } from 'zod';
import { basisSchema } from '../basis.ts';
import { decimalSchema, processIdentitySchema, sampledAtSchema } from '../identity.ts';
import { generationIdSchema, goalIdSchema, repoIdSchema, runIdSchema, scopeIdSchema } from '../ids.ts';
import { producerSchema, runNameSchema } from '../launcherNames.ts';
import { actorName, commit, digest, reasonCode, receiptBinding, reference, requestId } from './fields.ts';

/** Which attempt at which Goal a run serves; it confers no right to change the Goal (WRK-05). */
export const goalReferenceSchema = basisSchema.pick({
  goalId: true,
  occurrence: true,
  step: true,
  nodeId: true,
  round: true,
});
export const originSchema = z.enum(['native', 'observed', 'legacy']);
export const workloadEndSchema = z.enum(['exited', 'signaled', 'dumped', 'execFailed', 'notReleased']);
export const proofKindSchema = z.enum(['own_receipt', 'enclosing_receipt', 'boot_epoch', 'never_launched']);

/** The leader's end as its guardian saw it (wait(2)); which numbers are set depends on `how`. */
export const workloadResult = {
  how: workloadEndSchema,
  code: z.int().nullable(),
  signal: z.int().nullable(),
  errno: z.int().nullable(),
  waitStatus: z.int(),
};

export const runEvents = {
  'run.reserved': z.strictObject({
    runId: runIdSchema,
    generationId: generationIdSchema.nullable(),
    goalRef: goalReferenceSchema.nullable(),
    mode: z.enum(['observe', 'managed']),
    rootScopeId: scopeIdSchema.nullable(),
    label: z.string().max(200).nullable(),
    retryOf: runIdSchema.nullable(),
    /** Who says so: we launched it, a launcher told us, or an old registry had it. */
    origin: originSchema,
    /** What was never told of a run that others launch (RUN-08); empty for one of ours. */
    gaps: z.array(reasonCode).max(8),
    /** What its launcher calls it: a name that cannot hold a command line (PRIV-01); absent for one that no note told of. */
    launcher: z.strictObject({ producer: producerSchema, run: runNameSchema }).optional(),
  }),
  /** What a reservation would have said, told of an observed run that was known without one. */
  'reservation.reported': z.strictObject({ label: z.string().max(200).nullable(), retryOf: runIdSchema.nullable() }),
  /** The worktree of an observed run, told only after its reservation. */
  'run.placed': z.strictObject({ generationId: generationIdSchema }),
  'identity.bound': z.strictObject({
    identity: processIdentitySchema,
    identityDigest: digest,
    verified: z.boolean(),
    source: z.literal('entrypoint'),
    scopeId: scopeIdSchema.nullable(),
  }),
  'admission.uncertain': z.strictObject({ reason: reasonCode }),
  'admission.cancelled': z.strictObject({
    gate: z.literal('never_opened'),
    scopeId: scopeIdSchema,
    proofEventId: z.string().max(256),
  }),
  'process.observed': z.strictObject({
    result: z.enum(['alive', 'ended', 'unknown']),
    reason: reasonCode,
    stable: z.boolean(),
    identity: processIdentitySchema,
    basisVersion: z.int().min(0),
    sampledAt: sampledAtSchema,
    contextDigest: z.string().max(64),
  }),
  'exit.reported': z.strictObject({ exitCode: z.int().nullable(), signal: z.int().nullable(), reporter: actorName }),
  'workload.statusReceipt': z.strictObject({ scopeId: scopeIdSchema, ...receiptBinding, ...workloadResult }),
  'scope.exitProved': z.strictObject({
    scopeId: scopeIdSchema,
    proofKind: proofKindSchema,
    proofEventId: z.string().max(256),
  }),
} as const;

export const generationEvents = {
  'generation.registered': z.strictObject({
    generationId: generationIdSchema,
    path: z.string().min(1).max(4096),
    /** `born`: birth time in nanoseconds (statx(2)); null or absent where unknown, and then it tells nothing apart. */
    fsIdentity: z.strictObject({
      dev: decimalSchema,
      ino: decimalSchema,
      gitdir: z.string().max(4096),
      born: decimalSchema.nullable().optional(),
    }),
    origin: originSchema,
    controller: z.string().min(1).max(64),
    repoId: repoIdSchema.nullable(),
    goalId: goalIdSchema.nullable(),
    branch: z.string().max(256).nullable(),
    baseCommit: commit.nullable(),
  }),
  'run.admitted': z.strictObject({ runId: runIdSchema, expectedVersion: z.int().min(0).optional() }),
  'run.noted': z.strictObject({ runId: runIdSchema, origin: originSchema }),
  'run.settled': z.strictObject({
    runId: runIdSchema,
    terminal: z.enum(['ended', 'cancelled']),
    endEventId: z.string().max(256),
  }),
  'scope.opened': z.strictObject({ runId: runIdSchema, scopeId: scopeIdSchema, guardianDigest: digest.nullable() }),
  'scope.settled': z.strictObject({ runId: runIdSchema, scopeId: scopeIdSchema, proofKind: proofKindSchema }),
  'admission.closed': z.strictObject({ requestId, actor: actorName }),
  'seal.requested': z.strictObject({ requestId, actor: actorName }),
  /** The directory was put aside because of a scope of it whose end is only assumed; `to` is null where there was none. */
  'quarantine.recorded': z.strictObject({
    requestId,
    actor: actorName,
    scopeId: scopeIdSchema,
    from: z.string().min(1).max(4096),
    to: z.string().min(1).max(4096).nullable(),
    gitMetadata: z.enum(['repaired', 'left', 'none']),
    atWallMs: z.int().min(0),
  }),
  'retirement.receiptVerified': z.strictObject({
    executor: actorName,
    generationId: generationIdSchema,
    sealEpoch: z.int().positive(),
    receiptDigest: digest,
    verified: z.boolean(),
  }),
  'coverage.gapRecorded': z.strictObject({
    gapId: z.string().min(1).max(128),
    producer: actorName,
    kind: reasonCode,
    window: z.strictObject({ from: z.int(), to: z.int() }),
    count: z.int().positive(),
  }),
  'coverage.gapClosed': z.strictObject({
    gapId: z.string().min(1).max(128),
    evidence: z.enum(['boot_epoch', 'authentic_receipt']),
    evidenceRef: reference,
  }),
  'prediction.recorded': z.strictObject({
    eligible: z.boolean(),
    blockers: z.array(z.strictObject({ code: reasonCode, evidenceIds: z.array(z.string().max(256)).max(32) })).max(128),
  }),
  'path.observed': z.strictObject({ result: z.enum(['same', 'missing', 'replaced', 'unknown']) }),
  'contract.verified': z.strictObject({
    contract: z.literal('scope-exit-proof/1'),
    kernel: z.string().min(1).max(256),
    guardianDigest: digest,
    batteryVersion: z.int().positive(),
    reportRef: reference,
  }),
  'authority.granted': z.strictObject({ requestId, actor: actorName, gateReport: reference.nullable() }),
  'authority.migrated': z.strictObject({
    requestId,
    actor: actorName,
    migrationVerified: z.boolean(),
    evidenceRefs: z.array(reference).max(64),
  }),
  'authority.handoffRequested': z.strictObject({ requestId, actor: actorName, to: z.string().min(1).max(64) }),
  'authority.handedOff': z.strictObject({ requestId, controller: z.string().min(1).max(64) }),
  'authority.handoffAbandoned': z.strictObject({ requestId }),
} as const;
