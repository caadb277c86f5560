import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createSystemClock, monotonicMs } from '../../actors/observe/linux/clock.ts';
import {
  type Deadline,
  type DeadlineCommand,
  type DeadlineSignal,
  deadlines$,
} from '../../actors/observe/streams/deadlines.ts';
import { FakeClock } from './support/fakeClock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const GRACE = 30_000;

function service(clock = new FakeClock()) {
  const commands$ = new Subject<DeadlineCommand<Deadline>>();
  const signals: DeadlineSignal<Deadline>[] = [];
  let completed = false;
  const subscription = deadlines$({ commands$, clock, graceMs: GRACE }).subscribe({
    next: (signal) => signals.push(signal),
    complete: () => {
      completed = true;
    },
  });
  const arm = (deadlineId: string, inMs: number) =>
    commands$.next({ arm: { deadlineId, bootId: clock.bootId(), monoMs: clock.monoMs() + inMs } });
  const summary = () =>
    signals.map((one) => (one.type === 'graceGranted' ? one.type : `${one.type} ${one.deadline.deadlineId}`));
  return { clock, commands$, signals, arm, summary, subscription, completed: () => completed };
}

describe('deadlines', () => {
  it('TIME-01: are reached on the monotonic clock, in order, once', () => {
    const { clock, arm, summary, signals } = service();
    arm('late', 2_000);
    arm('soon', 500);
    clock.advance(499);
    expect(summary()).toEqual([]);
    clock.advance(1);
    expect(summary()).toEqual(['reached soon']);
    clock.advance(10_000);
    expect(summary()).toEqual(['reached soon', 'reached late']);
    expect(signals[0]).toMatchObject({ at: { monoMs: 1_500, bootId: 'boot-1' } });
    expect(clock.sleeping).toBe(0);
  });

  it('TIME-01: wall time may jump by a day either way and changes nothing', () => {
    for (const jump of [DAY, -DAY]) {
      const { clock, arm, summary } = service();
      arm('one', 60_000);
      clock.setWall(jump);
      clock.advance(59_999);
      expect(summary()).toEqual([]);
      clock.advance(1);
      expect(summary()).toEqual(['reached one']);
    }
  });

  it('TIME-02: a deadline reports nothing but itself', () => {
    const { clock, arm, signals } = service();
    arm('one', 5);
    clock.advance(5);
    expect(signals.map((signal) => Object.keys(signal).sort())).toEqual([['at', 'deadline', 'type']]);
  });

  it('TIME-03: a deadline of an earlier boot is void, also when its time would have come', () => {
    const { clock, commands$, signals } = service();
    for (const monoMs of [0, 1e12]) commands$.next({ arm: { deadlineId: 'old', bootId: 'boot-0', monoMs } });
    clock.advance(DAY);
    expect(signals).toHaveLength(2);
    for (const signal of signals) {
      expect(signal).toMatchObject({
        type: 'void',
        reason: 'boot_changed',
        bootId: 'boot-1',
        deadline: { bootId: 'boot-0' },
      });
    }
  });

  it('TIME-03: a stored deadline that is armed after a reboot is void; one of the new boot counts', () => {
    const { clock, commands$, arm, summary } = service();
    const stored = { deadlineId: 'stored', bootId: clock.bootId(), monoMs: clock.monoMs() + 10 };
    clock.reboot('boot-2');
    commands$.next({ arm: stored });
    arm('new', 10);
    clock.advance(10);
    expect(summary()).toEqual(['void stored', 'reached new']);
  });

  it('TIME-04: after an hour of suspend nobody is late at once; one grace is granted and noted', () => {
    const { clock, arm, signals, summary } = service();
    arm('silence', 20_000);
    arm('hard', 2 * GRACE);
    clock.advance(19_000);
    clock.suspend(HOUR);
    clock.advance(1_000);
    expect(signals).toEqual([
      { type: 'graceGranted', suspendedMs: HOUR, untilMonoMs: 21_000 + GRACE, deferred: ['silence'] },
    ]);
    clock.advance(GRACE - 1);
    expect(summary()).toEqual(['graceGranted']);
    clock.advance(1);
    expect(summary()).toEqual(['graceGranted', 'reached silence']);
    // The other one had more than the grace left, and its time stands.
    clock.advance(10_000);
    expect(summary()).toEqual(['graceGranted', 'reached silence', 'reached hard']);
  });

  it('TIME-04: a suspend is noticed within the checking interval and not only when a deadline comes', () => {
    const { clock, arm, summary, signals } = service();
    arm('far', HOUR);
    clock.suspend(HOUR);
    clock.advance(5_000);
    expect(signals).toMatchObject([{ type: 'graceGranted', deferred: [] }]);
    clock.advance(HOUR - 5_001);
    expect(summary()).toEqual(['graceGranted']);
    clock.advance(1);
    expect(summary()).toEqual(['graceGranted', 'reached far']);
  });

  it('TIME-04: a second suspend earns a second grace; rounding between the clocks earns none', () => {
    const { clock, arm, summary } = service();
    arm('one', 100);
    clock.suspend(HOUR);
    clock.advance(100);
    clock.suspend(10);
    clock.advance(GRACE - 1);
    expect(summary()).toEqual(['graceGranted']);
    clock.suspend(HOUR);
    clock.advance(1);
    expect(summary()).toEqual(['graceGranted', 'graceGranted']);
    clock.advance(GRACE);
    expect(summary()).toEqual(['graceGranted', 'graceGranted', 'reached one']);
  });

  it('rearming replaces, disarming removes, also from within a signal', () => {
    const clock = new FakeClock();
    const commands$ = new Subject<DeadlineCommand<Deadline>>();
    const reached: string[] = [];
    deadlines$({ commands$, clock, graceMs: GRACE }).subscribe((signal) => {
      if (signal.type !== 'reached') return;
      reached.push(signal.deadline.deadlineId);
      commands$.next({ disarm: 'b' });
    });
    const arm = (deadlineId: string, inMs: number) =>
      commands$.next({ arm: { deadlineId, bootId: 'boot-1', monoMs: clock.monoMs() + inMs } });
    arm('a', 10);
    arm('b', 10);
    arm('c', 10);
    arm('c', 50);
    clock.advance(10);
    expect(reached).toEqual(['a']);
    clock.advance(40);
    expect(reached).toEqual(['a', 'c']);
  });

  it('completes when the commands are over and nothing is armed; unsubscribing leaves no timer behind', () => {
    const first = service();
    first.arm('one', 10);
    first.commands$.complete();
    expect(first.completed()).toBe(false);
    first.clock.advance(10);
    expect(first.completed()).toBe(true);

    const second = service();
    second.arm('one', 10);
    expect(second.clock.sleeping).toBe(1);
    second.subscription.unsubscribe();
    expect(second.clock.sleeping).toBe(0);
  });
});

describe('the clocks of this machine', () => {
  const clock = createSystemClock();

  it('TIME-01: the monotonic clock is that of Node, the boot id that of the kernel', () => {
    const before = monotonicMs();
    expect(clock.monoMs()).toBeGreaterThanOrEqual(before);
    expect(clock.bootId()).toMatch(/^[0-9a-f-]{36}$/);
    const { wallMs, monoMs, bootId } = clock.now();
    expect([Number.isInteger(wallMs), Number.isInteger(monoMs), bootId]).toEqual([true, true, clock.bootId()]);
  });

  it('TIME-04: boot time never runs behind monotonic time, save for its own rounding', () => {
    expect(clock.boottimeMs() - clock.monoMs()).toBeGreaterThan(-20);
  });

  it('FAULT-07, TIME-03: where there is no procfs, nothing is dated: refused by name, with exit 8', () => {
    const attempt = () => createSystemClock({ procRoot: '/nowhere' });
    expect(attempt).toThrow(expect.objectContaining({ code: 'proc_unusable', exitCode: 8, retryable: true }));
  });

  it('wakes when the time has come and not before, and not at all when cancelled', async () => {
    const woken: string[] = [];
    const cancel = clock.wakeAt(clock.monoMs() + 1, () => woken.push('cancelled'));
    cancel();
    // Libuv counts whole milliseconds from a time that it has rounded down: in a busy loop a plain timer is often early.
    let busy = true;
    const spin = () => {
      if (busy) setImmediate(spin);
    };
    spin();
    for (let round = 0; round < 30; round += 1) {
      const due = clock.monoMs() + 2;
      await new Promise<void>((resolve) => clock.wakeAt(due, resolve));
      expect(clock.monoMs()).toBeGreaterThanOrEqual(due);
    }
    busy = false;
    await new Promise<void>((resolve) => clock.wakeAt(0, resolve));
    expect(woken).toEqual([]);
  });
});
