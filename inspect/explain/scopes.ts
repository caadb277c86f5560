/** What others have to know of a scope that stands in their way or works for them: always by the one assessment (OWN-01). */

import { everyActor, intact } from '../../actors/runtime/actorAccess.ts';
import { type Assessment, assessOwnership, holdsOthersUp } from '../../machines/assessment.ts';
import type { ExplainSource } from './source.ts';
import { inWords, listed, verdictInWords } from './words.ts';

export interface ScopeStanding {
  readonly scopeId: string;
  readonly assessment: Assessment;
  /** Others wait for it: it is live, or unverified and nobody answers for it. */
  readonly holdsUp: boolean;
}

export function standingOf(source: ExplainSource, scopeId: string): ScopeStanding | undefined {
  const scope = intact(source.host, 'executionScope', scopeId);
  if (scope === undefined) return undefined;
  const assessment = assessOwnership(scope, source.isLaunchedHere(scopeId));
  return { scopeId, assessment, holdsUp: holdsOthersUp(assessment) };
}

/** Scopes that carry the link and are not released, oldest first. */
export function openScopes(source: ExplainSource, name: string, value: string): readonly ScopeStanding[] {
  const open = everyActor(source.host, 'executionScope', { released: false, link: { name, value } });
  return [...open].flatMap(({ id }) => standingOf(source, id) ?? []);
}

/** `scope S1 is live`. */
export const standingInWords = ({ scopeId, assessment }: ScopeStanding): string =>
  `scope ${scopeId} ${verdictInWords(assessment)}`;

/** Who its guardian lists; undefined where nobody has asked, or nobody answered. */
export function holdersOf(source: ExplainSource, scopeId: string): string | undefined {
  const membership = source.membersOf(scopeId);
  if (membership === undefined) return undefined;
  const { members, total } = membership;
  if (total === 0) return 'its guardian lists nobody any more';
  const named = members.map(
    ({ pid, name, state }) => `pid ${pid}${name ? ` (${name})` : ''}${state === 'Z' ? ', a zombie' : ''}`,
  );
  const left = total - Math.min(members.length, 5);
  return `its guardian lists ${listed(named.slice(0, 5))}${left > 0 ? ` and ${left} more` : ''}`;
}

/** Why the last look at its guardian said nothing certain. */
export const lastLook = (look: { readonly result: string; readonly reason: string } | null): string =>
  look === null
    ? 'its guardian was never looked at'
    : `the last look at its guardian said ${look.result} (${inWords(look.reason)})`;
