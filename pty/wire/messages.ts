/**
 * What daemon, command line and PTY host say to each other (ruling 21). Version 2 of the protocol knows inputs by id,
 * and wants to be shown who asks (ruling 24), also by a peer that speaks version 1. A host of version 1 passes both over: what
 * is repeated it types again, and it shows its terminals to whoever reaches it, until its last one has ended.
 */
import { z } from 'zod';

/** Newest first: both sides settle on the newest that both speak. */
export const hostProtocols: readonly number[] = [2, 1];

const sessionId = z.string().min(1).max(64);
const size = { cols: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) };
const count = z.int().nonnegative();

const slot = z.object({ dev: z.string(), ino: z.string(), nonce: z.string(), nonceHash: z.string() });
const slots = z.object({
  start: slot,
  status: slot,
  exit: slot,
  adopted: z.object({ dev: z.string(), ino: z.string() }),
});

/** A launch as the guardian is told of it; over this socket and in memory only (PRIV-01). */
const launch = z.object({
  guardianPath: z.string(),
  scopeId: z.string(),
  scopeDir: z.string(),
  installationId: z.string(),
  slots,
  argv: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  umask: z.int(),
  handshakeMs: z.int().positive(),
  graceMs: count.optional(),
  budgetMs: count.optional(),
  /** A host of an older version passes it over. */
  cgroup: z.string().optional(),
});

const transcript = z.object({
  dir: z.string(),
  /** Oldest bytes beyond it are dropped, and said to be; null keeps everything. */
  maxBytes: z.int().positive().nullable(),
  /** What one of its files holds; a host of version 1 passes it over. */
  segmentBytes: z.int().positive().optional(),
});

const waitFor = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string().min(1).max(4096) }),
  z.object({ kind: z.literal('regex'), regex: z.string().min(1).max(1024) }),
  /** No output for this long. */
  z.object({ kind: z.literal('quiet'), quietMs: z.int().positive() }),
  z.object({ kind: z.literal('exit') }),
]);
export type WaitCondition = z.infer<typeof waitFor>;

export const attachMode = z.enum([
  /** A fresh screen first; falls behind under a flood and is told so. */
  'screen',
  /** Every byte from an offset on, however long it takes. */
  'every byte',
]);

/** `id` comes back in the reply. */
export const requestSchema = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('hello'),
    id: count,
    protocol: z.array(z.int()).readonly(),
    role: z.enum(['daemon', 'client']),
    /** What speaks for the operator, or for a session that may drive others. */
    credential: z.string().max(256).optional(),
  }),
  z.object({ do: z.literal('open'), id: count, sessionId, ...size, launch, transcript, term: z.string() }),
  z.object({ do: z.literal('release'), id: count, sessionId }),
  z.object({ do: z.literal('abandon'), id: count, sessionId }),
  /** Reads what is there and ends the capture as incomplete: no marker will come. */
  z.object({ do: z.literal('finish'), id: count, sessionId, reason: z.string(), withinMs: count }),
  /** The daemon has committed how the capture ended. */
  z.object({ do: z.literal('forget'), id: count, sessionId }),
  /** `fresh`: with what lies in the terminals at this moment; without it, as it was last read. */
  z.object({ do: z.literal('list'), id: count, fresh: z.boolean().optional() }),
  z.object({
    do: z.literal('attach'),
    id: count,
    sessionId,
    mode: attachMode,
    readOnly: z.boolean(),
    from: count.optional(),
  }),
  z.object({
    do: z.literal('send'),
    id: count,
    sessionId,
    /** Base64: input is bytes. */
    bytes: z.string(),
    /** Base64 of what is sent in their place to a program that has the cursor keys in application mode (DECCKM). */
    applicationBytes: z.string().optional(),
    /** `auto` brackets when the program has asked for it. */
    paste: z.enum(['auto', 'always', 'never']),
    enter: z.boolean(),
    /** The daemon's: what was typed under it is not typed again. */
    inputId: z.string().min(1).max(256).optional(),
  }),
  /** What was typed under ids, as far as it is remembered. */
  z.object({ do: z.literal('inputs'), id: count, sessionId }),
  z.object({ do: z.literal('resize'), id: count, sessionId, ...size }),
  z.object({ do: z.literal('screen'), id: count, sessionId }),
  z.object({ do: z.literal('wait'), id: count, sessionId, until: waitFor, withinMs: z.int().positive() }),
  /** Ends the process if it holds no session. */
  z.object({ do: z.literal('leave'), id: count }),
]);
export type HostRequest = z.infer<typeof requestSchema>;
export type RequestOf<Verb extends HostRequest['do']> = Extract<HostRequest, { do: Verb }>;

export const linkProcess = z.object({ pid: z.int(), start: z.string(), pidfs: z.string().nullable() });
export const launchReady = z.object({
  guardian: linkProcess,
  workload: linkProcess,
  bootId: z.string(),
  pidns: z.string(),
  timens: z.string(),
  uid: z.int(),
});

export const captureEnd = z.object({
  /** The end marker was read: every byte that the work wrote is in the transcript, unless `reason` says otherwise. */
  eof: z.boolean(),
  complete: z.boolean(),
  reason: z.string().nullable(),
  bytes: count,
});
export type CaptureEnd = z.infer<typeof captureEnd>;

/** `errno` as the kernel numbers it (errno(3)). */
export const captureFault = z.object({ reason: z.string(), errno: z.int(), code: z.string() });
export type CaptureFault = z.infer<typeof captureFault>;

export const sessionReport = z.object({
  sessionId,
  state: z.enum(['gated', 'running', 'ended']),
  ...size,
  bytes: count,
  /** Counts batches of output; moves exactly when something was written. */
  activitySeq: count,
  /** Milliseconds since the last output, on the host's monotonic clock. */
  quietMs: count,
  viewers: count,
  pendingInputBytes: count,
  guardian: z.enum(['living', 'ended']),
  fault: captureFault.nullable(),
  end: captureEnd.nullable(),
});
export type SessionReport = z.infer<typeof sessionReport>;

/** Pushed by the host. To the daemon about every session, to a viewer about its own. */
export const eventSchema = z.discriminatedUnion('event', [
  /** `quietMs`: how long ago the last of it came; this event may be late. A host of version 1 does not say. */
  z.object({
    event: z.literal('activity'),
    sessionId,
    activitySeq: count,
    bytes: count,
    quietMs: count.optional(),
  }),
  z.object({ event: z.literal('input'), sessionId, bytes: count }),
  /** Typed by `send` under an id; told once, when the terminal has the last byte. */
  z.object({ event: z.literal('typed'), sessionId, inputId: z.string(), bytes: count }),
  z.object({ event: z.literal('fault'), sessionId, fault: captureFault }),
  z.object({ event: z.literal('guardianEnded'), sessionId }),
  z.object({ event: z.literal('captureEnded'), sessionId, end: captureEnd }),
  /** What a viewer did not get. A screen follows. */
  z.object({ event: z.literal('gap'), sessionId, from: count, to: count }),
  /** Base64 of what brings a freshly reset terminal of this size into the state at `offset`; output goes on from there. */
  z.object({ event: z.literal('screen'), sessionId, offset: count, ...size, repaint: z.string() }),
  z.object({ event: z.literal('resized'), sessionId, ...size }),
]);
export type HostEvent = z.infer<typeof eventSchema>;

export const replySchema = z.union([
  z.object({ reply: count, ok: z.literal(true), data: z.unknown() }),
  z.object({
    reply: count,
    ok: z.literal(false),
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
  }),
]);
export type HostReply = z.infer<typeof replySchema>;
