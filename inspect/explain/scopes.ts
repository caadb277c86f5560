/** What others have to know of a scope that stands in their way or works for them: always by the one assessment (OWN-01). */

import type { HostedEnvelope } from '../../actors/host/outcome.ts';
import { everyActor, intact } from '../../actors/runtime/actorAccess.ts';
import { type Assessment, assessOwnership, holdsOthersUp } from '../../machines/assessment.ts';
import { timeOf } from './last.ts';
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

/** Who its guardian lists, or that it did not say; undefined where nobody has asked. */
export function holdersOf(source: ExplainSource, scopeId: string): string | undefined {
  const membership = source.membersOf(scopeId);
  if (membership === undefined) return undefined;
  if (membership === 'unanswered')
    return `its guardian did not answer just now, so who is in the tree could not be had${sinceLook(source, scopeId)}`;
  const { members, total } = membership;
  if (total === 0) return 'its guardian lists nobody any more';
  const named = members.map(
    ({ pid, name, state }) => `pid ${pid}${name ? ` (${name})` : ''}${state === 'Z' ? ', a zombie' : ''}`,
  );
  const left = total - Math.min(members.length, 5);
  return `its guardian lists ${listed(named.slice(0, 5))}${left > 0 ? ` and ${left} more` : ''}`;
}

/** The age of what is known of its guardian: it may have ended since. */
function sinceLook({ journal }: ExplainSource, scopeId: string): string {
  const types = ['guardian.observed', 'guardian.attached'] as const;
  const actor = { kind: 'executionScope', id: scopeId };
  for (const type of types) {
    const [entry] = journal.page({ actor, type, newestFirst: true, limit: 1 });
    if (entry?.intact !== true) continue;
    const { at, payload } = entry.envelope as HostedEnvelope;
    const seen = typeof payload.result === 'string' ? payload.result : 'alive';
    return `; the last news of it on record, of ${timeOf(at.wallMs) ?? 'an unknown time'}, is that it was ${seen}`;
  }
  return '';
}

/** Why the last look at its guardian said nothing certain. */
export const lastLook = (look: { readonly result: string; readonly reason: string } | null): string =>
  look === null
    ? 'its guardian was never looked at'
    : `the last look at its guardian said ${look.result} (${inWords(look.reason)})`;
