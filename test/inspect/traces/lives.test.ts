/** Spans as a provider of OpenTelemetry gets them, from real commits of the real charts. */
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import type { Host } from '../../../actors/host/api.ts';
import type { Draft } from '../../../actors/host/outcome.ts';
import { spanContextOf } from '../../../inspect/traces/identity.ts';
import { type FinishedSpan, SmallProvider } from '../../../inspect/traces/provider.ts';
import { type TracedParts, traceCommits } from '../../../inspect/traces/tracing.ts';
import type { EventType } from '../../../machines/events/catalogue.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { protocol } from '../../../machines/protocol.ts';
import type { Store } from '../../../persistence/store.ts';
import { producer, testHost } from '../../host/support/testHost.ts';
import { exitReceipt } from '../../machines/support/evidence.ts';
import { goalInput } from '../../machines/support/goalEvidence.ts';
import { attached, drain, prepared, released, rootEnded, seen } from '../../machines/support/play.ts';
import { scopeInput } from '../../machines/support/scopeSamples.ts';

afterEach(() => trace.disable());

const secret = 'a title that is nobody’s business';
const goalId = goalInput({}).goalId;
const goalTrace = spanContextOf({ kind: 'goal', id: goalId });
const draft = (kind: ActorKind, id: string, [type, payload]: readonly [EventType, object]): Draft => ({
  type,
  actor: { kind, id },
  producer,
  payload: payload as Record<string, unknown>,
});
const toScope = (told: readonly [EventType, object]) => draft('executionScope', 'S1', told);
const wanted = scopeInput({ goalId, runId: null, generationId: null, purpose: secret });
const beginning: Draft[] = [
  draft('goal', goalId, ['goal.created', goalInput({ title: secret })]),
  toScope(['scope.requested', wanted]),
  toScope(prepared),
  toScope(attached),
  toScope(released),
  toScope(drain('stop')),
  toScope(['drain.quiesced', { members: {}, total: 0, scans: 2 }]),
];
const ending: Draft[] = [
  toScope(rootEnded),
  toScope(['guardian.exitReceipt', exitReceipt()]),
  draft('goal', goalId, ['goal.cancelled', { requestId: 'q1', actor: 'operator', reason: secret }]),
];

function traced(store?: Store, changed: Partial<TracedParts> = {}) {
  const test = testHost({ ...protocol, ...(store === undefined ? {} : { store }) });
  const faults: unknown[] = [];
  const losses: unknown[] = [];
  const parts = {
    monoMs: () => performance.now(),
    onLoss: (...loss: readonly unknown[]) => losses.push(loss),
    host: test.host,
    store: test.store,
    version: '1',
    wallMs: () => 5_000_000_000_000,
    onFault: (error: unknown) => faults.push(error),
    ...changed,
  };
  return { ...test, stop: traceCommits(parts), faults, losses };
}

const submit = async (host: Host, drafts: readonly Draft[]) => {
  for (const one of drafts) expect(await host.submit([one])).toMatchObject([{ outcome: 'changed' }]);
};

describe('with the SDK', () => {
  function inMemory() {
    const exporter = new InMemorySpanExporter();
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
    return { exporter, named };
  }

  it('tells launch, drain and Goal in the trace of the Goal, and every commit with its size', async () => {
    const { exporter, named } = inMemory();
    const { host, stop, faults } = traced();
    await host.submit(beginning);
    await submit(host, ending);
    stop();
    expect(faults).toEqual([]);
    expect(named('custody.commit').map(({ attributes }) => attributes['custody.commit.events'])).toEqual([
      7,
      1,
      expect.any(Number),
      expect.any(Number),
    ]);
    const [launch] = named('custody.launch');
    expect(launch?.spanContext().traceId).toBe(goalTrace.traceId);
    expect(launch?.parentSpanContext?.spanId).toBe(goalTrace.spanId);
    expect(launch?.attributes).toMatchObject({
      'custody.scope.id': 'S1',
      'custody.goal.id': goalId,
      'custody.scope.proof': 'own_receipt',
      'custody.root.how': 'exited',
    });
    expect(launch?.events.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['scope.requested', 'launch.releaseCommitted', 'guardian.exitReceipt']),
    );
    const [drained] = named('custody.drain');
    expect(drained?.spanContext().traceId).toBe(goalTrace.traceId);
    expect(drained?.attributes).toMatchObject({
      'custody.drain.outcome': 'settled',
      'custody.drain.cause': 'stop',
      'custody.drain.attempt': 1,
    });
    expect(drained?.events.map(({ name }) => name)[0]).toBe('drain.requested');
    expect(drained?.events.map(({ name }) => name)).toContain('drain.quiesced');
    const [goal] = named('custody.goal');
    expect(goal?.spanContext().traceId).toBe(goalTrace.traceId);
    expect(goal?.attributes).toMatchObject({ 'custody.goal.outcome': 'cancelled' });
    expect(
      JSON.stringify(
        exporter
          .getFinishedSpans()
          .map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
      ),
    ).not.toContain('nobody');
  });

  it('tells a life whole that another daemon has begun', async () => {
    const first = traced();
    await submit(first.host, beginning);
    first.stop();
    const { named } = inMemory();
    const second = traced(first.store);
    await submit(second.host, ending);
    second.stop();
    const [launch] = named('custody.launch');
    expect(launch?.events[0]?.name).toBe('scope.requested');
    expect(launch?.spanContext().traceId).toBe(goalTrace.traceId);
    expect(named('custody.goal')).toHaveLength(1);
  });

  it('marks a drain that has stalled, and tells the next attempt by itself', async () => {
    const { named } = inMemory();
    const { host, stop } = traced();
    const stalled = toScope(['drain.budgetExhausted', { elapsedMs: 5, survivors: 1 }]);
    await submit(host, [...beginning, stalled, toScope(drain('stop')), stalled]);
    stop();
    expect(
      named('custody.drain').map(({ attributes, status }) => [attributes['custody.drain.attempt'], status.message]),
    ).toEqual([
      [1, 'stalled'],
      [2, 'stalled'],
    ]);
    expect(named('custody.drain')[1]?.events.map(({ name }) => name)).toEqual([
      'drain.requested',
      'drain.budgetExhausted',
    ]);
  });
});

describe('of more than one look', () => {
  const toldSpans = () => {
    const told: FinishedSpan[] = [];
    trace.setGlobalTracerProvider(new SmallProvider((span) => told.push(span)));
    return told;
  };

  it('begins a long drain when it was asked for, and has the newest 128 of its events', async () => {
    const told = toldSpans();
    const { host, store, stop } = traced();
    await host.submit(beginning);
    for (let n = 0; n < 100; n += 1) {
      const again = [drain('stop', { requestId: `again ${n}` }), seen('alive', `look_${n}`)];
      expect((await host.submit(again.map(toScope))).map(({ outcome }) => outcome)).not.toContain('rejected');
    }
    await host.submit(ending);
    stop();
    const asked = store.journal
      .page({ actor: { kind: 'executionScope', id: 'S1' }, type: 'drain.requested' })
      .flatMap((entry) =>
        entry.intact && entry.outcome === 'changed' ? [entry.envelope as { at: { wallMs: number } }] : [],
      );
    const drained = told.find(({ name }) => name === 'custody.drain');
    expect(drained?.startMs).toBe(asked.at(-1)?.at.wallMs);
    expect(drained?.events).toHaveLength(128);
    expect(drained?.events.at(-1)?.name).toBe('guardian.exitReceipt');
  });

  it('lets others have their turn between sixteen lives and the next', async () => {
    const told = toldSpans();
    const { host, stop } = traced();
    const goals = Array.from({ length: 40 }, (_, n) => `G${n}`);
    await host.submit(
      goals.map((id) => draft('goal', id, ['goal.created', goalInput({ goalId: id as typeof goalId })])),
    );
    await host.submit(
      goals.map((id) => draft('goal', id, ['goal.cancelled', { requestId: id, actor: 'operator', reason: secret }])),
    );
    const counts: number[] = [];
    const count = () => told.filter(({ name }) => name === 'custody.goal').length;
    while (count() < goals.length) {
      await new Promise((resolve) => setImmediate(resolve));
      if (counts.at(-1) !== count()) counts.push(count());
    }
    expect(counts.filter((n) => n > 0)).toEqual([16, 32, 40]);
    stop();
    expect(count()).toBe(goals.length);
  });
});

describe('what is not told', () => {
  const cancelled = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `G${from + n}`).flatMap((id) => [
      draft('goal', id, ['goal.created', goalInput({ goalId: id as typeof goalId })]),
      draft('goal', id, ['goal.cancelled', { requestId: id, actor: 'operator', reason: secret }]),
    ]);

  it('is counted where the daemon leaves, which waits a second for it and no longer', async () => {
    const told: FinishedSpan[] = [];
    trace.setGlobalTracerProvider(new SmallProvider((span) => told.push(span)));
    let nowMs = 0;
    const monoMs = () => {
      nowMs += 400;
      return nowMs;
    };
    const { host, stop, losses } = traced(undefined, { monoMs });
    const submitted = host.submit(cancelled(0, 100));
    await new Promise<void>((resolve) => {
      host.onCommit(() => {
        stop();
        resolve();
      });
    });
    await submitted;
    expect(told.filter(({ name }) => name === 'custody.goal')).toHaveLength(32);
    expect(losses).toEqual([[68, 'the daemon left before they were told']]);
  });

  it('is counted where more end at once than may wait', async () => {
    const told: FinishedSpan[] = [];
    trace.setGlobalTracerProvider(new SmallProvider((span) => told.push(span)));
    const { host, stop, losses } = traced(undefined, { waitingAtMost: 10 });
    await host.submit(cancelled(0, 40));
    stop();
    expect(told.filter(({ name }) => name === 'custody.goal')).toHaveLength(10);
    expect(losses).toEqual([[30, 'too many ended at once']]);
  });
});

it('reads nothing and keeps nothing while nobody listens', async () => {
  const { host, store, stop } = traced();
  let looks = 0;
  const { page } = store.journal;
  Object.assign(store.journal, {
    page: (...args: Parameters<typeof page>) => {
      looks += 1;
      return page(...args);
    },
  });
  await submit(host, [...beginning, ...ending]);
  stop();
  expect(looks).toBe(0);
});

it('goes on with the next life when one cannot be told', async () => {
  const told: FinishedSpan[] = [];
  trace.setGlobalTracerProvider(new SmallProvider((span) => told.push(span)));
  const { host, store, stop, faults } = traced();
  const { page } = store.journal;
  let isFirst = true;
  Object.assign(store.journal, {
    page: (...args: Parameters<typeof page>) => {
      if (!isFirst) return page(...args);
      isFirst = false;
      throw new Error('damaged');
    },
  });
  await submit(host, [...beginning, ...ending]);
  stop();
  expect(faults).toHaveLength(1);
  expect(told.map(({ name }) => name)).toContain('custody.goal');
});

it('gives each life the very span that the lives below it name as their parent', async () => {
  const told: FinishedSpan[] = [];
  trace.setGlobalTracerProvider(new SmallProvider((span) => told.push(span)));
  const { host, stop } = traced();
  await submit(host, [...beginning, ...ending]);
  stop();
  const of = (name: string) => told.find((span) => span.name === name);
  expect(of('custody.goal')?.context).toMatchObject({ traceId: goalTrace.traceId, spanId: goalTrace.spanId });
  expect(of('custody.goal')?.parentSpanId).toBeUndefined();
  expect(of('custody.launch')?.parentSpanId).toBe(of('custody.goal')?.context.spanId);
  expect(of('custody.drain')?.parentSpanId).toBe(of('custody.launch')?.context.spanId);
  expect(of('custody.commit')?.context.traceId).not.toBe(goalTrace.traceId);
});
