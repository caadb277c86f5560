/** What is seen of a guardian, what is lost, who answers for it, and how an ordered end goes on. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { sampledAt } from '../evidence.ts';
import { coverageOf, isGap, isOver, one, terminationOf } from '../facts.ts';
import { type Due, type Records, say, type Word } from '../model.ts';
import { type Forest, treeOf } from '../tree.ts';
import { dueByCoverage, word } from './launching.ts';

export function guardianWords<T extends Forest>(id: string): readonly Word<T>[] {
  const look = (result: 'alive' | 'absent' | 'unknown', reason: string = result) =>
    say(id, 'guardian.observed', { result, reason, contextDigest: '', sampledAt });
  const lost = (reason: Payload<'coverage.gap'>['reason']) => say(id, 'coverage.gap', { reason });
  const watched = dueByCoverage(id, (coverage) => ['gated', 'live', 'unverified.transient'].includes(coverage));
  const losable = dueByCoverage(id, (coverage) => coverage !== 'requested' && !isOverState(coverage));
  const isDead = (truth: T): boolean => treeOf(truth, id).guardian === 'dead';
  return [
    word(`${id}: guardian seen alive`, look('alive'), {
      by: 'observer',
      when: (truth) => treeOf(truth, id).guardian !== 'none',
      due: watched,
    }),
    word(`${id}: guardian seen absent`, look('absent'), { by: 'observer', when: isDead, due: watched }),
    word(`${id}: guardian unseen`, look('unknown'), { by: 'observer', due: watched }),
    word(`${id}: guardian of another namespace`, look('unknown', 'namespace_mismatch'), {
      by: 'observer',
      due: watched,
    }),
    word(`${id}: gap, guardian gone`, lost('guardian_gone'), { when: isDead, due: losable }),
    word(`${id}: gap, record lost`, lost('record_lost'), { due: losable }),
  ];
}

const isOverState = (coverage: string): boolean => coverage === 'exitedProved' || coverage === 'neverLaunched';

export function assumptionWords<T extends Forest>(id: string): readonly Word<T>[] {
  const assumed = (because: string) =>
    say(id, 'end.assumed', { requestId: 'q', actor: 'operator', because, atWallMs: 1, observed: [] });
  return ['says one', 'says another'].map((because) =>
    word(`${id}: assumed gone, ${because}`, assumed(because), {
      by: 'operator',
      due: (records) => assumptionDue(records, id),
    }),
  );
}

/** Only of ours, only once, and only where nothing can prove it any more: a gap, or processes of another namespace (D1). */
function assumptionDue(records: Records, id: string): Due {
  const scope = one(records, 'executionScope', id);
  if (scope === null || scope.context.assumed !== null) return 'refused';
  const isForeign = scope.context.guardianLast?.reason === 'namespace_mismatch';
  const isBeyondProof = isGap(scope)
    ? scope.context.controller === null
    : coverageOf(scope) === 'unverified.transient' && isForeign;
  return isBeyondProof ? 'accepted' : 'refused';
}

export function witnessWords<T extends Forest>(id: string): readonly Word<T>[] {
  const merged = (witnesses: Readonly<Record<string, string>>) =>
    say(id, 'witness.merged', { witnesses, basisVersion: 1 });
  return [
    word(`${id}: witness`, merged({ '300': '9000' }), { by: 'observer' }),
    word(`${id}: conflicting witness`, merged({ '101': 'other' }), { by: 'observer' }),
  ];
}

export function drainWords<T extends Forest>(id: string): readonly Word<T>[] {
  const requested = (cause: Payload<'drain.requested'>['cause']) =>
    say(id, 'drain.requested', { cause, requestId: `to ${cause}` });
  return [
    word(`${id}: drain, stop`, requested('stop'), { by: 'operator', due: (records) => drainDue(records, id, 'stop') }),
    word(`${id}: drain, superseded`, requested('superseded'), {
      due: (records) => drainDue(records, id, 'superseded'),
    }),
    word(`${id}: drain quiesced`, say(id, 'drain.quiesced', { members: {}, total: 0, scans: 2 })),
    word(`${id}: drain signalled`, say(id, 'drain.signalled', { signalled: 1, skippedGuardians: 0 })),
    word(`${id}: drain budget exhausted`, say(id, 'drain.budgetExhausted', { elapsedMs: 5_000, survivors: 1 }), {
      by: 'clock',
      isClock: true,
    }),
    word(`${id}: drain cannot look`, say(id, 'drain.inspectionFailed', { reasonCode: 'proc_hidden', resumed: 1 })),
  ];
}

function drainDue(records: Records, id: string, cause: 'stop' | 'superseded'): Due {
  const scope = one(records, 'executionScope', id);
  if (scope === null) return 'refused';
  const termination = terminationOf(scope);
  if (termination !== 'idle' && termination !== 'stalled') return 'accepted';
  // A publication that has begun is not drained by what supersedes it (OCC-05, I-18).
  if (cause === 'superseded' && scope.context.openSideEffects.length > 0) return 'refused';
  if (termination === 'stalled') return 'accepted';
  return scope.context.controller === null && !isOver(scope) ? 'accepted' : 'refused';
}

export function publicationWords<T extends Forest>(id: string): readonly Word<T>[] {
  const live = dueByCoverage(id, (coverage) => coverage === 'live');
  return [
    word(`${id}: publication begun`, say(id, 'sideEffect.committed', { effectId: 'push' }), {
      by: 'worker',
      due: live,
    }),
    word(`${id}: publication over`, say(id, 'sideEffect.done', { effectId: 'push' }), { by: 'worker', due: live }),
  ];
}

export function residentWords<T extends Forest>(id: string): readonly Word<T>[] {
  const due = (records: Records): Due => {
    const scope = one(records, 'executionScope', id);
    const isListed = scope !== null && scope.context.residents.length > 0 && coverageOf(scope) === 'live';
    return isListed && scope.context.status !== null ? 'accepted' : 'refused';
  };
  return [true, false].map((alone) =>
    word(`${id}: residents ${alone ? 'alone' : 'not alone'}`, say(id, 'residents.observed', { alone }), {
      by: `guardian of ${id}`,
      due,
    }),
  );
}

export const externalWords = <T extends Forest>(id: string): readonly Word<T>[] => [
  word(`${id}: registered externally`, say(id, 'scope.registeredExternally', { reason: 'legacy' }), {
    by: 'adapter',
    due: dueByCoverage(id, (coverage) => coverage === 'requested'),
  }),
];
