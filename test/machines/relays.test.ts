import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { type EventType, payloadSchemas } from '../../machines/events/catalogue.ts';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { type Relay, relaysOf } from '../../machines/relays.ts';
import { runMachine } from '../../machines/run.ts';
import { step } from '../../machines/step.ts';
import { notReleased, statusReceipt } from './support/evidence.ts';
import { asked } from './support/generationEvidence.ts';
import {
  admitted,
  closed,
  ended,
  granted,
  newGeneration,
  offer,
  opened,
  proved,
  tell,
} from './support/generationStory.ts';
import {
  abandoned,
  attached,
  bound,
  drain,
  enclosed,
  eventOf,
  gap,
  launch,
  playRun,
  playScope,
  prepared,
  rebooted,
  rootEnded,
  seen,
  type Told,
  treeEnded,
} from './support/play.ts';

type ScopeInput = NonNullable<Parameters<typeof playScope>[1]>;

const kinds = { executionScope: executionScopeMachine, run: runMachine };

function relayed(kind: keyof typeof kinds, id: string, { before, told }: { before: AnyMachineSnapshot; told: Told }) {
  const event = eventOf(told, 'the event');
  const { snapshot: after } = step(kinds[kind], before, event);
  const relays = relaysOf({ kind, id, before, after, event });
  for (const { type, payload } of relays) payloadSchemas[type].parse(payload);
  // What a session or a worker hears of its scope is told apart (ptySessionRelays.test.ts, workerRelays.test.ts).
  return relays.filter(({ to }) => to.kind !== 'ptySession' && to.kind !== 'workerIncarnation');
}

/** What the last event of a scope's story means for the others. */
function ofScope(story: readonly Told[], input: ScopeInput = {}): readonly Relay[] {
  const before = playScope(story.slice(0, -1), input).snapshot;
  return relayed('executionScope', 'S1', { before, told: story.at(-1) as Told });
}

const ofRun = (story: readonly Told[], input: Parameters<typeof playRun>[1] = {}): readonly Relay[] =>
  relayed('run', 'R1', { before: playRun(story.slice(0, -1), input).snapshot, told: story.at(-1) as Told });

const named = (relays: readonly Relay[]) => relays.map(({ to, type }) => `${to.kind} ${type}`);

describe('a proof about a scope (section C.11, rule 1)', () => {
  it.each([
    ['own_receipt', [...launch, treeEnded]],
    ['boot_epoch', [...launch, rebooted]],
    ['enclosing_receipt', [...launch, seen('absent'), enclosed]],
  ] as const)('reaches its run and its generation: %s', (proofKind, story) => {
    const eventId = 'the event';
    expect(ofScope(story)).toEqual([
      {
        to: { kind: 'run', id: 'R1' },
        type: 'scope.exitProved',
        payload: { scopeId: 'S1', proofKind, proofEventId: eventId },
      },
      {
        to: { kind: 'worktreeGeneration', id: 'W1' },
        type: 'scope.settled',
        payload: { runId: 'R1', scopeId: 'S1', proofKind },
      },
    ]);
  });

  it.each<readonly [string, readonly Told[]]>([
    ['nothing was spawned', [['launch.notStarted', { errno: 'ENOENT', phase: 'spawn' }]]],
    ['the launch was given up', [prepared, attached, abandoned]],
    ['the guardian closed its gate', [prepared, attached, treeEnded]],
    ['the machine restarted behind a shut gate', [prepared, attached, rebooted]],
    ['the guardian was lost behind a shut gate', [prepared, attached, gap('record_lost'), treeEnded]],
  ])('cancels the run where %s (GRD-06, RUN-04, L-07)', (_, story) => {
    const [first, second, ...rest] = ofScope(story);
    expect(first).toEqual({
      to: { kind: 'run', id: 'R1' },
      type: 'admission.cancelled',
      payload: { gate: 'never_opened', scopeId: 'S1', proofEventId: 'the event' },
    });
    expect(second).toMatchObject({ to: { kind: 'worktreeGeneration', id: 'W1' }, type: 'scope.settled' });
    expect(rest).toEqual([]);
  });

  it('never speaks of a gate where others launched (GRD-11)', () => {
    const registered: Told = ['scope.registeredExternally', { reason: 'legacy' }];
    expect(named(ofScope([registered, gap('guardian_gone'), enclosed]))).toEqual([
      'run scope.exitProved',
      'worktreeGeneration scope.settled',
    ]);
  });

  it('reaches nobody twice: later evidence about a proved scope is no second proof', () => {
    expect(named(ofScope([...launch, rebooted, rootEnded]))).toEqual(['run workload.statusReceipt']);
    expect(ofScope([...launch, rebooted, treeEnded])).toEqual([]);
  });

  it('reaches nobody where the scope serves no run', () => {
    expect(ofScope([...launch, treeEnded], { runId: null, generationId: null })).toEqual([]);
    expect(named(ofScope([...launch, treeEnded], { generationId: null }))).toEqual(['run scope.exitProved']);
  });

  it.each<readonly [string, readonly Told[]]>([
    ['the start of a launch', launch],
    ['a lost guardian', [...launch, seen('absent')]],
    ['a stalled drain', [...launch, drain('stop'), ['drain.budgetExhausted', { elapsedMs: 1, survivors: 1 }]]],
  ])('is not %s', (_, story) => {
    expect(ofScope(story)).toEqual([]);
  });
});

describe('the end of the root', () => {
  const told = (rest: object): Told => ['workload.statusReceipt', statusReceipt('S1', rest)];

  it('goes to the run as the very same event', () => {
    const [first] = ofScope([...launch, rootEnded]);
    const { scopeId: _, ...payload } = statusReceipt('S1');
    expect(first).toEqual({
      to: { kind: 'run', id: 'R1' },
      type: 'workload.statusReceipt',
      payload: { scopeId: 'S1', ...payload },
      eventId: 'the event',
    });
  });

  it('asks for the end of the rest where the launch says terminate', () => {
    expect(ofScope([...launch, rootEnded]).slice(1)).toEqual([
      {
        to: { kind: 'executionScope', id: 'S1' },
        type: 'drain.requested',
        payload: { cause: 'natural', requestId: 'natural:S1' },
      },
    ]);
    expect(named(ofScope([...launch, seen('absent'), rootEnded]))).toContain('executionScope drain.requested');
  });

  it('leaves the rest alone where the launch says wait', () => {
    expect(named(ofScope([...launch, rootEnded], { onRootExit: 'wait' }))).toEqual(['run workload.statusReceipt']);
  });

  it.each<readonly [string, readonly Told[]]>([
    ['the image never ran', [...launch, told(notReleased)]],
    [
      'the image could not be executed',
      [...launch, told({ how: 'execFailed', code: 127, errno: 2, waitStatus: 127 << 8 })],
    ],
    ['a drain is under way', [...launch, drain('stop'), rootEnded]],
    ['nobody is left', [...launch, rebooted, rootEnded]],
  ])('asks for nothing where %s', (_, story) => {
    expect(named(ofScope(story))).toEqual(['run workload.statusReceipt']);
  });

  it('is told to nobody else where the scope serves no run', () => {
    expect(named(ofScope([...launch, rootEnded], { runId: null }))).toEqual(['executionScope drain.requested']);
  });
});

describe('the end of a run (section C.11, rule 1)', () => {
  const cancelled = [
    'admission.cancelled',
    { gate: 'never_opened', scopeId: 'S1', proofEventId: 'e' },
  ] as unknown as Told;

  it.each<readonly ['ended' | 'cancelled', readonly Told[]]>([
    ['ended', [bound, rootEnded]],
    ['cancelled', [cancelled]],
  ])('reaches its generation: %s', (terminal, story) => {
    expect(ofRun(story)).toEqual([
      {
        to: { kind: 'worktreeGeneration', id: 'W1' },
        type: 'run.settled',
        payload: { runId: 'R1', terminal, endEventId: 'the event' },
      },
    ]);
  });

  it('reaches the generation that is named only after it, with the event that ended it (RUN-08)', () => {
    const elsewhere = { mode: 'observe', generationId: null, gaps: ['place_missing'] } as const;
    const placed = ['run.placed', { generationId: 'W2' }] as unknown as Told;
    expect(ofRun([bound, rootEnded, placed], { ...elsewhere, gaps: [...elsewhere.gaps] })).toEqual([
      {
        to: { kind: 'worktreeGeneration', id: 'W2' },
        type: 'run.settled',
        payload: { runId: 'R1', terminal: 'ended', endEventId: '2 workload.statusReceipt' },
      },
    ]);
    expect(ofRun([bound, placed], { ...elsewhere, gaps: [...elsewhere.gaps] })).toEqual([]);
    expect(ofRun([bound, rootEnded, placed, placed], { ...elsewhere, gaps: [...elsewhere.gaps] })).toEqual([]);
  });

  it('reaches nobody without a generation, and never twice', () => {
    const reported: Told = ['exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }];
    expect(ofRun([bound, rootEnded], { generationId: null })).toEqual([]);
    expect(ofRun([bound, rootEnded, reported])).toEqual([]);
    expect(ofRun([bound])).toEqual([]);
  });
});

describe('a cancelled Goal', () => {
  const change = (type: string) => ({
    kind: 'goal' as ActorKind,
    id: 'G1',
    before: null,
    after: {} as AnyMachineSnapshot,
    event: { type, eventId: 'the event', requestId: 'q1', actor: 'somebody', reason: '' },
  });

  it('asks for the end of every scope that carries its id (STOP-04)', () => {
    expect(relaysOf(change('goal.cancelled'))).toEqual([
      {
        to: { kind: 'executionScope', link: 'goalId', value: 'G1' },
        type: 'drain.requested',
        payload: { cause: 'cancelled', requestId: 'q1' },
      },
    ]);
  });

  it('does so for no other fact about it', () => {
    expect(relaysOf(change('goal.queued'))).toEqual([]);
  });
});

describe('a generation on its way to another controller (PROMO-05)', () => {
  const handoff = ['authority.handoffRequested', { ...asked, to: 'others' }] as const;

  function ofGeneration(...story: readonly (readonly [EventType, object])[]): readonly Relay[] {
    const before = tell(newGeneration(), ...story.slice(0, -1));
    const [type, payload] = story.at(-1)!;
    const { snapshot: after } = offer(before, type, payload);
    return relaysOf({ kind: 'worktreeGeneration', id: 'W1', before, after, event: { ...payload, type, eventId: 'e' } });
  }

  const given = [
    {
      to: { kind: 'worktreeGeneration', id: 'W1' },
      type: 'authority.handedOff',
      payload: { requestId: asked.requestId, controller: 'others' },
    },
  ];
  const working = [granted, admitted('R1'), opened('R1', 'S1')];

  it.each([
    ['the proof of its last scope', [...working, ended('R1'), closed, handoff, proved('R1', 'S1')]],
    ['the end of its last run', [...working, proved('R1', 'S1'), closed, handoff, ended('R1')]],
    ['its closed admission', [...working, proved('R1', 'S1'), ended('R1'), handoff, closed]],
    ['the request itself, when nothing is left', [granted, closed, handoff]],
  ])('is given away in the commit of what was missing: %s', (_, story) => {
    expect(ofGeneration(...story)).toEqual(given);
  });

  it.each([
    ['a scope is not proved', [...working, ended('R1'), closed, handoff]],
    ['a run has not ended', [...working, proved('R1', 'S1'), closed, handoff]],
    ['it is open', [granted, handoff]],
    ['nobody asked for it', [granted, closed]],
    ['it was taken back', [granted, handoff, ['authority.handoffAbandoned', { requestId: 'q' }] as const, closed]],
  ])('stays while %s', (_, story) => {
    expect(ofGeneration(...story)).toEqual([]);
  });
});
