/** Which invariants a real journal is held against: those that speak of records alone, and of no actor of a configuration by its name. */

import { generationInvariants } from './invariants/generation.ts';
import { goalInvariants, integrationInvariants } from './invariants/goal.ts';
import { runInvariants, runScopeInvariants } from './invariants/run.ts';
import { orderInvariants, proofInvariants } from './invariants/scope.ts';
import { sessionInvariants, sessionScopeInvariants } from './invariants/session.ts';
import { exitsOnce } from './invariants/worker.ts';
import type { Invariant } from './model.ts';

/** Asked of each event by itself: nobody else has to be looked at. */
const ofOne: readonly Invariant<never>[] = [
  ...proofInvariants,
  ...orderInvariants,
  ...runInvariants,
  ...sessionInvariants,
  ...goalInvariants,
  ...integrationInvariants,
  exitsOnce,
];

/** Asked of a whole commit, of everybody whom it touched and those who belong to them. */
const ofSeveral: readonly Invariant<never>[] = [
  ...runScopeInvariants,
  ...generationInvariants,
  ...sessionScopeInvariants,
];

const only = (invariants: readonly Invariant<never>[], what: 'holds' | 'keeps'): readonly Invariant<never>[] =>
  invariants.flatMap((invariant) => {
    const { id, title } = invariant;
    const law = invariant[what];
    return law === undefined ? [] : [{ id, title, [what]: law } as Invariant<never>];
  });

export const eventInvariants: readonly Invariant<never>[] = only(ofOne, 'keeps');
export const commitInvariants: readonly Invariant<never>[] = [...only(ofOne, 'holds'), ...ofSeveral];
