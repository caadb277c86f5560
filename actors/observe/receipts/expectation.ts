import type {
  Receipt,
  ReceiptKind,
  ReceiptProcess,
  StartReceipt,
  WorkloadOutcome,
} from '../../../pty/guardian/receipt.ts';

/** The reserved file that the launcher created and recorded before anything ran. */
export interface Slot {
  readonly dev: string;
  readonly ino: string;
}

/** Everything that is known about the receipt from elsewhere. A field that is left out is not compared. */
export interface ReceiptExpectation {
  readonly scopeId: string;
  readonly slot: Slot;
  /** SHA-256, hex, of this kind's nonce; the nonce itself is known to the guardian alone until it publishes. */
  readonly nonceHash: string;
  readonly installationId: string;
  readonly uid: number;
  readonly bootId?: string | undefined;
  readonly pidns?: string | undefined;
  readonly timens?: string | undefined;
  /** From the handshake. Where the daemon died before it was recorded, the start receipt says it. */
  readonly guardian?: ReceiptProcess | undefined;
  readonly workload?: ReceiptProcess | undefined;
  /** The scope whose guardian is to be the next subreaper; null when there is none. */
  readonly enclosingScopeId?: string | null | undefined;
  /** Authentic start receipt of the same scope, when it is there. */
  readonly start?: StartReceipt | undefined;
  /** The leader's end, from the status receipt or a row. Required for an exit receipt, which is published later. */
  readonly status?: (WorkloadOutcome & { readonly atNs?: string | undefined }) | undefined;
  /** The boot clock now; receipts of this boot cannot come from later. */
  readonly now?: { readonly bootId: string; readonly boottimeMs: number } | undefined;
}

export interface ReceiptRequest {
  readonly scopeDir: string;
  readonly kind: ReceiptKind;
  readonly expected: ReceiptExpectation;
}

export type ReceiptReading =
  | { readonly status: 'absent'; readonly missing: 'directory' | 'receipt' }
  | {
      readonly status: 'authentic';
      readonly receipt: Receipt;
      /** The file as it was read: the copy that goes into the journal (REPL-08). */
      readonly bytes: Buffer;
      /** SHA-256, hex. */
      readonly bytesDigest: string;
      readonly slot: Slot;
    }
  | { readonly status: 'not_authentic'; readonly reason: string };
