/** What a guard asks for, and what is so where it refuses, in the clauses of the charts' own table. */
import { guardSentence } from '../../machines/guardSentences.ts';
import type { ActorKind } from '../../machines/ids.ts';

/** What would have to be so. `name` as guards are named where they refuse: `hasAuthoredRound`, `not isOldSettled`. */
export const demand = (kind: ActorKind, name: string): string => clause(kind, name, 'holds');

/** What is so instead. */
export const refusal = (kind: ActorKind, name: string): string => clause(kind, name, 'fails');

function clause(kind: ActorKind, name: string, side: 'holds' | 'fails'): string {
  if (name.startsWith('not ')) return clause(kind, name.slice(4), side === 'holds' ? 'fails' : 'holds');
  // Conditions that are made of several have no clause of their own.
  if (/ (and|or) |^\(/.test(name)) return side === 'holds' ? `${name} holds` : `${name} does not hold`;
  return guardSentence(kind, name)[side];
}
