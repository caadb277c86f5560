import { describe, expect, it } from 'vitest';
import type { EffectParams } from '../../machines/effects.ts';
import { boot, guardian, notReleased, slots, statusReceipt, workload } from './support/evidence.ts';
import {
  abandoned,
  attached,
  drain,
  enclosed,
  gap,
  launch,
  playScope,
  prepared,
  rebooted,
  released,
  rootEnded,
  seen,
  treeEnded,
  witnesses,
} from './support/play.ts';
import { scopeInput } from './support/scopeSamples.ts';

const facts = (played: ReturnType<typeof playScope>) => played.snapshot.context;

describe('what an execution scope remembers', () => {
  it('starts with the request and nothing known', () => {
    expect(facts(playScope([]))).toEqual({
      ...scopeInput(),
      controller: null,
      slots: null,
      guardian: null,
      workload: null,
      bootId: null,
      guardianLast: null,
      witnesses: {},
      witnessConflicts: [],
      gaps: [],
      status: null,
      proof: null,
      released: 'no',
      drain: null,
      openSideEffects: [],
      assumed: null,
      delegators: [],
      residents: [],
      residentsOnly: false,
    });
  });

  it('keeps slots, processes and boot of the launch; both processes are witnesses', () => {
    expect(facts(playScope([prepared, attached]))).toMatchObject({
      slots,
      guardian,
      workload,
      bootId: boot,
      witnesses: { 100: '5000', 101: '5001' },
    });
  });

  it('keeps the status from whichever receipt brings it first (GRD-04)', () => {
    const exited = { how: 'exited', code: 0, signal: null, errno: null, waitStatus: 0 };
    expect(facts(playScope([...launch, rootEnded])).status).toEqual(exited);
    expect(facts(playScope([...launch, treeEnded])).status).toEqual(exited);
    const unrun = playScope([...launch, ['workload.statusReceipt', statusReceipt('S1', notReleased)], treeEnded]);
    expect(facts(unrun).status).toEqual(notReleased);
  });

  it.each([
    ['own_receipt', [...launch, treeEnded], '4 guardian.exitReceipt'],
    ['boot_epoch', [...launch, rebooted], '4 boot.epochEnded'],
    ['enclosing_receipt', [...launch, seen('absent'), enclosed], '5 enclosing.receiptAccepted'],
    ['never_launched', [prepared, attached, abandoned], '3 launch.abandoned'],
    ['never_launched', [prepared, attached, treeEnded], '3 guardian.exitReceipt'],
    ['never_launched', [['launch.notStarted', { errno: 'ENOENT', phase: 'spawn' }]], '1 launch.notStarted'],
  ] as const)('names its proof %s and the event that carried it (OWN-05, I-19)', (kind, story, eventId) => {
    expect(facts(playScope(story)).proof).toEqual({ kind, eventId });
  });

  it('notes each gap once, in the order of their discovery, and keeps them after the proof (OWN-05)', () => {
    const story = [...launch, gap('record_lost'), gap('guardian_gone'), gap('record_lost'), treeEnded];
    expect(facts(playScope(story)).gaps).toEqual(['record_lost', 'guardian_gone']);
    expect(facts(playScope([...launch, seen('absent')])).gaps).toEqual(['guardian_gone']);
  });

  it('keeps the last look at its guardian with its reason', () => {
    expect(facts(playScope([...launch, seen('unknown', 'proc_hidden')])).guardianLast).toEqual({
      result: 'unknown',
      reason: 'proc_hidden',
    });
  });

  it('remembers an uncertain delivery as released all the same (GRD-07)', () => {
    expect(facts(playScope(launch)).released).toBe('committed');
    expect(facts(playScope([...launch, ['launch.releaseUncertain', { errno: 'EPIPE' }]])).released).toBe('uncertain');
  });

  it('becomes external by registration, whatever it was requested as (GRD-11)', () => {
    const registered = playScope([['scope.registeredExternally', { reason: 'legacy' }]]);
    expect(facts(registered)).toMatchObject({ kind: 'external', gaps: ['no_launch_scope'] });
    const then = playScope([['scope.registeredExternally', { reason: 'legacy' }], gap('guardian_gone'), abandoned]);
    expect(then.snapshot.matches({ coverage: { unverified: 'gap' } })).toBe(true);
  });

  it('was never behind a gate of ours where others launched it, so nobody can abandon it (GRD-11, I-04)', () => {
    const abandonedAtOnce = playScope([abandoned], { kind: 'external' });
    expect(abandonedAtOnce.changes).toEqual(['unmatched']);
  });
});

describe('witnesses of a scope', () => {
  it('only grow, and a stale reader takes none away (OWN-07, I-28)', () => {
    const story = [...launch, witnesses({ 300: '9', 301: '10' }), witnesses({ 300: '9' })];
    expect(facts(playScope(story)).witnesses).toEqual({ 100: '5000', 101: '5001', 300: '9', 301: '10' });
  });

  it('that were found before the handshake stay (I-28)', () => {
    const story = [prepared, witnesses({ 300: '9', 101: 'early' }), attached];
    expect(facts(playScope(story))).toMatchObject({
      witnesses: { 100: '5000', 101: 'early', 300: '9' },
      witnessConflicts: ['101'],
    });
  });

  it('keep the first token of a pid and note the conflict once (OWN-08)', () => {
    const story = [...launch, witnesses({ 101: 'other' }), witnesses({ 101: 'third' })];
    expect(facts(playScope(story))).toMatchObject({ witnessConflicts: ['101'], witnesses: { 101: '5001' } });
  });
});

describe('what a scope asks of the world', () => {
  const offered = (played: ReturnType<typeof playScope>) => played.effects.map(({ type }) => type);
  const drains = (played: ReturnType<typeof playScope>) =>
    played.effects.flatMap((one) => (one.type === 'drainScope' ? [one.params as EffectParams['drainScope']] : []));

  it('is one launch, and one opened gate once the release is committed (GRD-07)', () => {
    expect(playScope([]).effects).toEqual([{ type: 'launchScope', params: { scopeId: 'S1' } }]);
    expect(offered(playScope([prepared, attached]))).toEqual(['launchScope']);
    expect(playScope(launch).effects.slice(1)).toEqual([{ type: 'openGate', params: { scopeId: 'S1' } }]);
    expect(offered(playScope([...launch, released]))).toEqual(['launchScope', 'openGate']);
  });

  it('is a launch for effects as well, and none for what others launched', () => {
    expect(offered(playScope([], { kind: 'effect' }))).toEqual(['launchScope']);
    expect(offered(playScope([], { kind: 'external' }))).toEqual([]);
  });

  it('is a drain with the durations of the launch where the request brings none', () => {
    expect(drains(playScope([...launch, drain('stop')]))).toEqual([
      { scopeId: 'S1', cause: 'stop', graceMs: 2_000, budgetMs: 5_000, attempt: 1 },
    ]);
    expect(drains(playScope([...launch, drain('stop', { graceMs: 0, budgetMs: 9 })]))).toMatchObject([
      { graceMs: 0, budgetMs: 9 },
    ]);
  });

  it('is another drain, counted, only after the last one stalled', () => {
    const stalled = ['drain.budgetExhausted', { elapsedMs: 5_000, survivors: 1 }] as const;
    const played = playScope([...launch, drain('stop'), drain('cancelled'), stalled, drain('shutdown')]);
    expect(drains(played).map(({ cause, attempt }) => [cause, attempt])).toEqual([
      ['stop', 1],
      ['shutdown', 2],
    ]);
    expect(facts(played).drain).toEqual({ cause: 'shutdown', requestId: 'to shutdown', attempts: 2 });
    expect(played.changes[4]).toBe('noop');
  });
});
