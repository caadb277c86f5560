/**
 * What an acceptance run observed (FAULT-01…12, PROMO-08): made by `custody acceptance`, kept in the store, asked for by
 * the promotion gate, and the source of docs/acceptance.md.
 */

/** `not_run` is never taken for `passed`. */
export type Verdict = 'passed' | 'failed' | 'not_run';

export interface AcceptanceRow {
  /** `FAULT-06`, or one of the `verifications`. */
  readonly id: string;
  readonly fault: string;
  readonly required: string;
  /** Sentences of our own with counts in them; nothing that a workload said. */
  readonly observed: readonly string[];
  readonly verdict: Verdict;
}

/** Without each of these nobody may call it ready for active use (PROMO-08). */
export const verifications = ['containment_contract', 'migration', 'rollback', 'retention'] as const;

export interface AcceptanceReport {
  readonly format: 'custody-acceptance/1';
  /** The digest is over the bundles of `dist`: another program has not been tried. */
  readonly program: { readonly version: string; readonly digest: string };
  readonly host: { readonly kernel: string; readonly guardianDigest: string };
  readonly endedWallMs: number;
  readonly faults: readonly AcceptanceRow[];
  readonly verifications: readonly AcceptanceRow[];
  /** No unjustified eligibility anywhere in the matrix. */
  readonly safety: Verdict;
  /** Whatever ended converged once it could be observed. */
  readonly progress: Verdict;
  /** `ready` only where every row, safety and progress have passed. */
  readonly verdict: 'ready' | 'not_ready';
}
