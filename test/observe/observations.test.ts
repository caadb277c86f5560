import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLinuxAdapter, type SampleRequest } from '../../actors/observe/linux/adapter.ts';
import type { ContextResult } from '../../actors/observe/linux/context.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import type { Sample } from '../../actors/observe/sample.ts';
import { Backoff } from '../../actors/observe/streams/backoff.ts';
import {
  type DueProcess,
  type LaneEvent,
  type Observed,
  observations$,
} from '../../actors/observe/streams/observations.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { FakeClock } from './support/fakeClock.ts';

const installationId = installationIdSchema.parse('Itest');
const real = createLinuxAdapter({ installationId, probe: probeExistence });
const self = real.capture(process.pid);

/** Keys `k000` …, all of them this very process. */
function recorded(count: number): DueProcess[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `k${String(index).padStart(4, '0')}`,
    request: { identity: self },
  }));
}

/** An index over `all`, and what was asked of it. */
function indexed(all: readonly DueProcess[]) {
  const asked: (string | null)[] = [];
  const due = (cursor: string | null, limit: number) => {
    asked.push(cursor);
    return all.filter(({ key }) => cursor === null || key > cursor).slice(0, limit);
  };
  return { due, asked };
}

interface Bench {
  readonly all: readonly DueProcess[];
  readonly clock?: FakeClock;
  readonly deliver?: (observed: readonly Observed[]) => Promise<void>;
  readonly adapter?: Parameters<typeof observations$>[0]['adapter'];
  readonly cursor?: string;
  readonly backoff?: Backoff;
  readonly timeBudgetMs?: number;
  readonly batch?: number;
  readonly countBudget?: number;
}

function lane({ all, clock = new FakeClock(), deliver = async () => undefined, adapter = real, ...rest }: Bench) {
  const passes$ = new Subject<void>();
  const events: LaneEvent[] = [];
  const { due, asked } = indexed(all);
  let wake: (() => void) | undefined;
  const subscription = observations$({ adapter, due, passes$, clock, deliver, ...rest }).subscribe((event) => {
    events.push(event);
    if (event.type !== 'batch') wake?.();
  });
  /** Runs one pass to its end. */
  const pass = async () => {
    const over = new Promise<void>((resolve) => {
      wake = resolve;
    });
    passes$.next();
    await over;
    return events.at(-1)!;
  };
  const seen = () => events.flatMap((event) => (event.type === 'batch' ? event.observed.map(({ key }) => key) : []));
  return { passes$, events, asked, pass, seen, subscription, clock };
}

/** Says what the test wants instead of looking, for ten processes in each slice. */
function puppetAdapter(verdict: (request: SampleRequest) => Partial<Sample>, context?: () => ContextResult) {
  const seen = real.observe(self);
  const slices: number[] = [];
  return {
    slices,
    reads: 0,
    context: context ?? (() => real.context()),
    sampleSlice(requests: readonly SampleRequest[]) {
      slices.push(requests.length);
      return requests.slice(0, 10).map((request) => ({ ...seen, ...verdict(request) }));
    },
  };
}

describe('the observation lane', () => {
  it('OBS-12: a pass goes through everything due in batches, delivered in order', async () => {
    const delivered: number[] = [];
    const { pass, seen, asked } = lane({
      all: recorded(150),
      deliver: async (observed) => {
        delivered.push(observed.length);
      },
    });
    expect(await pass()).toMatchObject({ type: 'passEnded', cursor: null, processed: 150, paused: 0 });
    expect(delivered).toEqual([64, 64, 22]);
    expect(seen()).toEqual(recorded(150).map(({ key }) => key));
    expect(asked).toEqual([null, 'k0063', 'k0127']);
  });

  it('OBS-11, OBS-01: reads are made for what is due and for nothing else', async () => {
    const { pass } = lane({ all: recorded(3) });
    const ended = await pass();
    expect(ended).toMatchObject({ processed: 3 });
    // Seven for the context, three for each process that is alive.
    expect(ended.type === 'passEnded' && ended.reads).toBe(7 + 3 * 3);
  });

  it('OBS-12: when the count is used up the cursor stays, and the next pass goes on there', async () => {
    const { pass, seen, asked } = lane({ all: recorded(150), countBudget: 70 });
    expect(await pass()).toMatchObject({ cursor: 'k0069', processed: 70 });
    expect(await pass()).toMatchObject({ cursor: 'k0139', processed: 70 });
    expect(await pass()).toMatchObject({ cursor: null, processed: 10 });
    expect(seen()).toEqual(recorded(150).map(({ key }) => key));
    expect(asked).toEqual([null, 'k0063', 'k0069', 'k0133', 'k0139']);
  });

  it('OBS-12: when the time is used up the cursor stays, and the next pass goes on there', async () => {
    const clock = new FakeClock();
    const { pass, asked } = lane({
      all: recorded(150),
      clock,
      timeBudgetMs: 200,
      deliver: async () => clock.advance(150),
    });
    expect(await pass()).toMatchObject({ cursor: 'k0127', processed: 128 });
    expect(await pass()).toMatchObject({ cursor: null, processed: 22 });
    expect(asked).toEqual([null, 'k0063', 'k0127']);
  });

  it('OBS-12: a later daemon continues where an earlier one stopped', async () => {
    const { pass, seen } = lane({ all: recorded(5), cursor: 'k0002' });
    await pass();
    expect(seen()).toEqual(['k0003', 'k0004']);
  });

  it('OBS-12: a batch that could not be committed is sampled again and nothing after it was', async () => {
    const clock = new FakeClock();
    let failures = 1;
    const delivered: string[] = [];
    const { pass, events, seen } = lane({
      all: recorded(70),
      clock,
      deliver: async (observed) => {
        if (failures-- > 0) throw new Error('store is full');
        delivered.push(...observed.map(({ key }) => key));
      },
    });
    expect(await pass()).toMatchObject({ type: 'deliveryFailed', error: new Error('store is full') });
    expect(seen()).toEqual([]);
    clock.advance(1_000);
    expect(await pass()).toMatchObject({ type: 'passEnded', processed: 70 });
    expect(delivered).toEqual(recorded(70).map(({ key }) => key));
    expect(events.filter(({ type }) => type === 'deliveryFailed')).toHaveLength(1);
  });

  it('OBS-04: an unknown is left alone for a growing time, an answer ends that, a trigger overrides it', async () => {
    const clock = new FakeClock(0);
    let result: Sample['result'] = 'unknown';
    const adapter = puppetAdapter(() => ({ result, reason: 'permission' }));
    const all: DueProcess[] = recorded(1);
    const { pass, events } = lane({ all, clock, adapter });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      await pass();
      const batch = events.findLast((event) => event.type === 'batch')!;
      const { retryAtMonoMs } = batch.observed[0]!;
      waits.push(retryAtMonoMs! - clock.monoMs());
      clock.advance(waits.at(-1)! - 1);
      expect(await pass()).toMatchObject({ processed: 0, paused: 1 });
      clock.advance(1);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
    all[0] = { ...all[0]!, triggered: true };
    await pass();
    expect(await pass()).toMatchObject({ processed: 1, paused: 0 });
    all[0] = { ...all[0]!, triggered: false };
    result = 'alive';
    clock.advance(300_000);
    await pass();
    expect(await pass()).toMatchObject({ processed: 1, paused: 0 });
    result = 'unknown';
    await pass();
    const last = events.findLast((event) => event.type === 'batch')!;
    expect(last.observed[0]!.retryAtMonoMs).toBe(clock.monoMs() + 1_000);
  });

  it('OBS-04: without a context nobody is sampled, and the lane itself pauses', async () => {
    const clock = new FakeClock(0);
    let problem = true;
    const adapter = puppetAdapter(
      () => ({}),
      () => (problem ? { problem: 'foreign_proc', detail: 'self is 1' } : real.context()),
    );
    const { pass, passes$, events } = lane({ all: recorded(3), clock, adapter });
    expect(await pass()).toEqual({
      type: 'contextUnavailable',
      reason: 'foreign_proc',
      detail: 'self is 1',
      retryAtMonoMs: 1_000,
    });
    expect(adapter.slices).toEqual([]);
    problem = false;
    // Before its time no pass begins.
    passes$.next();
    passes$.next();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(events).toHaveLength(1);
    clock.advance(1_000);
    expect(await pass()).toMatchObject({ type: 'passEnded', processed: 3 });
    expect(events).toHaveLength(3);
  });

  /** Turns of the event loop that others had while `work` was going on. */
  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let counting = true;
    const count = () => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    await work();
    counting = false;
    return turns;
  }

  it('lets the event loop have its turn between slices', async () => {
    const adapter = puppetAdapter(() => ({}));
    const { pass } = lane({ all: recorded(64), adapter });
    const turns = await turnsDuring(pass);
    expect(adapter.slices).toEqual([64, 54, 44, 34, 24, 14, 4]);
    expect(turns).toBeGreaterThanOrEqual(6);
  });

  it('lets the event loop have its turn between batches that are delivered at once', async () => {
    const { pass } = lane({ all: recorded(51), adapter: puppetAdapter(() => ({})), batch: 10 });
    expect(await turnsDuring(pass)).toBeGreaterThanOrEqual(5);
  });

  it('requests that arrive during a pass ask for exactly one more', async () => {
    let deliveries = 0;
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { passes$, events, pass } = lane({
      all: recorded(1),
      deliver: async () => {
        deliveries += 1;
        if (deliveries === 1) await gate;
      },
    });
    const first = pass();
    passes$.next();
    passes$.next();
    passes$.next();
    release!();
    await first;
    await pass();
    expect(events.filter(({ type }) => type === 'passEnded').length).toBeLessThanOrEqual(3);
    expect(deliveries).toBeLessThanOrEqual(3);
  });

  it('completes with its requests, after the pass in progress; unsubscribing stops after the slice in work', async () => {
    const completing = lane({ all: recorded(2) });
    const completed = new Promise<void>((resolve) => completing.subscription.add(resolve));
    completing.passes$.next();
    completing.passes$.complete();
    await completed;
    expect(completing.events.at(-1)).toMatchObject({ type: 'passEnded', processed: 2 });

    const adapter = puppetAdapter(() => {
      leaving.subscription.unsubscribe();
      return {};
    });
    const leaving: ReturnType<typeof lane> = lane({ all: recorded(64), adapter });
    leaving.passes$.next();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(adapter.slices).toEqual([64]);
    expect(leaving.events).toEqual([]);
    expect(leaving.passes$.observed).toBe(false);
  });
});

describe('the memory of pauses', () => {
  it('is bounded: the oldest entry is forgotten, and merely asked again sooner', () => {
    const backoff = new Backoff({ limit: 2 });
    for (const key of ['a', 'b', 'c']) backoff.later(key, 0);
    expect(['a', 'b', 'c'].map((key) => backoff.isDue(key, 0))).toEqual([true, false, false]);
    backoff.reset('b');
    expect(backoff.isDue('b', 0)).toBe(true);
  });
});
