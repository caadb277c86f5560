/** Events of the semantic plane (section E, Goal). */
import { z } from 'zod';
import { stepSchema } from '../basis.ts';
import { claimIdSchema, goalIdSchema, nodeIdSchema, repoIdSchema, scopeIdSchema } from '../ids.ts';
import { actorName, commit, digest, effectId, freeText, reasonCode, reference, requestId, revision } from './fields.ts';

const attemptId = z.string().min(1).max(128);
const receiptId = z.string().min(1).max(128);
const candidate = z.string().min(1).max(256);

export const roundSchema = z.strictObject({ requestDigest: digest, requestRef: reference });
export const receiptKindSchema = z.enum(['planning', 'git', 'quality', 'integration']);
export const boundarySchema = z.enum([
  'candidateRefresh',
  'replacementQuality',
  'replacementGovernance',
  'publication',
  'integration',
  'settlement',
]);

export const goalEvents = {
  'goal.created': z.strictObject({
    goalId: goalIdSchema,
    title: z.string().min(1).max(500),
    nodeId: nodeIdSchema,
    priority: z.int(),
    repoId: repoIdSchema.nullable(),
    round: roundSchema.optional(),
  }),
  'round.authored': z.strictObject({ ...roundSchema.shape, expectedRevision: revision, actor: actorName }),
  'goal.queued': z.strictObject({ expectedRevision: revision, actor: actorName }),
  'claim.recorded': z.strictObject({ claimId: claimIdSchema, incarnationTokenHash: digest }),
  'step.advanced': z.strictObject({ to: stepSchema, receiptIds: z.array(receiptId).max(64), inputsDigest: digest }),
  'receipt.recorded': z.strictObject({
    receiptId,
    kind: receiptKindSchema,
    verdict: z.enum(['accepted', 'failed']),
    inputsDigest: digest,
    artifactDigests: z.array(digest).max(64),
    candidate: candidate.optional(),
    reuseOf: receiptId.optional(),
  }),
  'step.failed': z.strictObject({
    failureClass: z.enum(['preparation', 'provider', 'infrastructure']),
    reasonCode,
    evidenceRef: reference,
  }),
  'stop.settled': z.strictObject({ stopRequestId: requestId, endEvidence: z.string().min(1).max(256) }),
  'execution.interrupted': z.strictObject({
    goalId: goalIdSchema,
    occurrence: z.int().positive(),
    scopeId: scopeIdSchema,
    cause: z.enum(['crash', 'drain', 'replacement', 'reboot']),
  }),
  'preparation.reproduced': z.strictObject({
    branch: z.string().min(1).max(256),
    baseCommit: commit,
    reasonCode,
    checks: z.array(reasonCode).max(64),
  }),
  'sideEffect.started': z.strictObject({ effectId, boundary: boundarySchema, claimDigest: digest }),
  'sideEffect.finished': z.strictObject({
    effectId,
    outcome: z.enum(['ok', 'failed', 'unknown']),
    evidenceRef: reference,
  }),
  'decision.stepSelected': z.strictObject({
    to: stepSchema,
    expectedRevision: revision,
    requestId,
    actor: actorName,
    reason: freeText,
  }),
  'goal.nodeAssigned': z.strictObject({
    nodeId: nodeIdSchema,
    expectedRevision: revision,
    requestId,
    actor: actorName,
  }),
  'goal.cancelled': z.strictObject({ requestId, actor: actorName, reason: freeText }),
  'review.accepted': z.strictObject({ expectedRevision: revision, requestId, actor: actorName }),
  'review.declined': z.strictObject({ expectedRevision: revision, requestId, actor: actorName, reason: freeText }),
  'integration.leased': z.strictObject({ attemptId, target: reference, candidate }),
  'integration.begun': z.strictObject({ attemptId, expectedTargetTip: commit }),
  'integration.released': z.strictObject({ attemptId, reason: reasonCode }),
  'integration.localRecorded': z.strictObject({ attemptId, targetCommit: commit, pushed: z.literal(false) }),
  'integration.notApplied': z.strictObject({ attemptId, observedTip: commit }),
  'publication.started': z.strictObject({ attemptId, ref: reference, remote: reference }),
  'publication.finished': z.strictObject({ attemptId, remoteCommit: commit }),
  'publication.failed': z.strictObject({ attemptId, reasonCode }),
  'sync.workflowApplied': z.strictObject({
    to: stepSchema,
    occurrence: z.int().positive(),
    boundary: z.int().positive(),
    round: z.int().min(0),
    nodeId: nodeIdSchema,
    sourceDigest: digest,
  }),
  'sync.nodeApplied': z.strictObject({ nodeId: nodeIdSchema, sourceDigest: digest }),
  'sync.cancelApplied': z.strictObject({
    occurrence: z.int().positive(),
    boundary: z.int().positive(),
    sourceDigest: digest,
  }),
  'sync.conflictRaised': z.strictObject({
    baseDigest: digest,
    oursDigest: digest,
    theirsDigest: digest,
    fields: z.array(z.string().max(64)).max(64),
  }),
  'sync.conflictResolved': z.strictObject({
    expectedRevision: revision,
    chosen: z.enum(['ours', 'theirs', 'merged']),
    requestId,
    actor: actorName,
  }),
} as const;
