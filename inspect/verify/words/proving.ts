/** Receipts, boots and enclosing proofs about a scope: the true ones once they are, and every forgery at any time (GRD-05, OWN-05). */
import {
  boot,
  enclosedBy,
  enclosingChecks,
  exitReceipt,
  forgeries,
  type Launch,
  laterBoot,
  notReleased,
  processObserved,
  statusReceipt,
  stranger,
} from '../evidence.ts';
import { coverageOf, isBound, isGuardianLost, one } from '../facts.ts';
import { type Records, say, type Word } from '../model.ts';
import { type Forest, isTreeAlive, treeOf } from '../tree.ts';
import { dueByCoverage, word } from './launching.ts';

const ownedStates = ['gated', 'live', 'unverified.transient', 'unverified.gap'];
const isOwned = (coverage: string): boolean => ownedStates.includes(coverage);

/** A launch whose guardian was never recorded has nothing that a receipt could be compared with. */
const isAttached = (records: Records, id: string): boolean =>
  one(records, 'executionScope', id)?.context.guardian != null;

export function receiptWords<T extends Forest>(launch: Launch): readonly Word<T>[] {
  const { scopeId: id } = launch;
  const by = `guardian of ${id}`;
  const how = (ran: boolean) => (ran ? {} : notReleased);
  const genuine = [true, false].flatMap((ran): Word<T>[] => [
    word(
      `${id}: status receipt${ran ? '' : ', never released'}`,
      say(id, 'workload.statusReceipt', statusReceipt(launch, how(ran))),
      {
        by,
        when: (truth) => treeOf(truth, id).statusReceipt && treeOf(truth, id).ran === ran,
        due: (records) => (isAttached(records, id) && isAwaited(records, id) ? 'accepted' : 'refused'),
      },
    ),
    word(
      `${id}: exit receipt${ran ? '' : ', never released'}`,
      say(id, 'guardian.exitReceipt', exitReceipt(launch, how(ran))),
      {
        by,
        when: (truth) => treeOf(truth, id).exitReceipt && treeOf(truth, id).ran === ran,
        due: (records) => exitDue(records, id),
      },
    ),
  ]);
  const forged = Object.entries(forgeries).flatMap(([what, bent]): Word<T>[] => [
    word(`${id}: status receipt ${what}`, say(id, 'workload.statusReceipt', statusReceipt(launch, bent)), {
      by: 'forger',
      due: 'refused',
    }),
    word(`${id}: exit receipt ${what}`, say(id, 'guardian.exitReceipt', exitReceipt(launch, bent)), {
      by: 'forger',
      due: 'refused',
    }),
  ]);
  return [
    ...genuine,
    ...forged,
    word(`${id}: partial exit receipt`, say(id, 'guardian.exitReceipt', exitReceipt(launch, { complete: false })), {
      by,
      due: 'refused',
    }),
  ];
}

const isAwaited = (records: Records, id: string): boolean =>
  one(records, 'executionScope', id)?.context.status === null;

/** It proves a tree that is owned and not over, and tells the status where nobody has. */
function exitDue(records: Records, id: string) {
  const scope = one(records, 'executionScope', id);
  if (scope === null || !isAttached(records, id)) return 'refused';
  return isOwned(coverageOf(scope)) ? 'accepted' : 'any';
}

export function bootWords<T extends Forest>(id: string): readonly Word<T>[] {
  return [
    word(`${id}: another boot`, say(id, 'boot.epochEnded', { currentBootId: laterBoot, uniform: true }), {
      when: ({ rebooted }) => rebooted,
      due: dueByCoverage(id, (coverage, records) => isOwned(coverage) && isAttached(records, id)),
    }),
    word(`${id}: mixed boots`, say(id, 'boot.epochEnded', { currentBootId: laterBoot, uniform: false }), {
      due: 'refused',
    }),
    word(`${id}: the same boot`, say(id, 'boot.epochEnded', { currentBootId: boot, uniform: true }), {
      due: 'refused',
    }),
  ];
}

export interface Enclosing<T> {
  readonly scopeId: string;
  readonly enclosingId: string;
  /** Whether the enclosing guardian has a complete receipt that covers this tree. */
  readonly isReceiptThere: (truth: T) => boolean;
}

export function enclosingWords<T extends Forest>({
  scopeId: id,
  enclosingId,
  isReceiptThere,
}: Enclosing<T>): readonly Word<T>[] {
  const by = `guardian of ${enclosingId}`;
  const accepted = (rest: object = {}) => say(id, 'enclosing.receiptAccepted', enclosedBy(enclosingId, rest));
  const due = (records: Records) => {
    const scope = one(records, 'executionScope', id);
    if (scope === null || coverageOf(scope) !== 'unverified.gap') return 'refused' as const;
    return isGuardianLost(scope) ? ('accepted' as const) : ('refused' as const);
  };
  const isEmptied = (truth: T): boolean => treeOf(truth, id).guardian === 'dead' && !isTreeAlive(treeOf(truth, id));
  return [
    word(`${id}: enclosing receipt`, accepted(), {
      by,
      when: (truth) => isEmptied(truth) && isReceiptThere(truth),
      due,
    }),
    // While its own guardian is there to speak for itself, containment says nothing.
    word(`${id}: enclosing receipt, guardian alive`, accepted(), {
      by: 'forger',
      when: (truth) => treeOf(truth, id).guardian === 'alive',
    }),
    ...(
      ['enclosingComplete', 'enclosingOriginal', 'launcherRelation', 'isolatedLaunch', 'witnessesContained'] as const
    ).map((check) =>
      word<T>(
        `${id}: enclosing receipt without ${check}`,
        accepted({ checks: { ...enclosingChecks, [check]: false } }),
        {
          by: 'forger',
          due: 'refused',
        },
      ),
    ),
    word(
      `${id}: enclosing receipt that is inferred itself`,
      accepted({ checks: { ...enclosingChecks, inferred: true } }),
      {
        by: 'forger',
        due: 'refused',
      },
    ),
    word(`${id}: enclosing receipt with survivors`, accepted({ survivors: 1 }), { by, due: 'refused' }),
  ];
}

/** What is seen or claimed of the process of a run (RUN-07, OBS-09). */
export function processWords<T extends Forest>(runId: string, launch: Launch): readonly Word<T>[] {
  const { scopeId, workload } = launch;
  const seen = (name: string, payload: object, rest: Partial<Word<T>> = {}) =>
    word<T>(`${runId}: ${name}`, say(runId, 'process.observed', payload), { by: 'observer', ...rest });
  const whileBound = (records: Records) => {
    const run = one(records, 'run', runId);
    return run !== null && isBound(run) ? ('accepted' as const) : ('refused' as const);
  };
  const isGone = (truth: T): boolean => ['zombie', 'dead'].includes(treeOf(truth, scopeId).root);
  return [
    seen('process seen alive', processObserved(workload, 'alive'), {
      when: (truth) => treeOf(truth, scopeId).ran,
      due: whileBound,
    }),
    seen('process seen ended', processObserved(workload, 'ended'), { when: isGone, due: whileBound }),
    seen('process unseen', processObserved(workload, 'unknown'), { due: whileBound }),
    seen('stale sample: ended', processObserved(workload, 'ended', { basisVersion: 0 }), { due: 'refused' }),
    seen('unstable sample: ended', processObserved(workload, 'ended', { stable: false }), { due: 'refused' }),
    seen('another process seen ended', processObserved(stranger, 'ended'), { due: 'refused' }),
    word(`${runId}: exit reported`, say(runId, 'exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }), {
      by: 'launcher',
    }),
    word(
      `${runId}: status of another scope`,
      say(runId, 'workload.statusReceipt', { ...statusReceipt(launch), scopeId: 'S9' }),
      {
        by: 'forger',
        due: 'refused',
      },
    ),
    word(
      `${runId}: status of another process`,
      say(runId, 'workload.statusReceipt', statusReceipt(launch, forgeries['of another workload'])),
      { by: 'forger', due: 'refused' },
    ),
  ];
}
