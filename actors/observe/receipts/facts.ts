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
    authentic: true as const,
  };
}

function outcome({ how, code, signal, errno, waitStatus }: StatusReceipt | ExitReceipt) {
  return { how, code, signal, errno, waitStatus };
}

function statusFacts(reading: AuthenticReading, receipt: StatusReceipt) {
  return {
    type: 'workload.statusReceipt' as const,
    payload: { scopeId: receipt.scope, ...binding(reading), ...outcome(receipt) },
  };
}

function exitFacts(reading: AuthenticReading, receipt: ExitReceipt) {
  const { reaped, adopted, terminated, lostNested } = receipt;
  return {
    type: 'guardian.exitReceipt' as const,
    // The schema admits an exit receipt only with the kernel's ECHILD in it; that is what complete means.
    payload: { ...binding(reading), complete: true, reaped, adopted, terminated, lostNested, ...outcome(receipt) },
  };
}

export type ReceiptFacts = ReturnType<typeof statusFacts> | ReturnType<typeof exitFacts>;

/** Type and payload of the event for an authentic receipt; a start receipt has none, the handshake says the same. */
export function receiptFacts(reading: AuthenticReading): ReceiptFacts | undefined {
  const { receipt } = reading;
  if (receipt.kind === 'status') return statusFacts(reading, receipt);
  return receipt.kind === 'exit' ? exitFacts(reading, receipt) : undefined;
}
