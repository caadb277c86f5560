import { describe, expect, it } from 'vitest';
import { acceptableResult, isInterrupted, isSessionSettled } from '../../machines/ptySession.ts';
import { boot, notReleased } from './support/evidence.ts';
import { playSession, type Told } from './support/play.ts';
import { openedAt, sessionInput } from './support/sessionSamples.ts';
import * as told from './support/sessionStory.ts';

const { begun, captureCut, captureDrains, captureOver, doubted, ended, fault, proved, result, stop } = told;
const contextOf = (...story: Told[]) => playSession(story).snapshot.context;
const resultOf = (...story: Told[]) => acceptableResult(playSession(story).snapshot);
const failuresOf = (...story: Told[]) => {
  const { firstFailure, faults } = contextOf(...story);
  return [firstFailure, ...faults].map((failure) => failure && `${failure.cause} ${failure.reason}`);
};

const execFailed = { how: 'execFailed', code: 127, signal: null, errno: 2, waitStatus: 127 << 8 } as const;
const exitedWith = (code: number) => ended({ code, waitStatus: code << 8 });

describe('what a session remembers', () => {
  it('starts with the request and nothing known', () => {
    expect(contextOf()).toEqual({
      ...sessionInput(),
      recorded: true,
      activity: { seq: 0, bytes: 0, sampledAt: openedAt },
      structured: null,
      firstFailure: null,
      faults: [],
      status: null,
      capture: null,
    });
  });

  it('keeps the size of the terminal, and nothing of what was typed (PTY-08)', () => {
    expect(contextOf(told.resized)).toMatchObject({ cols: 120, rows: 40 });
    const { snapshot, changes } = playSession([begun, told.answered]);
    expect(changes).toEqual(['changed', 'noop']);
    expect(snapshot.context).toEqual(contextOf(begun));
  });

  it('keeps how far the output went; a late report takes nothing back (CONC-04)', () => {
    const { snapshot, changes } = playSession([begun, told.output(3, 900), told.output(2, 600)]);
    expect(changes.at(-1)).toBe('noop');
    expect(snapshot.context.activity).toEqual({ seq: 3, bytes: 30, sampledAt: { monoMs: 5_900, bootId: boot } });
  });

  it('keeps what was recorded, whether to the end or not (PTY-07)', () => {
    const whole = { eof: true, truncated: false, fault: null, bytes: 70 };
    expect(contextOf(captureDrains, captureOver).capture).toEqual(whole);
    expect(playSession([captureDrains, captureCut]).snapshot.value.capture).toBe('incomplete');
    expect(contextOf(captureDrains, captureCut).capture).toMatchObject({ eof: false, fault: 'held_open' });
  });
});

describe('the result of a session (PTY-02, PTY-03, I-33)', () => {
  it('is pending until an authentic status finalises it', () => {
    const { value, context } = playSession([begun, result(true)]).snapshot;
    expect(value.workload).toBe('ending');
    expect(context.structured).toBe(told.resultDigest);
    expect(resultOf(begun, result(true))).toBeNull();
    expect(resultOf(begun, result(true), ended({ authentic: false }))).toBeNull();
    expect(resultOf(begun, result(true), exitedWith(7))).toBe(told.resultDigest);
  });

  it('is a first failure where it does not fit its schema, and asks for the end all the same', () => {
    const story = [begun, result(false, 'no_verdict')];
    expect(playSession(story).snapshot.value.workload).toBe('ending');
    expect(failuresOf(...story)).toEqual(['result no_verdict']);
    expect(failuresOf(begun, result(false))).toEqual(['result schema_invalid']);
    expect(resultOf(...story, ended())).toBeNull();
  });

  it('is the first that was reported; nothing repairs it (OCC-11)', () => {
    const { changes } = playSession([begun, result(false), result(true)]);
    expect(changes.at(-1)).toBe('unmatched');
  });

  it('does not count without a status, and counts once that turns up', () => {
    expect(resultOf(begun, result(true), told.withoutStatus)).toBeNull();
    expect(resultOf(begun, result(true), told.withoutStatus, ended())).toBe(told.resultDigest);
    // Nothing leads there, but a row that somebody edited might.
    expect(resultOf(begun, result(true), told.launchFailed)).toBeNull();
  });

  it('does not count after a failure, and survives what goes wrong after it (PTY-06)', () => {
    expect(resultOf(begun, stop(), ended())).toBeNull();
    expect(resultOf(begun, result(true), stop(), fault('hostLost'), doubted('guardian_gone'), ended())).toBe(
      told.resultDigest,
    );
  });

  it('is the status of the agent, not of its guardian', () => {
    expect(contextOf(begun, exitedWith(7)).status).toMatchObject({ how: 'exited', code: 7 });
    expect(failuresOf(begun, exitedWith(7))).toEqual([null]);
    expect(playSession([begun, told.withoutStatus]).snapshot.value.workload).toBe('indeterminate');
    expect(contextOf(begun, told.withoutStatus).status).toBeNull();
  });
});

describe('failures of a session (PTY-06, I-34)', () => {
  it('leave the first one first: a deadline, then capture, then a drain that stalls', () => {
    const session = playSession(
      [begun, told.reached('hard', [0, 60_000]), fault('readFailed'), doubted('drain_stalled'), ended()],
      { deadlines: { hardMs: 60_000 } },
    ).snapshot;
    const { firstFailure, faults, structured } = session.context;
    expect(firstFailure).toEqual({ cause: 'deadline', reason: 'hard', eventId: '2 deadline.reached' });
    expect(faults.map(({ cause, reason, eventId }) => [cause, reason, eventId])).toEqual([
      ['capture', 'readFailed', '3 capture.fault'],
      ['scope', 'drain_stalled', '4 scope.unverified'],
    ]);
    expect(structured).toBeNull();
  });

  it('are listed once each', () => {
    const again = [begun, stop(), fault('readFailed'), fault('readFailed', 'transcript'), fault('writeFailed')];
    expect(failuresOf(...again)).toEqual(['stop stop', 'capture readFailed', 'capture writeFailed']);
    expect(playSession(again).changes).toEqual(['changed', 'changed', 'changed', 'noop', 'changed']);
  });

  it.each<readonly [string, Told]>([
    ['launch notReleased', ended(notReleased)],
    ['launch execFailed', ended(execFailed)],
  ])('name an image that never ran by its status: %s (ruling 7)', (name, receipt) => {
    expect(playSession([begun, receipt]).snapshot.value.workload).toBe('final');
    expect(failuresOf(begun, receipt)).toEqual([name]);
    expect(failuresOf(begun, stop({ cause: 'shutdown' }), receipt)).toEqual(['stop shutdown', name]);
  });

  it('do not begin with a doubt about the scope (PTY-05)', () => {
    expect(failuresOf(begun, doubted('guardian_gone'))).toEqual([null, 'scope guardian_gone']);
    expect(resultOf(begun, doubted('guardian_gone'), result(true), ended())).toBe(told.resultDigest);
  });

  it('leave a stop that comes too late without effect', () => {
    const { changes } = playSession([begun, result(true), stop(), ended(), stop({ stopRequestId: 'q2' })]);
    expect(changes).toEqual(['changed', 'changed', 'noop', 'changed', 'noop']);
  });
});

describe('a session is over', () => {
  const isSettled = (...story: Told[]) => isSessionSettled(playSession(story).snapshot);
  const isCutOff = (...story: Told[]) => isInterrupted(playSession(story).snapshot);

  it('when agent, capture and scope are, in any order (ruling 14)', () => {
    const parts = [[begun, ended()], [captureDrains, captureOver], [proved]];
    for (const missing of parts) expect(isSettled(...parts.filter((part) => part !== missing).flat())).toBe(false);
    expect(isSettled(...parts.flat())).toBe(true);
    expect(isSettled(...parts.toReversed().flat())).toBe(true);
    expect(isSettled(begun, told.withoutStatus, captureDrains, captureCut, doubted('guardian_gone'), proved)).toBe(
      true,
    );
  });

  it('through its scope where the holder of its terminal died, as interrupted (PTY-10)', () => {
    const lost = [begun, fault('hostLost')];
    expect(playSession(lost).snapshot.value).toMatchObject({ workload: 'ending', capture: 'incomplete' });
    expect([isCutOff(...lost), isSettled(...lost, ended())]).toEqual([false, false]);
    expect([isCutOff(...lost, ended()), isSettled(...lost, ended(), proved)]).toEqual([true, true]);
  });

  it('as interrupted where nobody recorded how, but not where it was ended, or had brought its result', () => {
    expect(isCutOff(begun, told.withoutStatus)).toBe(true);
    expect(isCutOff(begun, fault('readFailed'), ended())).toBe(false);
    expect(isCutOff(begun, stop(), told.withoutStatus)).toBe(false);
    expect(isCutOff(begun, result(true), fault('hostLost'), ended())).toBe(false);
  });

  it('at once where it never began', () => {
    expect(playSession([told.launchFailed]).snapshot.value.workload).toBe('final');
    expect(failuresOf(stop(), told.launchFailed)).toEqual(['stop stop', 'launch eagain']);
  });
});
