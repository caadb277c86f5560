/**
 * Events of a PTY session (section E, local plane). They carry sizes, digests and reasons; what was typed and what was
 * shown stands in none of them (PTY-08).
 */
import { z } from 'zod';
import { basisSchema } from '../basis.ts';
import { bootIdSchema, sampledAtSchema } from '../identity.ts';
import { runIdSchema, scopeIdSchema, sessionIdSchema } from '../ids.ts';
import { actorName, digest, durationMs, reasonCode, requestId } from './fields.ts';
import { drainCauseSchema } from './scope.ts';

const size = { cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) };
/** Counts whole bytes since the session was opened, so that a report that was left out loses nothing. */
const bytesSoFar = z.int().min(0);
const activitySeq = z.int().min(0);
const captureReason = z.string().regex(/^[A-Za-z0-9_]{1,64}$/);
const limitMs = z.int().positive();

/** `silence` is a worker's: it has not ticked. */
export const deadlineKindSchema = z.enum(['hard', 'idle', 'startup', 'silence']);

export const sessionEvents = {
  'session.opened': z.strictObject({
    sessionId: sessionIdSchema,
    runId: runIdSchema,
    scopeId: scopeIdSchema,
    ...size,
    /** How long it may last in all, be silent, and take to show anything; an absent one is no limit. */
    deadlines: z.strictObject({
      hardMs: limitMs.optional(),
      idleMs: limitMs.optional(),
      startupMs: limitMs.optional(),
    }),
    /** From when the deadlines count. */
    openedAt: sampledAtSchema,
    /** False: by choice nothing of what its terminal says is kept (PRIV-02). Absent: it is. */
    recorded: z.boolean().optional(),
  }),
  /**
   * The host journals every event that it accepts, so the sender leaves this one out unless `isOutputNews` says that it
   * changes something, and brings it once a second at most (ruling 13).
   */
  'session.output': z.strictObject({
    activitySeq: z.int().positive(),
    bytes: bytesSoFar,
    /** When the last of it was read. */
    sampledAt: sampledAtSchema,
  }),
  'session.inputNeeded': z.strictObject({ seq: z.int().positive(), reasonCode }),
  'session.inputSent': z.strictObject({ bytes: z.int().min(0), actor: actorName }),
  'session.resized': z.strictObject({ ...size, actor: actorName }),
  /** `valid`: the reader has checked it against its schema (PTY-03). */
  'result.reported': z.strictObject({ resultDigest: digest, valid: z.boolean(), reasonCode: reasonCode.optional() }),
  /** The basis is what the deadline was armed with, unchanged, however late it comes (PTY-09). */
  'deadline.reached': z.strictObject({
    deadlineId: z.string().min(1).max(128),
    kind: deadlineKindSchema,
    basisActivitySeq: activitySeq,
    bootId: bootIdSchema,
    monoMs: z.int().min(0),
  }),
  'stop.requested': z.strictObject({
    stopRequestId: requestId,
    actor: actorName,
    cause: drainCauseSchema,
    capturedBasis: basisSchema.optional(),
    /** Set where a scope passes on the drain that it has begun: it need not be asked for another. */
    scopeId: scopeIdSchema.optional(),
  }),
  /** Only what a session cannot go on with. A full disk is none: it shows as `truncated` in the end (ruling 10). */
  'capture.fault': z.strictObject({
    stream: z.enum(['terminal', 'transcript']),
    errno: z.string().max(64).nullable(),
    /** `hostLost` where the holder of the terminal died (ruling 20). */
    reason: captureReason,
    /** How much had been read by then, where that is known. */
    bytes: bytesSoFar.optional(),
  }),
  'capture.drainStarted': z.strictObject({ boundMs: durationMs }),
  /** `eof`: the end marker was read (ruling 10). `truncated`: something is missing in the transcript all the same. */
  'capture.finished': z.strictObject({
    eof: z.boolean(),
    truncated: z.boolean(),
    fault: captureReason.optional(),
    bytes: bytesSoFar,
  }),
  'launch.failed': z.strictObject({ phase: reasonCode, reasonCode }),
  /** By whoever knows that no receipt can come any more: the process is gone, and so is its guardian. */
  'workload.endedWithoutStatus': z.strictObject({ evidenceEventId: z.string().min(1).max(256), reason: reasonCode }),
  'scope.unverified': z.strictObject({ scopeId: scopeIdSchema, reason: reasonCode }),
} as const;
