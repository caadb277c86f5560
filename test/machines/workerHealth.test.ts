import { describe, expect, it } from 'vitest';
import { type HealthBasis, tickFault, workerHealth } from '../../machines/workerHealth.ts';
import { initialWorkerContext, workerDeadline } from '../../machines/workerIncarnationContext.ts';
import { boot, laterBoot } from './support/evidence.ts';
import { falseTicks, requestedAt, tickOf, workerInput, workerProcess } from './support/workerSamples.ts';

const requested = initialWorkerContext(workerInput());
const worker = { ...requested, process: workerProcess };
const at = (monoMs: number, bootId = boot) => ({ monoMs, bootId });

describe('a tick (WRK-02, WRK-03)', () => {
  it('of the worker itself is exact', () => {
    expect(tickFault(worker, tickOf())).toBeUndefined();
  });

  it.each(Object.entries(falseTicks))('is refused by name: %s', (_, bent) => {
    expect(tickFault(worker, tickOf(bent))).toMatch(/^(not_registered_worker|other_[a-z]+)$/);
  });

  it('counts once, also where the last one was never journaled', () => {
    expect(tickFault({ ...worker, tick: { seq: 1, sampledAt: requestedAt } }, tickOf())).toBe('repeated');
    expect(tickFault(worker, tickOf({ seq: 4 }), 4)).toBe('repeated');
    expect(tickFault(worker, tickOf({ seq: 5 }), 4)).toBeUndefined();
  });

  it('is nobody’s before the worker has registered', () => {
    expect(tickFault(requested, tickOf())).toBe('other_process');
  });
});

describe('the health of a worker (WRK-06)', () => {
  const tick = { targetId: 'target-1', sampledAt: at(50_000), completedCycle: true };
  const health = (rest: Partial<HealthBasis>) => workerHealth({ worker, lastTick: tick, now: at(50_001), ...rest });

  it.each<readonly [string, Partial<HealthBasis>]>([
    ['ticking', {}],
    ['ticking', { now: at(79_999) }],
    ['stalled', { now: at(80_000) }],
    ['starting', { lastTick: null, now: at(5_000) }],
    ['starting', { lastTick: null, now: at(14_999) }],
    ['stalled', { lastTick: null, now: at(15_000) }],
    ['target-changed', { lastTick: { ...tick, targetId: 'target-0' } }],
    ['draining-old-target', { lastTick: { ...tick, targetId: 'target-0', completedCycle: false } }],
    ['unavailable', { worker: null }],
    ['unavailable', { worker: { ...worker, reason: 'recovery' } }],
    ['unavailable', { now: at(60_000, laterBoot) }],
  ])('is %s (%#)', (expected, rest) => {
    expect(health(rest)).toBe(expected);
  });

  it('takes a tick that came after the clock was read for a fresh one', () => {
    expect(health({ now: at(49_000) })).toBe('ticking');
  });
});

describe('a deadline of a worker', () => {
  it('counts from its request at first, and from the newest tick afterwards', () => {
    expect(workerDeadline('startup', worker)).toMatchObject({ monoMs: 15_000, basisActivitySeq: 0 });
    const newest = { seq: 7, sampledAt: at(90_000) };
    expect(workerDeadline('silence', worker, newest)).toMatchObject({ monoMs: 120_000, basisActivitySeq: 7 });
  });

  it('has another id for another tick, so that each silence is a fact of its own', () => {
    const ids = [0, 1, 2].map((seq) => workerDeadline('silence', worker, { seq, sampledAt: at(1) }).deadlineId);
    expect(new Set(ids).size).toBe(3);
  });
});
