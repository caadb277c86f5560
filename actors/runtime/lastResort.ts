/** What can still be done about a scope that nothing will prove any more. */
import type { Assessment } from '../../machines/assessment.ts';

/** Records that cannot be trusted take no assumption either. */
const unreadable: ReadonlySet<string> = new Set(['record_corrupt', 'proof_missing', 'witness_conflict']);

/** Where a worker launched it: the one around it can prove its end, as soon as that one has ended itself (REPL-02). */
export const nestedResort = (parentScopeId: string | null | undefined, assessment: Assessment): readonly string[] =>
  parentScopeId &&
  assessment.state === 'unverified' &&
  assessment.certainty === 'gap' &&
  assessment.assumed === undefined
    ? ['custody recover --now']
    : [];

/** The command that breaks the glass; nothing while there is hope of a proof (ruling 16 for the foreign namespace). */
export function lastResort(scopeId: string, assessment: Assessment): readonly string[] {
  if (assessment.state !== 'unverified' || assessment.assumed !== undefined) return [];
  const isHopeless =
    assessment.reason === 'namespace_mismatch' ||
    (assessment.certainty === 'gap' && !unreadable.has(assessment.reason));
  return isHopeless ? [`custody recover --assume-ended ${scopeId} --because TEXT`] : [];
}
