import { describe, expect, it } from 'vitest';
import { type Assessment, assessOwnership, holdsSlot } from '../../machines/assessment.ts';
import { executionScopeDefinition, executionScopeMachine, type ScopeSnapshot } from '../../machines/executionScope.ts';
import { fromPersisted, toPersisted } from '../../machines/step.ts';
import { boot, exitReceipt, forgeries, laterBoot, sampledAt } from './support/evidence.ts';
import { rowsOf } from './support/nodes.ts';
import {
  abandoned,
  assumedGone,
  attached,
  drain,
  enclosed,
  gap,
  launch,
  playScope,
  prepared,
  rebooted,
  rootEnded,
  seen,
  type Told,
  treeEnded,
  witnesses,
} from './support/play.ts';

const live: Assessment = { state: 'live' };
const exited = (proof: 'own_receipt' | 'enclosing_receipt' | 'boot_epoch' | 'never_launched'): Assessment => ({
  state: 'exited',
  proof,
});
const unverified = (certainty: 'transient' | 'gap', reason: string): Assessment => ({
  state: 'unverified',
  certainty,
  reason,
});

const registered: Told = ['scope.registeredExternally', { reason: 'legacy' }];
const mixedBoots: Told = ['boot.epochEnded', { currentBootId: laterBoot, uniform: false }];
const exhausted: Told = ['drain.budgetExhausted', { elapsedMs: 5_000, survivors: 1 }];
const quiet: Told = ['drain.quiesced', { members: {}, total: 0, scans: 2 }];
const lost = seen('absent');

/** One row per combination of evidence, with what it amounts to. */
const combinations: readonly (readonly [string, readonly Told[], Assessment])[] = [
  ['wanted, not spawned', [], live],
  ['spawned by us, no word yet', [prepared], live],
  ['held behind its gate', [prepared, attached], live],
  ['running', launch, live],
  ['its guardian was seen alive', [...launch, seen('alive')], live],
  ['its root ended', [...launch, rootEnded], live],
  ['its root ended and an empty scan (OWN-06)', [...launch, rootEnded, drain('natural'), quiet], live],
  ['a drain ran out of time (TIME-02)', [...launch, drain('stop'), exhausted], live],
  ['its guardian cannot be seen', [...launch, seen('unknown', 'proc_hidden')], unverified('transient', 'proc_hidden')],
  ['its guardian is seen again', [...launch, seen('unknown'), seen('alive')], live],
  [
    'out of sight again, and seen alive since somebody answered for its end (GRD-10)',
    [
      ...[...launch, seen('unknown', 'namespace_mismatch'), assumedGone('the container is gone')],
      ...[seen('alive'), seen('unknown', 'emfile')],
    ],
    unverified('transient', 'emfile'),
  ],
  ['its guardian is gone', [...launch, lost], unverified('gap', 'guardian_gone')],
  ['gone after having been out of sight', [...launch, seen('unknown'), lost], unverified('gap', 'guardian_gone')],
  ['gone, its root had ended', [...launch, rootEnded, lost], unverified('gap', 'guardian_gone')],
  ['gone before the release', [prepared, attached, lost], unverified('gap', 'guardian_gone')],
  ['the record was lost', [...launch, gap('record_lost')], unverified('gap', 'record_lost')],
  [
    'the latest of several gaps',
    [...launch, gap('record_lost'), gap('inspection_gap')],
    unverified('gap', 'inspection_gap'),
  ],
  ['launched by others', [registered], unverified('gap', 'no_launch_scope')],
  ['two tokens for one pid (OWN-08)', [...launch, witnesses({ 101: 'other' })], unverified('gap', 'witness_conflict')],
  ['two tokens, then a proof', [...launch, witnesses({ 101: 'other' }), treeEnded], exited('own_receipt')],
  ['its own receipt', [...launch, treeEnded], exited('own_receipt')],
  ['its own receipt, although the guardian is gone', [...launch, lost, treeEnded], exited('own_receipt')],
  ['the receipt of the enclosing scope', [...launch, lost, enclosed], exited('enclosing_receipt')],
  ['another boot', [...launch, rebooted], exited('boot_epoch')],
  ['another boot after a gap', [...launch, lost, rebooted], exited('boot_epoch')],
  ['mixed boots (OWN-05)', [...launch, lost, mixedBoots], unverified('gap', 'guardian_gone')],
  ['given up before it was spawned', [abandoned], exited('never_launched')],
  ['given up behind the gate', [prepared, attached, abandoned], exited('never_launched')],
  [
    'given up after its guardian was lost behind the gate',
    [prepared, attached, lost, abandoned],
    exited('never_launched'),
  ],
  ['spawning failed', [prepared, ['launch.notStarted', { errno: 'EAGAIN', phase: 'spawn' }]], exited('never_launched')],
];

describe('what the evidence about a scope amounts to (OWN-01)', () => {
  it.each(combinations)('%s', (_, story, assessment) => {
    expect(assessOwnership(playScope(story).snapshot)).toEqual(assessment);
  });

  it('is a question of who launched while nobody has reported yet', () => {
    const { snapshot } = playScope([prepared]);
    expect(assessOwnership(snapshot, false)).toEqual(unverified('transient', 'launch_unresolved'));
    expect(assessOwnership(playScope([prepared, attached]).snapshot, false)).toEqual(live);
  });

  it('comes from at least twenty combinations', () => {
    expect(combinations.length).toBeGreaterThanOrEqual(20);
  });
});

describe('a slot (OWN-02)', () => {
  it.each(combinations)('is held as long as nothing proves the end: %s', (_, story, { state }) => {
    expect(holdsSlot(playScope(story).snapshot)).toBe(state !== 'exited');
  });

  it('is held by work that others launched, and by none of our own effects', () => {
    expect(holdsSlot(playScope([registered]).snapshot)).toBe(true);
    expect(holdsSlot(playScope(launch, { kind: 'effect' }).snapshot)).toBe(false);
  });

  it('is none for what others have launched: unverified for good, and nothing that anybody here waits for (GOAL-04, GRD-11)', () => {
    const theirs = playScope([registered], { kind: 'external', controller: 'their-tool' }).snapshot;
    expect(assessOwnership(theirs)).toEqual(unverified('gap', 'no_launch_scope'));
    expect(holdsSlot(theirs)).toBe(false);
    const { isReleased, isSettled } = executionScopeDefinition;
    expect([isReleased(theirs), isSettled(theirs)]).toEqual([true, false]);
    expect(isReleased(playScope([registered], { kind: 'external' }).snapshot)).toBe(false);
    // Nothing of it is ever ended from here (I-21), and nobody here may answer for its end.
    const asked = playScope([registered, drain('shutdown'), assumedGone('it is theirs')], { controller: 'their-tool' });
    expect(asked.changes.slice(1)).toEqual(['unmatched', 'unmatched']);
    expect(asked.effects.filter(({ type }) => type !== 'launchScope')).toEqual([]);
    expect(assessOwnership(playScope(launch, { kind: 'effect' }).snapshot)).toEqual(live);
  });

  it('is given back by residents that are seen to be alone, who are live all the same (D1)', () => {
    const residents = [{ name: 'tmux', stop: 'keep' as const }];
    const alone: Told = ['residents.observed', { alone: true }];
    const played = (...story: Told[]) => playScope(story, { residents }).snapshot;
    const left = played(...launch, rootEnded, alone);
    expect([assessOwnership(left), holdsSlot(left)]).toEqual([live, false]);
    expect(holdsSlot(played(...launch, rootEnded, alone, ['residents.observed', { alone: false }]))).toBe(true);
    // Before the root has ended, for a scope that declared nobody, and without a guardian to say so, it means nothing.
    expect(holdsSlot(played(...launch, alone))).toBe(true);
    expect(holdsSlot(playScope([...launch, rootEnded, alone]).snapshot)).toBe(true);
    for (const unsure of [seen('unknown'), lost])
      expect(holdsSlot(played(...launch, rootEnded, alone, unsure))).toBe(true);
    expect(assessOwnership(played(...launch, rootEnded, alone, treeEnded)).state).toBe('exited');
  });

  it('is held by a scope whose record is corrupt, and by that one alone (OWN-10)', () => {
    expect(assessOwnership('corrupt')).toEqual(unverified('gap', 'record_corrupt'));
    expect(holdsSlot('corrupt')).toBe(true);
    const siblings: ReadonlyArray<ScopeSnapshot | 'corrupt'> = [
      playScope([...launch, treeEnded]).snapshot,
      'corrupt',
      playScope(launch).snapshot,
    ];
    expect(siblings.filter((scope) => holdsSlot(scope)).length).toBe(2);
  });
});

describe('what never establishes an exit (OWN-04)', () => {
  const negatives: readonly (readonly [string, Told])[] = [
    ['an empty scan', quiet],
    ['a killed set', ['drain.signalled', { signalled: 9, skippedGuardians: 0 }]],
    ['later silence', exhausted],
    ['an exit report', ['exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }]],
    ['an ended leader', rootEnded],
    ['a missing pid', ['process.observed', observedAbsent()]],
    ['an expired lease', ['deadline.reached', { deadlineId: 'd', monoMs: 9_999, bootId: boot }] as unknown as Told],
    ['an incomplete receipt', ['guardian.exitReceipt', exitReceipt({ complete: false })]],
    ['the same boot', ['boot.epochEnded', { currentBootId: boot, uniform: true }]],
  ];

  it.each(negatives)('%s, offered to a live scope', (_, told) => {
    expect(assessOwnership(playScope([...launch, drain('stop'), told]).snapshot)).toEqual(live);
  });

  it.each(negatives)('%s, offered to a scope that lost its guardian (GRD-10, I-16)', (_, told) => {
    const story = [...launch, lost, drain('stop'), quiet, told];
    expect(assessOwnership(playScope(story).snapshot)).toEqual(unverified('gap', 'guardian_gone'));
  });

  it.each(['exitedProved', 'neverLaunched'])('a stored state without its proof: %s', (coverage) => {
    const row = toPersisted(executionScopeDefinition, playScope(launch).snapshot);
    const value = { ...(row.value as object), coverage, termination: 'settled' };
    const edited = fromPersisted(executionScopeDefinition, JSON.stringify({ ...row, value })) as ScopeSnapshot;
    expect(assessOwnership(edited)).toEqual(unverified('gap', 'proof_missing'));
    expect(holdsSlot(edited)).toBe(true);
  });

  it.each(Object.entries(forgeries))('a receipt that was bent: %s (GRD-05)', (_, bent) => {
    const story: Told[] = [...launch, lost, ['guardian.exitReceipt', exitReceipt(bent)]];
    expect(assessOwnership(playScope(story).snapshot)).toEqual(unverified('gap', 'guardian_gone'));
  });
});

const observedAbsent = () =>
  ({ result: 'ended', reason: 'absent', stable: true, basisVersion: 1, sampledAt, contextDigest: '' }) as never;

describe('the events that can end the question', () => {
  const eventsTo = (target: string) => [
    ...new Set(
      rowsOf(executionScopeMachine)
        .filter(({ to }) => to === target)
        .map(({ event }) => event),
    ),
  ];

  it('are three proofs; no scan, sample or deadline is among them (OWN-04, OWN-05, I-19)', () => {
    expect(eventsTo('coverage.exitedProved').sort()).toEqual([
      'boot.epochEnded',
      'enclosing.receiptAccepted',
      'guardian.exitReceipt',
    ]);
  });

  it('are the abandoned launch, and the receipt of a guardian that never opened its gate (GRD-06)', () => {
    expect(eventsTo('coverage.neverLaunched').sort()).toEqual([
      'guardian.exitReceipt',
      'launch.abandoned',
      'launch.notStarted',
    ]);
  });
});

describe('a proved scope (OWN-09, I-17, I-19)', () => {
  const ends: readonly (readonly [string, readonly Told[]])[] = [
    ['by its receipt', [...launch, treeEnded]],
    ['by another boot', [...launch, rebooted]],
    ['by the enclosing receipt', [...launch, lost, enclosed]],
    ['by never having been launched', [prepared, attached, abandoned]],
  ];

  it.each(ends)('stays as it is whatever is heard later: %s', (_, story) => {
    const before = assessOwnership(playScope(story).snapshot);
    const later = [seen('alive'), lost, gap('record_lost'), rootEnded, treeEnded, rebooted, enclosed, abandoned];
    expect(assessOwnership(playScope([...story, ...later]).snapshot)).toEqual(before);
  });

  it('keeps its gaps as history (OWN-05)', () => {
    const { snapshot } = playScope([...launch, lost, treeEnded]);
    expect(snapshot.context.gaps).toEqual(['guardian_gone']);
  });

  it('is not made out of a gap by a sight of life or by quiet', () => {
    for (const told of [seen('alive'), seen('unknown'), quiet, rootEnded]) {
      expect(assessOwnership(playScope([...launch, lost, told]).snapshot).state).toBe('unverified');
    }
  });
});
