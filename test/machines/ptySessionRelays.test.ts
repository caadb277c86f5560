import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { type EventType, payloadSchemas } from '../../machines/events/catalogue.ts';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import { ptySessionMachine } from '../../machines/ptySession.ts';
import { type Relay, relaysOf } from '../../machines/relays.ts';
import { step } from '../../machines/step.ts';
import { exitReceipt, notReleased, slots, statusReceipt } from './support/evidence.ts';
import {
  abandoned,
  attached,
  drain,
  enclosed,
  eventOf,
  gap,
  launch,
  playScope,
  playSession,
  prepared,
  rebooted,
  released,
  rootEnded,
  seen,
  type Told,
  treeEnded,
} from './support/play.ts';
import * as told from './support/sessionStory.ts';
import { walk } from './support/walk.ts';
import { ptySessionTable } from './tables/ptySession.ts';

const charts = { executionScope: executionScopeMachine, ptySession: ptySessionMachine };

function relayed(kind: keyof typeof charts, { before, story }: { before: AnyMachineSnapshot; story: readonly Told[] }) {
  const event = eventOf(story.at(-1) as Told, 'the event');
  const { snapshot: after, change } = step(charts[kind], before, event);
  expect(change).toBe('changed');
  const relays = relaysOf({ kind, id: kind === 'ptySession' ? 'P1' : 'S1', before, after, event });
  for (const { type, payload } of relays) payloadSchemas[type].parse(payload);
  return relays;
}

/** What the last event of a scope's story means for its session. */
const ofScope = (...story: Told[]): readonly Relay[] =>
  relayed('executionScope', { before: playScope(story.slice(0, -1)).snapshot, story }).filter(
    ({ to }) => to.kind === 'ptySession',
  );
const ofSession = (...story: Told[]): readonly Relay[] =>
  relayed('ptySession', {
    before: playSession(story.slice(0, -1), { deadlines: { hardMs: 60_000 } }).snapshot,
    story,
  });

const to = { kind: 'ptySession', link: 'scopeId', value: 'S1' };
const typesOf = (relays: readonly Relay[]): EventType[] => relays.map(({ type }) => type);
const stalled: Told = ['drain.budgetExhausted', { elapsedMs: 1, survivors: 1 }];
const status = (rest: object): Told => ['workload.statusReceipt', statusReceipt('S1', rest)];

describe('the launch of a scope, to its session', () => {
  it('is the release, as the very same event (ruling 2)', () => {
    expect(ofScope(...launch)).toEqual([{ to, type: 'launch.releaseCommitted', payload: {}, eventId: 'the event' }]);
  });

  it.each<readonly [string, readonly Told[], readonly [string, string]]>([
    ['nothing was spawned', [['launch.notStarted', { errno: 'EAGAIN', phase: 'spawn' }]], ['spawn', 'eagain']],
    ['the system had no name for why', [['launch.notStarted', { errno: '', phase: 'spawn' }]], ['spawn', 'unknown']],
    ['it was given up', [prepared, attached, abandoned], ['gate', 'drained']],
    ['its guardian closed the gate', [prepared, attached, treeEnded], ['gate', 'never_launched']],
    ['the machine restarted behind the gate', [prepared, attached, rebooted], ['gate', 'boot_epoch']],
  ])('has failed where %s, and nobody is left (PTY-05)', (_, story, failure) => {
    const relays = ofScope(...story);
    expect(typesOf(relays)).toEqual(['launch.failed', 'scope.exitProved']);
    expect(relays[0]).toMatchObject({ payload: { phase: failure[0], reasonCode: failure[1] } });
  });

  it('says nothing of a status behind the gate, and fails a release that comes after it (ruling 7)', () => {
    const closed = status(notReleased);
    expect(ofScope(prepared, attached, closed)).toEqual([]);
    expect(ofScope(prepared, attached, closed, released)).toEqual([
      { to, type: 'launch.failed', payload: { phase: 'gate', reasonCode: 'not_released' } },
    ]);
  });
});

describe('the end of an agent, to its session (PTY-02)', () => {
  it('is its status receipt, as the very same event, also for a session that is settled', () => {
    const [relay, ...others] = ofScope(...launch, rootEnded);
    expect(others).toEqual([]);
    expect(relay).toEqual({
      to: { ...to, alsoReleased: true },
      type: 'workload.statusReceipt',
      payload: statusReceipt('S1'),
      eventId: 'the event',
    });
    expect(typesOf(ofScope(...launch, rebooted, rootEnded))).toEqual(['workload.statusReceipt']);
  });

  it('is what a complete exit receipt says of the agent where the status receipt was not read', () => {
    const exit: Told = ['guardian.exitReceipt', exitReceipt({ code: 7, waitStatus: 7 << 8 })];
    const [first, ...others] = ofScope(...launch, exit);
    const { dev, ino } = slots.exit;
    expect(first?.payload).toMatchObject({ scopeId: 'S1', dev, ino, how: 'exited', code: 7, waitStatus: 7 << 8 });
    expect(first?.eventId).toBeUndefined();
    expect(typesOf(others)).toEqual(['scope.exitProved']);
  });

  it('is told once', () => {
    expect(typesOf(ofScope(...launch, rootEnded, treeEnded))).toEqual(['scope.exitProved']);
  });

  it.each([
    ['boot_epoch', [...launch, rebooted]],
    ['enclosing_receipt', [...launch, seen('absent'), enclosed]],
  ] as const)('is that no status will come where the proof brings none: %s (L-15)', (reason, story) => {
    expect(ofScope(...story)).toEqual([
      { to, type: 'workload.endedWithoutStatus', payload: { evidenceEventId: 'the event', reason } },
      {
        to,
        type: 'scope.exitProved',
        payload: { scopeId: 'S1', proofKind: reason, proofEventId: 'the event' },
      },
    ]);
    const [first, second] = [story.slice(0, -1), story.at(-1) as Told];
    expect(typesOf(ofScope(...first, rootEnded, second))).toEqual(['scope.exitProved']);
  });
});

describe('a doubt about a scope, to its session (PTY-05)', () => {
  it.each<readonly [string, readonly Told[]]>([
    ['guardian_gone', [...launch, seen('absent')]],
    ['record_lost', [...launch, gap('record_lost')]],
    ['drain_stalled', [...launch, drain('stop'), stalled]],
  ])('is told by its reason: %s', (reason, story) => {
    expect(ofScope(...story)).toEqual([{ to, type: 'scope.unverified', payload: { scopeId: 'S1', reason } }]);
  });

  it('is not that its guardian was out of sight for once', () => {
    expect(ofScope(...launch, seen('unknown'))).toEqual([]);
  });

  it('is told once', () => {
    expect(ofScope(...launch, seen('absent'), gap('record_lost'))).toEqual([]);
    expect(ofScope(...launch, seen('absent'), drain('stop', { sessionId: 'P1' }), stalled)).toEqual([]);
  });
});

describe('a drain of a scope, to its session (ruling 4)', () => {
  it.each(['stop', 'deadline', 'superseded', 'cancelled', 'reassigned', 'recovery', 'shutdown'] as const)(
    'is a stop: %s',
    (cause) => {
      const payload = { stopRequestId: `to ${cause}`, actor: 'execution-scope', cause, scopeId: 'S1' };
      expect(ofScope(...launch, drain(cause))).toEqual([{ to, type: 'stop.requested', payload }]);
      expect(ofScope(prepared, drain(cause))).toEqual([{ to, type: 'stop.requested', payload }]);
    },
  );

  it('is no news where the session has asked for it, or its agent has ended', () => {
    expect(ofScope(...launch, drain('completed', { sessionId: 'P1' }))).toEqual([]);
    expect(ofScope(...launch, drain('natural'))).toEqual([]);
  });
});

describe('the end of a session, to its scope (PTY-04)', () => {
  it.each<readonly [string, Told]>([
    ['completed', told.result(true)],
    ['completed', told.result(false)],
    ['deadline', told.reached('hard', [0, 60_000])],
    ['capture_fault', told.fault('hostLost')],
    ['stop', told.stop()],
    ['shutdown', told.stop({ cause: 'shutdown' })],
  ])('is one drain, whatever ends it: %s', (cause, ending) => {
    const payload = { cause, requestId: `${cause}:P1`, sessionId: 'P1' };
    const drained = [{ to: { kind: 'executionScope', id: 'S1' }, type: 'drain.requested', payload }];
    expect(ofSession(told.begun, ending)).toEqual(drained);
    expect(ofSession(told.begun, told.needsInput, ending)).toEqual(drained);
  });

  it('asks for it before the release as well', () => {
    expect(typesOf(ofSession(told.stop()))).toEqual(['drain.requested']);
    expect(typesOf(ofSession(told.reached('hard', [0, 60_000])))).toEqual(['drain.requested']);
  });

  it('asks for none where the scope has passed on its own', () => {
    const passedOn = { scopeId: 'S1' as NonNullable<Parameters<typeof told.stop>[0]>['scopeId'] } as const;
    expect(ofSession(told.begun, told.stop(passedOn as object))).toEqual([]);
  });

  it.each<readonly [string, readonly Told[]]>([
    ['its agent ends by itself: that is for its scope to decide (ruling 1)', [told.begun, told.ended()]],
    ['its agent is gone without a status', [told.begun, told.withoutStatus]],
    ['it never began', [told.launchFailed]],
    ['its end is under way', [told.begun, told.result(true), told.fault('hostLost')]],
    ['somebody types', [told.begun, told.needsInput, told.answered]],
    ['its scope is in doubt', [told.begun, told.doubted('guardian_gone')]],
  ])('asks for nothing where %s', (_, story) => {
    expect(ofSession(...story)).toEqual([]);
  });

  it('is nothing to a Goal, a run or a worktree, in any situation (PTY-05, GOAL-01)', () => {
    const addressed = new Set<string>();
    walk(ptySessionTable, {
      onStep: ({ snapshot: before, sample }) => {
        const event = { ...sample.payload(before.context as never), type: sample.type, eventId: 'e' };
        const { snapshot: after, change } = step(ptySessionMachine, before, event);
        const relays = change === 'changed' ? relaysOf({ kind: 'ptySession', id: 'P1', before, after, event }) : [];
        for (const { to: addressee, type } of relays) addressed.add(`${addressee.kind} ${type}`);
        return false;
      },
    });
    expect([...addressed]).toEqual(['executionScope drain.requested']);
  });
});
