import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import type { ExitReceipt, StatusReceipt } from '../../../pty/guardian/receipt.ts';
import type { ReceiptReading } from './expectation.ts';

export type AuthenticReading = Extract<ReceiptReading, { status: 'authentic' }>;

/** The facts that every receipt event carries to say which receipt it speaks of. */
function binding(reading: AuthenticReading) {
  const { receipt, slot, bytes, bytesDigest } = reading;
  return {
    dev: slot.dev,
    ino: slot.ino,
    guardian: receipt.guardian,
    workload: receipt.workload,
    bootId: receipt.boot,
    bytesDigest,
    // The padding says nothing; with it the digest can be computed again from the journal alone.
    receiptText: bytes.toString('utf8').trimEnd(),
    authentic: true,
  };
}

function outcome({ how, code, signal, errno, waitStatus }: StatusReceipt | ExitReceipt) {
  return { how, code, signal, errno, waitStatus };
}

export type ReceiptFacts =
  | { readonly type: 'workload.statusReceipt'; readonly payload: Payload<'workload.statusReceipt'> }
  | { readonly type: 'guardian.exitReceipt'; readonly payload: Payload<'guardian.exitReceipt'> };

function statusFacts(reading: AuthenticReading, receipt: StatusReceipt): ReceiptFacts {
  return {
    type: 'workload.statusReceipt',
    payload: { scopeId: receipt.scope as ScopeId, ...binding(reading), ...outcome(receipt) },
  };
}

function exitFacts(reading: AuthenticReading, receipt: ExitReceipt): ReceiptFacts {
  const { reaped, adopted, terminated, lostNested } = receipt;
  return {
    type: 'guardian.exitReceipt',
    // The schema admits an exit receipt only with the kernel's ECHILD in it; that is what complete means.
    payload: { ...binding(reading), complete: true, reaped, adopted, terminated, lostNested, ...outcome(receipt) },
  };
}

/** Type and payload of the event for an authentic receipt; a start receipt has none, the handshake says the same. */
export function receiptFacts(reading: AuthenticReading): ReceiptFacts | undefined {
  const { receipt } = reading;
  if (receipt.kind === 'status') return statusFacts(reading, receipt);
  return receipt.kind === 'exit' ? exitFacts(reading, receipt) : undefined;
}
