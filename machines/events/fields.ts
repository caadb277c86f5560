/** Field shapes that several events share. Durations are whole milliseconds, digests lowercase hex SHA-256. */
import { z } from 'zod';
import { bootIdSchema, decimalSchema, pidSchema } from '../identity.ts';

export const digest = z.string().regex(/^[0-9a-f]{64}$/);
export const durationMs = z.int().min(0);
export const actorName = z.string().min(1).max(128);
/** Becomes part of an event id, which has room for 256 characters in all. */
export const effectId = z.string().min(1).max(128);
export const requestId = z.string().min(1).max(128);
export const reasonCode = z.string().regex(/^[a-z0-9_]{1,64}$/);
export const revision = z.int().min(0);
export const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
export const reference = z.string().min(1).max(512);
export const freeText = z.string().max(500);

/** A process as the guardian names it in a receipt: start time in clock ticks, pidfs inode where the kernel has one. */
export const receiptProcess = z.strictObject({ pid: pidSchema, start: decimalSchema, pidfs: decimalSchema.nullable() });
export type ReceiptProcess = z.infer<typeof receiptProcess>;

export const fileIdentity = z.strictObject({ dev: decimalSchema, ino: decimalSchema });
export type FileIdentity = z.infer<typeof fileIdentity>;

/** What a receipt is bound to; the machine compares every one of these with its own record (GRD-05). */
export const receiptBinding = {
  dev: decimalSchema,
  ino: decimalSchema,
  guardian: receiptProcess,
  workload: receiptProcess,
  bootId: bootIdSchema,
  bytesDigest: digest,
  /** The receipt's text without its padding, kept so that losing the file reopens no question (REPL-08). */
  receiptText: z.string().max(4096),
  authentic: z.boolean(),
};
