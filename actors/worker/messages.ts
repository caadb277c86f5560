/**
 * What the scheduling worker and the daemon say to each other: one JSON object a line, over a socket that the worker
 * opens and keeps. The worker asks and reports; whatever it is told was committed before (WRK-07).
 */
import { z } from 'zod';
import { incarnationIdSchema, registrationIdSchema, runtimeIdSchema, scopeIdSchema } from '../../machines/ids.ts';

export const workerProtocol = 1;

const text = z.string().min(1).max(256);
const launchId = scopeIdSchema;
const checkId = z.string().min(1).max(64);

/** Which start of the worker speaks. The token proves nothing alone: descendants inherit it (WRK-03). */
const speaker = {
  incarnationId: incarnationIdSchema,
  runtimeId: runtimeIdSchema,
  registrationId: registrationIdSchema,
  token: z.string().regex(/^[0-9a-f]{64}$/),
};

/** The launch context: handed over on standard input, so that neither environment nor arguments carry any of it (WRK-04). */
export const workerContextSchema = z.strictObject({
  protocol: z.literal(workerProtocol),
  ...speaker,
  socket: z.string().min(1),
  scopeId: scopeIdSchema,
  /** Where its own guardian listens: what it launches enrols there. */
  scopeDir: z.string().startsWith('/'),
  guardianPath: z.string().startsWith('/'),
  installationId: text,
  nodeId: text,
  targetId: text,
  tickIntervalMs: z.int().positive(),
  retryMs: z.int().positive(),
});
export type WorkerContext = z.infer<typeof workerContextSchema>;

const process = z.strictObject({ pid: z.int().positive(), start: z.string(), pidfs: z.string().nullable() });
/** As a guardian reports it (LaunchReady). */
const ready = z.strictObject({
  guardian: process,
  workload: process,
  bootId: z.string(),
  pidns: z.string(),
  timens: z.string(),
  uid: z.int().min(0),
});

/** What became of a request to open a gate: only the first two are answers of the guardian. */
const gateAnswer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('released') }),
  z.strictObject({ kind: z.literal('execFailed'), errno: z.int() }),
  z.strictObject({ kind: z.literal('notReleased'), step: z.string().max(64) }),
  z.strictObject({ kind: z.literal('uncertain'), step: z.string().max(64) }),
]);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const fromWorkerSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('register'), ...speaker, scopeId: scopeIdSchema }),
  z.strictObject({
    type: z.literal('tick'),
    ...speaker,
    targetId: text,
    nodeId: text,
    seq: z.int().positive(),
    /** The check that it has in hand; null where it takes another. */
    checkId: checkId.nullable(),
  }),
  z.strictObject({ type: z.literal('begin'), checkId }),
  z.strictObject({ type: z.literal('ready'), launchId, ready }),
  z.strictObject({
    type: z.literal('failed'),
    launchId,
    code: z.string().max(64),
    phase: z.enum(['spawn', 'handshake', 'gate']),
    errno: z.int().nullable(),
    step: z.string().max(64).nullable(),
  }),
  z.strictObject({ type: z.literal('gate'), launchId, answer: gateAnswer }),
  /** The guardian of a launch has ended and was reaped. */
  z.strictObject({ type: z.literal('gone'), launchId, code: z.int().nullable(), signal: z.string().nullable() }),
  z.strictObject({
    type: z.literal('verdict'),
    checkId,
    verdict: z.enum(['accepted', 'failed']),
    /** SHA-256 of each captured stream that is complete. */
    artifactDigests: z.array(sha256).max(2),
  }),
]);
export type FromWorker = z.infer<typeof fromWorkerSchema>;

const file = z.strictObject({ dev: z.string(), ino: z.string() });
const slot = z.strictObject({ ...file.shape, nonce: z.string(), nonceHash: z.string() });

/** A launch as far as whoever starts the guardian has to know it; the gate stays shut until `open`. */
const launchRequest = z.strictObject({
  scopeId: scopeIdSchema,
  scopeDir: z.string().startsWith('/'),
  slots: z.strictObject({ start: slot, status: slot, exit: slot, adopted: file }),
  argv: z.array(z.string()).min(1),
  env: z.custom<Readonly<Record<string, string>>>((value) => typeof value === 'object' && value !== null),
  cwd: z.string().startsWith('/'),
  umask: z.int().min(0),
  handshakeMs: z.int().positive(),
  graceMs: z.int().min(0),
  budgetMs: z.int().min(0),
});
export type WorkerLaunchRequest = z.infer<typeof launchRequest>;

/** How a check ended, as its guardian's receipts say it. */
const checkEnd = z.strictObject({
  how: z.enum(['exited', 'signaled', 'dumped', 'execFailed', 'notReleased']),
  code: z.int().nullable(),
});
export type CheckEnd = z.infer<typeof checkEnd>;

export const toWorkerSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('registered'), targetId: text }),
  /** Of a registration or a tick: the code is a TickFault, or why the registration does not fit. */
  z.strictObject({ type: z.literal('refused'), code: z.string().max(64) }),
  z.strictObject({ type: z.literal('target'), targetId: text }),
  /** A check is due; nothing of it is committed before the worker begins it. */
  z.strictObject({ type: z.literal('check'), checkId }),
  z.strictObject({ type: z.literal('spawn'), launchId, request: launchRequest }),
  /** The release is committed (GRD-07). */
  z.strictObject({ type: z.literal('open'), launchId }),
  z.strictObject({ type: z.literal('abandon'), launchId }),
  /** Nobody of the check remains, by proof; `streams` are files that are complete. */
  z.strictObject({ type: z.literal('ended'), checkId, end: checkEnd, streams: z.array(z.string()).max(2) }),
  /** There is nothing more to do for the check: it is settled, superseded, interrupted, or was never begun. */
  z.strictObject({ type: z.literal('over'), checkId, code: z.string().max(64) }),
]);
export type ToWorker = z.infer<typeof toWorkerSchema>;
