/** Words for what is known and how: the proofs that exist (OWN-05), why coverage was lost, why a drain began. */
import type { z } from 'zod';
import type { Payload } from './events/catalogue.ts';
import type { proofKindSchema } from './events/run.ts';
import type { drainCauseSchema, gapReasonSchema } from './events/scope.ts';

export type DrainCause = z.infer<typeof drainCauseSchema>;
export type GapReason = z.infer<typeof gapReasonSchema>;

/** The three proofs that a tree is gone, and the fact that none was ever started. */
export type ProofKind = z.infer<typeof proofKindSchema>;

export interface Proof {
  readonly kind: ProofKind;
  /** The journal event that carried the evidence. */
  readonly eventId: string;
}

type StatusReceipt = Payload<'workload.statusReceipt'>;
/** The leader's end; the numbers that do not apply to `how` are null (wait(2)). */
export type WorkloadResult = Readonly<Pick<StatusReceipt, 'how' | 'code' | 'signal' | 'errno' | 'waitStatus'>>;

export const resultOf = ({ how, code, signal, errno, waitStatus }: WorkloadResult): WorkloadResult => ({
  how,
  code,
  signal,
  errno,
  waitStatus,
});
