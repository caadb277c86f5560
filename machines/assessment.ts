/**
 * The shared ownership assessment (OWN-01): the one place that says what the evidence about a scope amounts to.
 * Admission, capacity, recovery, cleanup, shutdown, retention, worktree protection, status and doctor all ask here.
 */

import type { ProofKind } from './evidence.ts';
import type { ScopeSnapshot } from './executionScope.ts';
import type { Assumption } from './executionScopeParts.ts';

export type Assessment =
  | { readonly state: 'live' }
  | { readonly state: 'exited'; readonly proof: ProofKind }
  | {
      readonly state: 'unverified';
      readonly certainty: 'transient' | 'gap';
      readonly reason: string;
      /** Somebody answers for it that nobody is left. Nothing is proved by that, and nobody else has to wait for it. */
      readonly assumed?: Assumption;
    };

/**
 * `corrupt` is a scope whose row could not be trusted; it counts as unverified for itself alone (OWN-10). Whether a
 * launch in flight belongs to this daemon is known only to its coordinator, hence `isLaunchedHere`.
 */
export function assessOwnership(scope: ScopeSnapshot | 'corrupt', isLaunchedHere = true): Assessment {
  if (scope === 'corrupt') return { state: 'unverified', certainty: 'gap', reason: 'record_corrupt' };
  const { context } = scope;
  if (scope.matches({ coverage: 'exitedProved' }) || scope.matches({ coverage: 'neverLaunched' })) {
    // A state that came without its proof, as from a row that somebody edited, establishes nothing (OWN-04).
    if (context.proof === null) return { state: 'unverified', certainty: 'gap', reason: 'proof_missing' };
    return { state: 'exited', proof: context.proof.kind };
  }
  const assumed = assumptionOf(scope);
  if (context.witnessConflicts.length > 0)
    return { state: 'unverified', certainty: 'gap', reason: 'witness_conflict', ...assumed };
  if (scope.matches({ coverage: { unverified: 'gap' } })) {
    return { state: 'unverified', certainty: 'gap', reason: context.gaps.at(-1) ?? 'guardian_gone', ...assumed };
  }
  if (scope.matches({ coverage: { unverified: 'transient' } })) {
    const reason = context.guardianLast?.reason ?? 'not_observed';
    return { state: 'unverified', certainty: 'transient', reason, ...assumed };
  }
  if (scope.matches({ coverage: 'launching' }) && !isLaunchedHere) {
    return { state: 'unverified', certainty: 'transient', reason: 'launch_unresolved' };
  }
  return { state: 'live' };
}

function assumptionOf(scope: ScopeSnapshot): { readonly assumed?: Assumption } {
  const { assumed } = scope.context;
  return assumed !== null && scope.matches({ coverage: 'unverified' }) ? { assumed } : {};
}

/** Whether others have to wait for this scope: not when its end is proved, nor when somebody answers for it. */
export const holdsOthersUp = (assessment: Assessment): boolean =>
  assessment.state === 'live' || (assessment.state === 'unverified' && assessment.assumed === undefined);

/** A tree whose root has ended and of which its guardian lists nobody but residents: live, and not at work. */
export const isLeftToResidents = (scope: ScopeSnapshot): boolean =>
  scope.context.residentsOnly && scope.matches({ coverage: 'live' });

/**
 * Live and unverified scopes hold exactly one slot each; Custody's own short effects hold none, residents that are seen to
 * be alone hold none either, and nor does what others have launched (OWN-02, GOAL-04, ruling 25, D1).
 */
export function holdsSlot(scope: ScopeSnapshot | 'corrupt'): boolean {
  if (scope !== 'corrupt' && (scope.context.kind === 'effect' || scope.context.controller !== null)) return false;
  if (scope !== 'corrupt' && isLeftToResidents(scope)) return false;
  return holdsOthersUp(assessOwnership(scope));
}
