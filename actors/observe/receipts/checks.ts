import { createHash } from 'node:crypto';
import {
  type Receipt,
  type ReceiptProcess,
  receiptBytes,
  type WorkloadOutcome,
} from '../../../pty/guardian/receipt.ts';
import type { ReceiptExpectation } from './expectation.ts';
import type { FileFacts } from './files.ts';

export interface FileEvidence {
  readonly directory: FileFacts;
  readonly file: FileFacts;
  readonly expected: ReceiptExpectation;
}

export interface BytesEvidence extends FileEvidence {
  /** What the name stands for after the bytes were read. */
  readonly named: FileFacts;
  readonly bytes: Buffer;
  readonly length: number;
}

export interface ContentEvidence extends BytesEvidence {
  readonly receipt: Receipt;
}

/**
 * One reason to refuse a receipt. They are a list, so that a test can leave out each one in turn and show that the forgery
 * made for it would then be believed.
 */
export type ReceiptCheck = {
  readonly reason: string;
} & (
  | { readonly stage: 'open'; readonly of: 'directory' | 'file' }
  | { readonly stage: 'file'; readonly holds: (evidence: FileEvidence) => boolean }
  | { readonly stage: 'bytes'; readonly holds: (evidence: BytesEvidence) => boolean }
  | { readonly stage: 'content'; readonly holds: (evidence: ContentEvidence) => boolean }
);

const OTHERS_BITS = 0o077;
/** The boot clock is read in steps of 10 ms, the guardian reads it in nanoseconds. */
const CLOCK_SLACK_NS = 1_000_000_000n;

function same(recorded: ReceiptProcess | undefined, named: ReceiptProcess): boolean {
  if (recorded === undefined) return true;
  return recorded.pid === named.pid && recorded.start === named.start && recorded.pidfs === named.pidfs;
}

function equalIfKnown(expected: string | undefined, found: string): boolean {
  return expected === undefined || expected === found;
}

function repeats(recorded: WorkloadOutcome, found: WorkloadOutcome): boolean {
  return (
    recorded.how === found.how &&
    recorded.code === found.code &&
    recorded.signal === found.signal &&
    recorded.errno === found.errno &&
    recorded.waitStatus === found.waitStatus
  );
}

/** Everybody who was reaped besides the leader counts as adopted, so there is always one more of the former. */
function isPossible(receipt: Receipt): boolean {
  return receipt.kind !== 'exit' || receipt.adopted < receipt.reaped;
}

function isInOrder({ receipt, expected }: ContentEvidence): boolean {
  if (receipt.kind === 'start') return true;
  const earlier = receipt.kind === 'exit' ? (expected.status?.atNs ?? expected.start?.atNs) : expected.start?.atNs;
  return earlier === undefined || BigInt(receipt.atNs) >= BigInt(earlier);
}

function isPast({ receipt, expected: { now } }: ContentEvidence): boolean {
  if (now === undefined || now.bootId !== receipt.boot) return true;
  return BigInt(receipt.atNs) <= BigInt(Math.ceil(now.boottimeMs)) * 1_000_000n + CLOCK_SLACK_NS;
}

/** In the order in which they are made; the first that fails names the refusal. */
export const receiptChecks: readonly ReceiptCheck[] = [
  { stage: 'open', of: 'directory', reason: 'directory_symlink' },
  { stage: 'open', of: 'file', reason: 'symlink' },
  { stage: 'file', reason: 'directory_owner', holds: ({ directory, expected }) => directory.uid === expected.uid },
  { stage: 'file', reason: 'directory_mode', holds: ({ directory }) => (directory.mode & OTHERS_BITS) === 0 },
  { stage: 'file', reason: 'not_regular', holds: ({ file }) => file.type === 'file' },
  {
    stage: 'file',
    reason: 'wrong_inode',
    holds: ({ file, expected: { slot } }) => file.dev === slot.dev && file.ino === slot.ino,
  },
  { stage: 'file', reason: 'hard_linked', holds: ({ file }) => file.links === 1 },
  { stage: 'file', reason: 'wrong_owner', holds: ({ file, expected }) => file.uid === expected.uid },
  { stage: 'file', reason: 'wrong_mode', holds: ({ file }) => file.mode === 0o600 },
  { stage: 'file', reason: 'wrong_size', holds: ({ file }) => file.size === receiptBytes },
  {
    stage: 'bytes',
    reason: 'replaced_while_read',
    holds: ({ file, named }) => file.dev === named.dev && file.ino === named.ino,
  },
  { stage: 'content', reason: 'wrong_scope', holds: ({ receipt, expected }) => receipt.scope === expected.scopeId },
  {
    stage: 'content',
    reason: 'wrong_nonce',
    holds: ({ receipt, expected }) => createHash('sha256').update(receipt.nonce).digest('hex') === expected.nonceHash,
  },
  {
    stage: 'content',
    reason: 'wrong_installation',
    holds: ({ receipt, expected }) => receipt.installation === expected.installationId,
  },
  { stage: 'content', reason: 'wrong_uid', holds: ({ receipt, expected }) => receipt.uid === expected.uid },
  {
    stage: 'content',
    reason: 'wrong_boot',
    holds: ({ receipt, expected }) => equalIfKnown(expected.bootId ?? expected.start?.boot, receipt.boot),
  },
  {
    stage: 'content',
    reason: 'wrong_pid_namespace',
    holds: ({ receipt, expected }) => equalIfKnown(expected.pidns ?? expected.start?.pidns, receipt.pidns),
  },
  {
    stage: 'content',
    reason: 'wrong_time_namespace',
    holds: ({ receipt, expected }) => equalIfKnown(expected.timens ?? expected.start?.timens, receipt.timens),
  },
  // Without a handshake on record and without a start receipt, nobody can say whose receipt this would be.
  {
    stage: 'content',
    reason: 'identities_unknown',
    holds: ({ receipt, expected: { guardian, workload, start } }) =>
      receipt.kind === 'start' || start !== undefined || (guardian !== undefined && workload !== undefined),
  },
  {
    stage: 'content',
    reason: 'wrong_guardian',
    holds: ({ receipt, expected }) => same(expected.guardian, receipt.guardian),
  },
  {
    stage: 'content',
    reason: 'wrong_workload',
    holds: ({ receipt, expected }) => same(expected.workload, receipt.workload),
  },
  {
    stage: 'content',
    reason: 'start_differs',
    holds: ({ receipt, expected: { start } }) =>
      start === undefined || (same(start.guardian, receipt.guardian) && same(start.workload, receipt.workload)),
  },
  {
    stage: 'content',
    reason: 'wrong_enclosing_scope',
    holds: ({ receipt, expected: { enclosingScopeId } }) =>
      enclosingScopeId === undefined || enclosingScopeId === (receipt.enclosing?.scope ?? null),
  },
  { stage: 'content', reason: 'impossible_counts', holds: ({ receipt }) => isPossible(receipt) },
  {
    stage: 'content',
    reason: 'status_missing',
    holds: ({ receipt, expected }) => receipt.kind !== 'exit' || expected.status !== undefined,
  },
  {
    stage: 'content',
    reason: 'status_differs',
    holds: ({ receipt, expected: { status } }) =>
      receipt.kind !== 'exit' || status === undefined || repeats(status, receipt),
  },
  { stage: 'content', reason: 'out_of_order', holds: isInOrder },
  { stage: 'content', reason: 'from_the_future', holds: isPast },
];
