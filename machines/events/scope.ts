/** Events of an execution scope and its guardian (section E, local plane). */
import { z } from 'zod';
import { delegatorNames } from '../delegators.ts';
import { bootIdSchema, decimalSchema, processIdentitySchema, sampledAtSchema } from '../identity.ts';
import { generationIdSchema, goalIdSchema, nodeIdSchema, runIdSchema, scopeIdSchema, sessionIdSchema } from '../ids.ts';
import { actorName, digest, durationMs, effectId, freeText, reasonCode, receiptBinding, requestId } from './fields.ts';
import { workloadResult } from './run.ts';

export const drainCauseSchema = z.enum([
  'completed',
  'natural',
  'capture_fault',
  'deadline',
  'stop',
  'superseded',
  'cancelled',
  'reassigned',
  'recovery',
  'shutdown',
]);
export const gapReasonSchema = z.enum([
  'guardian_gone',
  'record_lost',
  'identity_conflict',
  'handshake_lost',
  'inspection_gap',
]);

/**
 * A process by its command name (proc_pid_comm(5)), which it may choose itself. `stop`: whether it is ended with its
 * worktree or only by name.
 */
export const residentSchema = z.strictObject({
  name: z.string().regex(/^[\x20-\x7e]{1,15}$/),
  stop: z.enum(['with-worktree', 'keep']),
});
export type Resident = Readonly<z.infer<typeof residentSchema>>;

const slot = z.strictObject({ dev: decimalSchema, ino: decimalSchema, nonceHash: digest });
/** pid → process token; the token is opaque. */
export const witnessesSchema = z.record(z.string().regex(/^\d+$/), z.string().min(1).max(128));

export const scopeEvents = {
  'scope.requested': z.strictObject({
    scopeId: scopeIdSchema,
    runId: runIdSchema.nullable(),
    generationId: generationIdSchema.nullable(),
    parentScopeId: scopeIdSchema.nullable(),
    kind: z.enum(['guardian', 'effect', 'external']),
    goalId: goalIdSchema.nullable(),
    occurrence: z.int().positive().nullable(),
    nodeId: nodeIdSchema.nullable(),
    recipeDigest: digest,
    onRootExit: z.enum(['terminate', 'wait']),
    graceMs: durationMs,
    budgetMs: durationMs,
    purpose: z.string().max(200).nullable(),
    /** Programs found in its recipe that hand work to somebody outside its tree; absent where nobody has looked. */
    delegators: z.array(z.enum(delegatorNames)).max(delegatorNames.length).optional(),
    /** Who may outlive the root. */
    residents: z.array(residentSchema).max(16).optional(),
    /** Who has launched it, where that was somebody else; absent for what this program launches, or has launched and lost. */
    controller: z.string().min(1).max(64).optional(),
  }),
  'launch.prepared': z.strictObject({ slots: z.strictObject({ start: slot, status: slot, exit: slot }) }),
  'launch.notStarted': z.strictObject({ errno: z.string().max(64), phase: reasonCode }),
  'launch.abandoned': z.strictObject({ gate: z.literal('never_opened'), reason: reasonCode }),
  'guardian.attached': z.strictObject({
    guardian: processIdentitySchema,
    workload: processIdentitySchema,
    bootId: bootIdSchema,
  }),
  'launch.releaseCommitted': z.strictObject({}),
  'launch.releaseUncertain': z.strictObject({ errno: z.string().max(64) }),
  'scope.registeredExternally': z.strictObject({ reason: z.enum(['legacy', 'external', 'unsupported_platform']) }),
  'guardian.observed': z.strictObject({
    result: z.enum(['alive', 'absent', 'unknown']),
    reason: reasonCode,
    contextDigest: z.string().max(64),
    sampledAt: sampledAtSchema,
  }),
  'witness.merged': z.strictObject({ witnesses: witnessesSchema, basisVersion: z.int().min(0) }),
  /** Whether nobody is left of the tree but residents, as its guardian lists them; the names prove nothing. */
  'residents.observed': z.strictObject({ alone: z.boolean() }),
  'guardian.exitReceipt': z.strictObject({
    ...receiptBinding,
    complete: z.boolean(),
    reaped: z.int().min(0),
    adopted: z.int().min(0),
    terminated: z.boolean(),
    lostNested: z.int().min(0),
    ...workloadResult,
  }),
  'enclosing.receiptAccepted': z.strictObject({
    enclosingScopeId: scopeIdSchema,
    receiptDigest: digest,
    checks: z.strictObject({
      enclosingComplete: z.boolean(),
      enclosingOriginal: z.boolean(),
      launcherRelation: z.boolean(),
      isolatedLaunch: z.boolean(),
      witnessesContained: z.boolean(),
      inferred: z.boolean(),
    }),
    survivors: z.int().min(0),
  }),
  'boot.epochEnded': z.strictObject({ currentBootId: bootIdSchema, uniform: z.boolean() }),
  'coverage.gap': z.strictObject({ reason: gapReasonSchema }),
  /**
   * Somebody answers for it that nobody of this tree is left, where nothing can prove that any more. It is no proof. The
   * facts are those that were seen then.
   */
  'end.assumed': z.strictObject({
    requestId,
    actor: actorName,
    because: freeText.min(1),
    atWallMs: z.int().min(0),
    observed: z
      .array(
        z.strictObject({
          who: z.enum(['guardian', 'workload', 'witness']),
          pid: z.int().positive(),
          result: z.enum(['ended', 'unknown']),
          reason: reasonCode,
        }),
      )
      .max(256),
  }),
  'sideEffect.committed': z.strictObject({ effectId }),
  'sideEffect.done': z.strictObject({ effectId }),
  /** Absent durations mean those of the launch. */
  'drain.requested': z.strictObject({
    cause: drainCauseSchema,
    graceMs: durationMs.optional(),
    budgetMs: durationMs.optional(),
    requestId,
    /** Set where a session of the scope asks: it knows already. */
    sessionId: sessionIdSchema.optional(),
  }),
  'drain.quiesced': z.strictObject({ members: witnessesSchema, total: z.int().min(0), scans: z.int().min(0) }),
  'drain.signalled': z.strictObject({ signalled: z.int().min(0), skippedGuardians: z.int().min(0) }),
  'drain.budgetExhausted': z.strictObject({
    elapsedMs: durationMs,
    survivors: z.int().min(0),
    /** Nested guardians that have not ended; absent when there is none. */
    guardians: witnessesSchema.optional(),
  }),
  'drain.inspectionFailed': z.strictObject({ reasonCode, resumed: z.int().min(0) }),
} as const;
