import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { payloadSchemas } from '../../machines/events/catalogue.ts';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import { type Relay, relaysOf } from '../../machines/relays.ts';
import { step } from '../../machines/step.ts';
import { workerIncarnationMachine } from '../../machines/workerIncarnation.ts';
import {
  abandoned,
  drain,
  enclosed,
  eventOf,
  launch,
  playScope,
  playWorker,
  prepared,
  rebooted,
  seen,
  type Told,
  treeEnded,
} from './support/play.ts';
import { registration, tickOf } from './support/workerSamples.ts';

const charts = { executionScope: executionScopeMachine, workerIncarnation: workerIncarnationMachine };

function relayed(kind: keyof typeof charts, { before, told }: { before: AnyMachineSnapshot; told: Told }) {
  const event = eventOf(told, 'the event');
  const { snapshot: after } = step(charts[kind], before, event);
  const relays = relaysOf({ kind, id: kind === 'executionScope' ? 'S1' : 'K1', before, after, event });
  for (const { type, payload } of relays) payloadSchemas[type].parse(payload);
  return relays;
}

/** What the last event of the story of a worker's scope means for the worker. */
const ofScope = (
  story: readonly Told[],
  input: Parameters<typeof playScope>[1] = { runId: null },
): readonly Relay[] => {
  const { snapshot: before } = playScope(story.slice(0, -1), input);
  const relays = relayed('executionScope', { before, told: story.at(-1) as Told });
  return relays.filter(({ to }) => to.kind === 'workerIncarnation');
};

const ofWorker = (...story: Told[]): readonly Relay[] =>
  relayed('workerIncarnation', { before: playWorker(story.slice(0, -1)).snapshot, told: story.at(-1) as Told });

const to = { kind: 'workerIncarnation', link: 'scopeId', value: 'S1' };
const registered = ['worker.registered', registration()] as unknown as Told;
const tick = (seq: number): Told => ['scheduler.tick', tickOf({ seq })];
const proved = [
  'scope.exitProved',
  { scopeId: 'S1', proofKind: 'own_receipt', proofEventId: 'the proof' },
] as unknown as Told;

describe('the scope of a worker, to the worker', () => {
  it.each([
    ['own_receipt', [...launch, treeEnded]],
    ['boot_epoch', [...launch, rebooted]],
    ['enclosing_receipt', [...launch, seen('absent'), enclosed]],
    ['never_launched', [prepared, abandoned]],
  ] as const)('says that nobody remains, by %s (OWN-05)', (proofKind, story) => {
    const payload = { scopeId: 'S1', proofKind, proofEventId: 'the event' };
    expect(ofScope(story)).toEqual([{ to, type: 'scope.exitProved', payload }]);
  });

  it.each<readonly [string, readonly Told[], string]>([
    ['a lost guardian', [...launch, seen('absent')], 'guardian_gone'],
    [
      'a stalled drain',
      [...launch, drain('stop'), ['drain.budgetExhausted', { elapsedMs: 1, survivors: 1 }]],
      'drain_stalled',
    ],
  ])('says that it cannot be accounted for after %s (REC-04)', (_, story, reason) => {
    expect(ofScope(story)).toEqual([{ to, type: 'scope.unverified', payload: { scopeId: 'S1', reason } }]);
  });

  it('says nothing of a look that failed, of a second proof, and where the scope serves a run', () => {
    expect(ofScope([...launch, seen('unknown')])).toEqual([]);
    expect(ofScope([...launch, rebooted, treeEnded])).toEqual([]);
    expect(ofScope([...launch, treeEnded], {})).toEqual([]);
  });
});

describe('a worker, to the fence of its runtime', () => {
  const fence = { kind: 'recoveryFence', id: 'X1' };

  it('passes on the tick that makes it healthy, as the very same event, and no other one (REPL-07)', () => {
    expect(ofWorker(registered, tick(1))).toEqual([
      { to: fence, type: 'scheduler.tick', payload: tickOf(), eventId: 'the event' },
    ]);
    expect(ofWorker(registered, tick(1), tick(2))).toEqual([]);
  });

  it('says once that nobody of it remains', () => {
    const payload = { scopeId: 'S1', proofEventId: 'the proof' };
    expect(ofWorker(registered, proved)).toEqual([{ to: fence, type: 'worker.scopeSettled', payload }]);
    expect(ofWorker(proved)).toEqual([{ to: fence, type: 'worker.scopeSettled', payload }]);
    expect(ofWorker(registered, proved, proved)).toEqual([]);
    expect(
      ofWorker(registered, ['scope.unverified', { scopeId: 'S1', reason: 'guardian_gone' }] as unknown as Told),
    ).toEqual([]);
  });
});
