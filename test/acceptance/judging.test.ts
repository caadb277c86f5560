/** What a row makes of what was seen: that a fault which is not withstood is called so, for every row (PROMO-08). */
import { describe, expect, it } from 'vitest';
import type { Judgement } from '../../cli/acceptance/row.ts';
import { verdictOf } from '../../cli/acceptance/row.ts';
import { type Concurrent, judgeConcurrent } from '../../cli/acceptance/rows/concurrent.ts';
import { judgeKilled, type Killed } from '../../cli/acceptance/rows/killed.ts';
import { judgeLateOwner, type LateOwner } from '../../cli/acceptance/rows/lateOwner.ts';
import { judgeMissed, type Missed } from '../../cli/acceptance/rows/missed.ts';
import { judgeRefusingStore, type RefusingStore } from '../../cli/acceptance/rows/refusingStore.ts';
import { judgeReordered, type Reordered } from '../../cli/acceptance/rows/reordered.ts';
import { judgeRepeated, type Repeated } from '../../cli/acceptance/rows/repeated.ts';
import { judgeResumed, type Resumed } from '../../cli/acceptance/rows/resumed.ts';
import { judgeReused, type Reboot, type Reuse } from '../../cli/acceptance/rows/reused.ts';
import { judgeSurvivor, type Survivor } from '../../cli/acceptance/rows/survivor.ts';
import { judgeUnreadable, type Unreadable } from '../../cli/acceptance/rows/unreadable.ts';
import { judgeVanished, type Vanished } from '../../cli/acceptance/rows/vanished.ts';
import {
  type Contract,
  judgeContract,
  judgeMigration,
  judgeRetention,
  judgeRollback,
  type Migration,
  type Retention,
  type Rollback,
} from '../../cli/acceptance/rows/verifications.ts';

const safe = { eligible: true, justified: true };
const refused = { eligible: false, justified: false };
const unsafe = { eligible: true, justified: false };

interface Case {
  readonly name: string;
  readonly withstood: Judgement;
  /** What else could have been seen, each of which is a failure. */
  readonly failures: Readonly<Record<string, Judgement>>;
}

function table<Seen extends object>(
  name: string,
  judge: (seen: Seen) => Judgement,
  { withstood, failures }: { readonly withstood: Seen; readonly failures: Readonly<Record<string, Partial<Seen>>> },
): Case {
  const judged = Object.entries(failures).map(([what, other]) => [what, judge({ ...withstood, ...other })] as const);
  return { name, withstood: judge(withstood), failures: Object.fromEntries(judged) };
}

const killed: Killed = {
  ...{ asked: 5, kills: 5, left: { nothing: 3, some: 1, all: 1 }, problems: 0, partial: 0, missing: 0, lost: 0 },
  boundAtEnd: true,
};
const repeated: Repeated = {
  ...{
    asked: 2,
    kills: 2,
    unanswered: 1,
    committed: 1,
    different: 0,
    goals: 2,
    ingestKills: 2,
    changedAgain: 0,
    missing: 0,
  },
};
const reordered: Reordered = {
  ...{ histories: 4, notes: 20, different: 0, misbound: 0, runs: 8, ended: 6, resurrected: 0 },
  ...{ contradictions: 5, refused: 5, overwritten: 0 },
};
const concurrent: Concurrent = {
  ...{ writers: 5, reconcilers: 3, deferred: 4, otherwise: 0, runs: 5, bound: 5 },
  ...{ rounds: 3, decisions: 12, wrongRounds: 0, wrongRefusals: 0 },
};
const vanished: Vanished = {
  ...{ killed: 6, kept: 3, passes: 1, absent: 6, bound: 3, daemonSaw: { state: 'ended', reason: 'absent' } },
  predictions: [refused, safe],
};
const reuse: Reuse = {
  ...{ how: 'a pid_max of 400', isSamePid: true, forks: 87, before: { alive: 1 }, after: { ended: 1, alive: 1 } },
  ...{ old: { state: 'ended', reason: 'replaced' }, taker: 'bound' },
};
const reboot: Reboot = { outcomes: { ended: 1 }, reason: 'boot_changed', isAlive: true };
const unreadable: Unreadable = {
  ...{ passes: 10, looks: 4, left: 6, outcomes: ['unknown:malformed'], stateAfter: 'bound', failures: 4 },
  ...{ pauseMs: 1_600, firstMs: 200, longestMs: 5_000, recovered: 'alive' },
  withoutProcfs: { code: 8, error: 'proc_unusable', state: 'bound' },
};
const busy = { code: 10, error: 'store_busy' };
const condition = {
  name: 'locked',
  expected: ['store_busy'],
  exitCodes: [10],
  refusals: [busy, busy],
  recovered: true,
};
const flips = { bits: 4, refused: 1, told: 1, harmless: 2, silent: 0, unnamed: 0 };
const store: RefusingStore = { conditions: [condition], vanished: { lost: 3, known: 3 }, flips };
const resumed: Resumed = {
  ...{ processes: 9, kills: 4, changedIds: 0, leftOut: 0, ended: 4, seenToEnd: 4, stillBound: 5 },
  daemon: { isSameRun: true, state: 'ended' },
};
const dropped = { kind: 'bind', lost: 1, gaps: 1, isIncomplete: true, isMadeUp: false };
const missed: Missed = { dropped: [dropped], predictions: [refused] };
const survivor: Survivor = {
  ...{ root: 0, scope: 'live', scopeAfter: 'exited', refusal: { code: 'seal_refused', exitCode: 13, holders: 1 } },
  ...{ whileAlive: { ...refused, blockers: ['scope_unproved'] }, afterwards: refused, sealed: safe },
  noted: { ...refused, blockers: ['process_present'], run: 'ended' },
};
const run = { scope: 'live', sealRefused: 'seal_refused', isAlive: true, afterwards: 'exited', sealed: 'sealed' };
const worker = {
  ...{ reason: 'worker_silent', refusal: 'fence_busy', replacements: 0, isStillOwner: true },
  order: ['recovery.started', 'worker.scopeSettled', 'replacement.launched'],
};
const late: LateOwner = { run, worker, said: [refused, safe] };
const contract: Contract = { subset: 'full', checks: 15, failed: [], version: 3, doesNotCover: 6 };
const migration: Migration = {
  ...{ uncontrolled: ['not_controller'], withoutEvidence: 'migration_refused', whileTheirs: 'migration_refused' },
  ...{ before: { authority: 'observe', epoch: 1 }, after: { authority: 'managed', epoch: 2, evidence: 1 } },
  ...{ recordBefore: 'nothing', recordAfter: 'managed', said: [refused] },
};
const rollback: Rollback = {
  ...{ asked: 'quiescing', waitsFor: ['scope_unproved'], afterRestart: 'quiescing', launch: 'not_controller' },
  ...{ settled: { authority: 'observe', controller: 'legacy', epoch: 3 }, before: 2, record: 'nothing' },
  ...{ seal: 'not_controller', said: [refused] },
};
const retention: Retention = {
  ...{ removed: 40, isRunSame: true, receipts: 1, hasEnd: true, isRequestSame: true, launches: 2 },
  ...{ noteCounts: { changed: 0, noop: 0, duplicate: 1, rejected: 0 }, keptOfLiving: true },
};

const cases: readonly Case[] = [
  table('FAULT-01', judgeKilled, {
    withstood: killed,
    failures: {
      'nobody was killed': { asked: 0, kills: 0 },
      'fewer kills than were asked for': { kills: 4 },
      'a digest that does not agree': { problems: 1 },
      'half a run': { partial: 1 },
      'a note that never came': { missing: 1 },
      'a note that was called lost': { lost: 1 },
      'a living process that is lost': { boundAtEnd: false },
    },
  }),
  table('FAULT-02', judgeRepeated, {
    withstood: repeated,
    failures: {
      'another outcome': { different: 1 },
      'done twice': { goals: 3 },
      'no ingest was killed': { ingestKills: 0 },
      'a kill too few': { kills: 1 },
      'a note that changed again': { changedAgain: 1 },
      'a note that is missing': { missing: 1 },
    },
  }),
  table('FAULT-03', judgeReordered, {
    withstood: reordered,
    failures: {
      'another end than in order': { different: 1 },
      'a second process': { misbound: 1 },
      'a second run': { runs: 9 },
      'a contradiction that was taken': { refused: 4 },
      'something newer written over': { overwritten: 1 },
      'a run that came back': { resurrected: 1 },
      'nothing had ended': { ended: 0 },
    },
  }),
  table('FAULT-04', judgeConcurrent, {
    withstood: concurrent,
    failures: {
      'refused for another reason': { otherwise: 1 },
      'a writer that was lost': { runs: 4, bound: 4 },
      'two winners': { wrongRounds: 1 },
      'a loser that was not told': { wrongRefusals: 1 },
    },
  }),
  table('FAULT-05', judgeVanished, {
    withstood: vanished,
    failures: {
      'an end that was not seen': { absent: 5 },
      'a living one that was ended': { bound: 2 },
      'the daemon did not see it': { daemonSaw: { state: 'bound', reason: 'none' } },
      'the end for another reason': { daemonSaw: { state: 'ended', reason: 'timeout' } },
      'reclaimable while it lived': { predictions: [unsafe, safe] },
    },
  }),
  table('FAULT-06', judgeReused, {
    withstood: { reuse, reboot },
    failures: {
      'it was another PID': { reuse: { ...reuse, isSamePid: false } },
      'the old run took the new process for its own': { reuse: { ...reuse, old: { state: 'bound', reason: null } } },
      'ended, but as absent': { reuse: { ...reuse, old: { state: 'ended', reason: 'absent' } } },
      'the new process is no run': { reuse: { ...reuse, taker: undefined } },
      'alive after another boot': { reboot: { ...reboot, outcomes: { alive: 1 }, reason: null } },
    },
  }),
  table('FAULT-07', judgeUnreadable, {
    withstood: unreadable,
    failures: {
      'called ended': { outcomes: ['ended'], stateAfter: 'ended' },
      'nothing was looked at': { outcomes: [] },
      'asked every time': { looks: 10, left: 0, failures: 10, pauseMs: 5_000 },
      'a pause beyond the bound': { pauseMs: 6_000 },
      'pauses that do not double': { pauseMs: 200 },
      'an error without a name': { withoutProcfs: { code: 1, error: 'internal_error', state: 'bound' } },
      'a success without procfs': { withoutProcfs: { code: 0, error: undefined, state: 'bound' } },
      'never seen again': { recovered: undefined },
    },
  }),
  table('FAULT-08', judgeRefusingStore, {
    withstood: store,
    failures: {
      'a success that is none': { conditions: [{ ...condition, refusals: [busy, { code: 0, error: undefined }] }] },
      'another error': { conditions: [{ ...condition, refusals: [{ code: 1, error: 'internal_error' }] }] },
      'nothing tried': { conditions: [{ ...condition, refusals: [] }] },
      'not done afterwards': { conditions: [{ ...condition, recovered: false }] },
      'an empty store without a word': { vanished: { lost: 0, known: 3 } },
      'a flipped bit that nobody sees': { flips: { ...flips, silent: 1 } },
      'a flipped bit without a name': { flips: { ...flips, unnamed: 1 } },
    },
  }),
  table('FAULT-09', judgeResumed, {
    withstood: resumed,
    failures: {
      'another id': { changedIds: 1 },
      'somebody left out': { leftOut: 1 },
      'an end that was not seen': { seenToEnd: 3 },
      'nobody was killed': { kills: 0 },
      'another run after the daemon': { daemon: { isSameRun: false, state: 'ended' } },
    },
  }),
  table('FAULT-10', judgeMissed, {
    withstood: missed,
    failures: {
      'no gap': { dropped: [{ ...dropped, gaps: 0 }] },
      'not counted': { dropped: [{ ...dropped, lost: 0 }] },
      'called covered': { dropped: [{ ...dropped, isIncomplete: false }] },
      'made up': { dropped: [{ ...dropped, isMadeUp: true }] },
      'reclaimable with a gap': { predictions: [unsafe] },
      'nobody asked': { predictions: [] },
    },
  }),
  table('FAULT-11', judgeSurvivor, {
    withstood: survivor,
    failures: {
      'called ended': { scope: 'exited' },
      sealed: { refusal: { code: 'none', exitCode: 0, holders: 0 } },
      'nobody named': { refusal: { ...survivor.refusal, holders: 0 } },
      'reclaimable beside a child': { whileAlive: { ...unsafe, blockers: [] } },
      'reclaimable beside the child of a noted parent': { noted: { ...survivor.noted, eligible: true } },
      'never proved': { scopeAfter: 'live', sealed: refused },
      'sealed although somebody was left': { sealed: unsafe },
    },
  }),
  table('FAULT-12', judgeLateOwner, {
    withstood: late,
    failures: {
      'called ended by its deadline': { run: { ...run, scope: 'exited' } },
      'sealed by its deadline': { run: { ...run, sealRefused: 'none' } },
      'never ended': { run: { ...run, afterwards: 'live' } },
      'replaced by its silence': { worker: { ...worker, replacements: 1 } },
      'another owner': { worker: { ...worker, isStillOwner: false } },
      'replaced before the proof': {
        worker: { ...worker, order: ['recovery.started', 'replacement.launched', 'worker.scopeSettled'] },
      },
      'called safe too early': { said: [unsafe] },
    },
  }),
  table('containment_contract', judgeContract, {
    withstood: contract,
    failures: {
      'a claim that does not hold': { failed: ['containment.setsid'] },
      'a part of the battery': { subset: 'short' },
      'nothing tried': { checks: 0 },
    },
  }),
  table('migration', judgeMigration, {
    withstood: migration,
    failures: {
      'closed by who is not in control': { uncontrolled: ['none'] },
      'taken without evidence': { withoutEvidence: 'none' },
      'taken from under a run of theirs': { whileTheirs: 'none' },
      'recorded before it was taken': { recordBefore: 'managed' },
      'not recorded': { recordAfter: 'nothing' },
      'the same epoch': { after: { ...migration.after, epoch: 1 } },
    },
  }),
  table('rollback', judgeRollback, {
    withstood: rollback,
    failures: {
      'handed over at once': { asked: 'observe' },
      'launched meanwhile': { launch: 'launched' },
      'given up by a restart': { afterRestart: 'observe' },
      'never handed over': { settled: { ...rollback.settled, authority: 'quiescing' } },
      'sealed by who is not in control any more': { seal: 'none' },
      'still recorded': { record: 'managed' },
    },
  }),
  table('retention', judgeRetention, {
    withstood: retention,
    failures: {
      'nothing removed': { removed: 0 },
      'another answer': { isRunSame: false },
      'evidence lost': { receipts: 0 },
      'launched again': { launches: 3 },
      'an old note that counts': { noteCounts: { changed: 1, noop: 0, duplicate: 0, rejected: 0 } },
      'something living shortened': { keptOfLiving: false },
    },
  }),
];

describe.each(cases)('FAULT-01…12, PROMO-08: $name', ({ withstood, failures }) => {
  it('passes for a fault that is withstood', () => {
    expect(withstood.claims.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    expect(verdictOf(withstood)).toBe('passed');
  });

  it.each(Object.entries(failures))('fails: %s', (_, judgement) => {
    expect(verdictOf(judgement)).toBe('failed');
  });
});

describe('what could not be tried', () => {
  it('is not run, and never passed; a failure beside it still is one', () => {
    const why = 'not run: no namespaces';
    expect(verdictOf(judgeReused({ reuse: why, reboot: why }))).toBe('not_run');
    expect(verdictOf(judgeReused({ reuse: why, reboot }))).toBe('not_run');
    expect(verdictOf(judgeReused({ reuse: why, reboot: { ...reboot, isAlive: false } }))).toBe('failed');
    expect(verdictOf(judgeUnreadable(why))).toBe('not_run');
    expect(verdictOf(judgeRefusingStore({ ...store, conditions: [why] }))).toBe('not_run');
    expect(verdictOf({ claims: [] })).toBe('not_run');
  });

  it('is what no kill has met: the moment between a commit and its reply, or behind a commit', () => {
    expect(verdictOf(judgeRepeated({ ...repeated, unanswered: 0 }))).toBe('not_run');
    expect(verdictOf(judgeRepeated({ ...repeated, unanswered: 0, different: 1 }))).toBe('failed');
    const early = { asked: 24, kills: 24, left: { nothing: 24, some: 0, all: 0 } };
    expect(verdictOf(judgeKilled({ ...killed, ...early }))).toBe('not_run');
  });
});
