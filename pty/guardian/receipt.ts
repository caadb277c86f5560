/**
 * The three receipts of a guardian, as data: what the bytes of start.json, status.json and exit.json must be. Pure: the
 * reader decides which file these bytes came from and whether they belong to the launch in question.
 */
import { z } from 'zod';

/** Size of a receipt file, padding and final newline included; any other length is a torn or foreign file. */
export const receiptBytes = 4096;

const decimal = z.string().regex(/^(0|[1-9][0-9]{0,19})$/);
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const nonce = z.string().regex(/^[0-9a-f]{32}$/);
const count = z.int().min(0);

/** A process as the guardian saw it: clock ticks since boot, and the pidfs inode where the kernel has it (6.9). */
const processSchema = z.strictObject({ pid: z.int().min(1), start: decimal, pidfs: decimal.nullable() });

const how = z.enum(['exited', 'signaled', 'dumped', 'execFailed', 'notReleased']);

const binding = {
  scope: name,
  nonce,
  installation: name,
  boot: z.uuid(),
  pidns: decimal,
  timens: decimal,
  uid: count,
  guardian: processSchema,
  workload: processSchema,
  enclosing: z.strictObject({ scope: name, guardian: processSchema }).nullable(),
};

const outcome = {
  how,
  code: z.int().min(0).max(255).nullable(),
  signal: z.int().min(1).max(64).nullable(),
  errno: z.int().min(1).nullable(),
  waitStatus: z.int().min(0).max(0xffff),
};

const outcomeSchema = z.object(outcome);

const atNs = { atNs: decimal };

const startSchema = z.strictObject({ v: z.literal(1), kind: z.literal('start'), ...binding, ...atNs });

const statusSchema = z
  .strictObject({ v: z.literal(1), kind: z.literal('status'), ...binding, ...outcome, ...atNs })
  .refine(outcomeAgrees, { error: 'outcome_contradicts_itself' });

const exitSchema = z
  .strictObject({
    v: z.literal(1),
    kind: z.literal('exit'),
    claim: z.literal('no-descendants'),
    ...binding,
    ...outcome,
    proof: z.literal('ECHILD'),
    reaped: z.int().min(1),
    adopted: count,
    terminated: z.boolean(),
    lostNested: count,
    ...atNs,
  })
  .refine(outcomeAgrees, { error: 'outcome_contradicts_itself' });

const schemas = { start: startSchema, status: statusSchema, exit: exitSchema };

export type ReceiptKind = keyof typeof schemas;
export type ReceiptProcess = z.infer<typeof processSchema>;
export type StartReceipt = z.infer<typeof startSchema>;
export type StatusReceipt = z.infer<typeof statusSchema>;
export type ExitReceipt = z.infer<typeof exitSchema>;
export type Receipt = StartReceipt | StatusReceipt | ExitReceipt;
export type WorkloadOutcome = z.infer<typeof outcomeSchema>;

/** Why bytes are no receipt. `not_canonical` covers other key order, doubled keys, spaces inside and trailing data. */
export type ReceiptFault =
  | 'wrong_length'
  | 'not_terminated'
  | 'not_utf8'
  | 'not_json'
  | 'unknown_version'
  | 'wrong_kind'
  | 'wrong_fields'
  | 'not_canonical';

export type ParsedReceipt<K extends ReceiptKind> =
  | { ok: true; receipt: Extract<Receipt, { kind: K }> }
  | { ok: false; reason: ReceiptFault };

/** Each way to end fills its own fields and leaves the others null, and the raw wait status says the same. */
function outcomeAgrees(o: WorkloadOutcome): boolean {
  const [exitCode, signal, dumped] = [o.waitStatus >> 8, o.waitStatus & 0x7f, (o.waitStatus & 0x80) !== 0];
  switch (o.how) {
    case 'exited':
      return o.code === exitCode && signal === 0 && !dumped && o.signal === null && o.errno === null;
    case 'execFailed':
      return o.code === exitCode && signal === 0 && !dumped && o.signal === null && o.errno !== null;
    case 'signaled':
    case 'dumped':
      return o.signal === signal && dumped === (o.how === 'dumped') && o.code === null;
    case 'notReleased':
      return o.code === null && o.signal === null && o.errno === null;
  }
}

/**
 * Reads one receipt from the bytes of its file. The guardian writes exactly one text for one content, so the bytes must
 * equal what the parsed receipt would be written as: nothing can hide in doubled keys or behind the line.
 */
export function parseReceipt<K extends ReceiptKind>(kind: K, bytes: Uint8Array): ParsedReceipt<K> {
  const refused = (reason: ReceiptFault): ParsedReceipt<K> => ({ ok: false, reason });
  if (bytes.length !== receiptBytes) return refused('wrong_length');
  if (bytes[receiptBytes - 1] !== 0x0a) return refused('not_terminated');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, receiptBytes - 1));
  } catch {
    return refused('not_utf8');
  }
  try {
    value = JSON.parse(text);
  } catch {
    return refused('not_json');
  }
  if (typeof value !== 'object' || value === null) return refused('wrong_fields');
  if ((value as { v?: unknown }).v !== 1) return refused('unknown_version');
  if ((value as { kind?: unknown }).kind !== kind) return refused('wrong_kind');
  const parsed = schemas[kind].safeParse(value);
  if (!parsed.success) return refused('wrong_fields');
  if (JSON.stringify(parsed.data).padEnd(receiptBytes - 1, ' ') !== text) return refused('not_canonical');
  return { ok: true, receipt: parsed.data as Extract<Receipt, { kind: K }> };
}
