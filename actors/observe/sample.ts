import type { Observation } from '../../machines/identity.ts';

/** How far the identity behind an observation reaches beyond boot, namespace, pid and start ticks. */
export type IdentityStrength =
  /** Start ticks only: two processes born within one 10 ms tick under one pid look the same. */
  | 'ticks'
  /** A pidfd that another process holds names the very same kernel object. */
  | 'pidfd'
  /** A descriptor of ours was opened on it earlier and can never show another process. */
  | 'pinned';

/** An observation and how sure it is of whom it saw. */
export interface Sample extends Observation {
  readonly strength: IdentityStrength;
}
