import { describe, expect, it } from 'vitest';
import type { Payload } from '../../machines/events/catalogue.ts';
import {
  boot,
  digestOf,
  laterBoot,
  notReleased,
  processOf,
  sampledAt,
  statusReceipt,
  workload,
} from './support/evidence.ts';
import { bound, playRun, rootEnded, type Told } from './support/play.ts';

type Observed = Payload<'process.observed'>;

const observed = (result: Observed['result'], rest: Partial<Observed> = {}): Told => [
  'process.observed',
  {
    result,
    reason: `is_${result}`,
    stable: true,
    identity: workload,
    basisVersion: 1,
    sampledAt,
    contextDigest: '',
    ...rest,
  },
];
const reported: Told = ['exit.reported', { exitCode: 3, signal: null, reporter: 'launcher' }];
const uncertain: Told = ['admission.uncertain', { reason: 'launcher_lost' }];
const S1 = 'S1' as Payload<'scope.exitProved'>['scopeId'];
const cancelled: Told = ['admission.cancelled', { gate: 'never_opened', scopeId: S1, proofEventId: 'e' }];
const proved: Told = ['scope.exitProved', { scopeId: S1, proofKind: 'boot_epoch', proofEventId: 'e' }];
const other: Told = ['identity.bound', { ...(bound[1] as Payload<'identity.bound'>), identity: processOf(200, '1') }];

const lifecycleOf = (story: readonly Told[], input: Partial<Payload<'run.reserved'>> = {}) =>
  playRun(story, input).snapshot.value.lifecycle;

describe('a run before it has a process', () => {
  it('is reserved with its intent and nothing else known (RUN-01)', () => {
    const { snapshot, effects } = playRun([]);
    expect(snapshot.value).toEqual({ lifecycle: { reserved: 'pending' }, exitReport: 'absent' });
    expect(snapshot.context).toMatchObject({ identity: null, identityVersion: 0, end: null, unresolvedReason: null });
    expect(effects).toEqual([]);
  });

  it('stays unresolved with the reason until an identity or a cancellation arrives (RUN-05, L-07)', () => {
    expect(playRun([uncertain]).snapshot.context.unresolvedReason).toBe('launcher_lost');
    expect(lifecycleOf([uncertain])).toEqual({ reserved: 'unresolved' });
    expect(playRun([uncertain, bound]).snapshot.context.unresolvedReason).toBeNull();
    expect(lifecycleOf([uncertain, cancelled])).toBe('cancelled');
  });

  it.each<readonly [string, Told]>([
    ['an ended observation', observed('ended', { basisVersion: 0 })],
    ['an exit report', reported],
    ['a status receipt', rootEnded],
    ['a proof about its scope', proved],
  ])('is not ended by %s (RUN-05, I-03, ID-08)', (_, told) => {
    const { snapshot } = playRun([uncertain, told]);
    expect(snapshot.value.lifecycle).toEqual({ reserved: 'unresolved' });
    expect(snapshot.context).toMatchObject({ identity: null, end: null });
  });

  it('is not cancelled in observe mode (RUN-04)', () => {
    expect(lifecycleOf([cancelled], { mode: 'observe' })).toEqual({ reserved: 'pending' });
  });
});

describe('a bound run', () => {
  it('takes its identity once; again is a noop and another one is refused (RUN-02)', () => {
    const { snapshot, changes } = playRun([bound, bound, other]);
    expect(changes).toEqual(['changed', 'noop', 'unmatched']);
    expect(snapshot.context).toMatchObject({ identity: workload, identityVersion: 1 });
  });

  it('is ended by a kernel observation, a status receipt or the proof of its root scope (RUN-03)', () => {
    const endOf = (told: Told) => playRun([bound, told]).snapshot.context.end;
    expect(endOf(observed('ended'))).toEqual({
      evidence: 'kernel_observation',
      reason: 'is_ended',
      eventId: '2 process.observed',
    });
    expect(endOf(rootEnded)).toEqual({
      evidence: 'status_receipt',
      reason: 'exited',
      eventId: '2 workload.statusReceipt',
    });
    expect(endOf(proved)).toEqual({ evidence: 'scope_proof', reason: 'boot_epoch', eventId: '2 scope.exitProved' });
  });

  it('ends as not released where its guardian says that the image never ran', () => {
    const told: Told = ['workload.statusReceipt', statusReceipt('S1', notReleased)];
    expect(playRun([bound, told]).snapshot.context.end?.reason).toBe('notReleased');
  });

  it('keeps the last confirmed fact beside a newer unknown (OBS-08, I-31)', () => {
    const later = { monoMs: 2_000, bootId: boot };
    const { snapshot } = playRun([bound, observed('alive'), observed('unknown', { sampledAt: later })]);
    expect(snapshot.value.lifecycle).toBe('bound');
    expect(snapshot.context).toMatchObject({
      lastConfirmed: { result: 'alive', sampledAt },
      lastObservation: { result: 'unknown', sampledAt: later },
    });
  });

  it('lets no late sample overwrite a newer one of the same boot (CONC-04)', () => {
    const at = (monoMs: number, bootId = boot) => ({ sampledAt: { monoMs, bootId } });
    const facts = (...story: Told[]) => playRun([bound, ...story]).snapshot.context;
    const late = facts(observed('unknown', at(3_000)), observed('alive', at(2_000)), observed('alive', at(1_000)));
    expect(late).toMatchObject({
      lastObservation: { result: 'unknown', ...at(3_000) },
      lastConfirmed: { result: 'alive', ...at(2_000) },
    });
    const rebooted = facts(observed('unknown', at(3_000)), observed('unknown', at(1_000, laterBoot)));
    expect(rebooted.lastObservation).toMatchObject(at(1_000, laterBoot));
    expect(playRun([bound, observed('alive', at(3_000)), observed('alive', at(2_000))]).changes.at(-1)).toBe('noop');
  });

  it('takes no sample that was made against another version or process (CONC-03, I-37)', () => {
    const story = [bound, observed('ended', { basisVersion: 0 }), observed('ended', { identity: processOf(101, '9') })];
    const { snapshot, changes } = playRun(story);
    expect(changes.slice(1)).toEqual(['unmatched', 'unmatched']);
    expect(snapshot.context.lastObservation).toBeNull();
  });

  it('does not take an unstable end for one (RUN-03)', () => {
    expect(lifecycleOf([bound, observed('ended', { stable: false })])).toBe('bound');
  });

  it('keeps a claimed exit in its own region (RUN-07, I-32)', () => {
    const { snapshot } = playRun([bound, reported]);
    expect(snapshot.value).toEqual({ lifecycle: 'bound', exitReport: 'reported' });
    expect(snapshot.context.exitReport).toEqual({ exitCode: 3, signal: null, reporter: 'launcher' });
    expect(snapshot.context.end).toBeNull();
  });
});

describe('an ended run', () => {
  it('is never bound again: a retry is another run (RUN-06, I-01)', () => {
    const { snapshot, changes } = playRun([bound, rootEnded, bound, other, observed('alive'), cancelled, proved]);
    expect(changes.slice(2)).toEqual(['unmatched', 'unmatched', 'unmatched', 'unmatched', 'unmatched']);
    expect(snapshot.context.end?.eventId).toBe('2 workload.statusReceipt');
    expect(playRun([], { retryOf: 'R0' as Payload<'run.reserved'>['retryOf'] }).snapshot.context.retryOf).toBe('R0');
  });

  it('may still hear a claim about its exit (RUN-07)', () => {
    expect(playRun([bound, rootEnded, reported]).snapshot.value).toEqual({
      lifecycle: 'ended',
      exitReport: 'reported',
    });
  });
});

describe('an observed run', () => {
  it('invents nothing for the facts that it missed (RUN-08, ID-08)', () => {
    const { snapshot } = playRun([reported], { mode: 'observe', generationId: null, rootScopeId: null });
    expect(snapshot.value).toEqual({ lifecycle: { reserved: 'pending' }, exitReport: 'reported' });
    expect(snapshot.context).toMatchObject({ identity: null, generationId: null, lastObservation: null });
  });

  it('is bound by an identity of the entry point only (ID-07)', () => {
    const guessed = { ...(bound[1] as object), source: 'guess', identityDigest: digestOf('b') };
    expect(lifecycleOf([['identity.bound', guessed] as unknown as Told])).toEqual({ reserved: 'pending' });
  });
});
