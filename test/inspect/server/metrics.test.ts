/** What was measured, for pictures: the report of `custody metrics` with every step that it is made of (METR-01). */
import { describe, expect, it } from 'vitest';
import { metricsHistory } from '../../../actors/metrics/history.ts';
import type { PastSeries } from '../../../actors/metrics/report.ts';
import { windowFrom } from '../../../actors/metrics/series.ts';
import { daemonLeaving } from '../../../actors/runtime/operatingError.ts';
import { type MetricsAnswer, type MetricsWindow, metricsWindows, routes } from '../../../inspect/server/contract.ts';
import type { Store } from '../../../persistence/store.ts';
import { passesAtOnce } from '../../../persistence/tables/passes.ts';
import { everySeries } from '../../metrics/support/everySeries.ts';
import { testDaemon } from '../../support/daemon.ts';
import { fill, measuring, minuteMs, pass } from './support/measuring.ts';
import { openPage } from './support/page.ts';

const address = (window: MetricsWindow): string => `${routes.metrics}?window=${window}`;

const find = ({ series }: MetricsAnswer, name: string): PastSeries => series.find((one) => one.name === name)!;
const stepsOf = (answer: MetricsAnswer, name: string): readonly unknown[] => find(answer, name).past!.steps;
/** Of the step that lies so many minutes before `nowMs`. */
const stepAt =
  ({ window, stepMs }: MetricsAnswer, nowMs: number) =>
  (minutes: number): number =>
    Math.floor((nowMs - minutes * minuteMs - window.fromMs) / stepMs);

describe('the metrics of the page', () => {
  it('are those of the command for the same window, and their steps add up to them', async () => {
    const { store, metrics, openWith } = measuring();
    fill(store, Date.now());
    const page = await openWith();
    const answer = await page.get<MetricsAnswer>(address('1h'));
    const { series } = metrics.report({ sinceMs: answer.window.fromMs });
    expect(answer.series.map(({ past: _, ...one }) => one)).toEqual(series);
    for (const { name, measured, past } of answer.series) {
      if (past?.kind === 'distributions' && measured.kind === 'distribution') {
        const counts = past.steps.map((step) => step?.count ?? 0);
        expect([name, counts.reduce((sum, count) => sum + count, 0)]).toEqual([name, measured.count]);
      } else if (past?.kind === 'values' && measured.kind === 'counter') {
        expect([name, past.steps.reduce<number>((sum, value) => sum + (value ?? 0), 0)]).toEqual([
          name,
          measured.value,
        ]);
      }
    }
    expect(find(answer, 'pass_duration').measured).toMatchObject({ count: 5, p50: 3, max: 5 });
  });

  it('say of each step what was measured in it, and nothing of one in which nothing was', async () => {
    const { store, openWith } = measuring();
    const nowMs = Date.now();
    fill(store, nowMs);
    const answer = await (await openWith()).get<MetricsAnswer>(address('1h'));
    const ago = stepAt(answer, nowMs);
    const durations = stepsOf(answer, 'pass_duration');
    expect(durations[ago(2)]).toEqual({ kind: 'distribution', count: 2, p50: 1, p95: 2, max: 2 });
    expect(durations.filter((step) => step !== null)).toHaveLength(3);
    const [denied, hidden] = answer.series.filter(({ name }) => name === 'unknowns');
    expect([denied!.labels, hidden!.labels]).toEqual([{ reason: 'denied' }, { reason: 'hidden' }]);
    // Passes that could tell everything, passes that could not, and no pass.
    expect([2, 30, 10].map((minutes) => denied!.past!.steps[ago(minutes)])).toEqual([0, 2, null]);
    expect(stepsOf(answer, 'commit_busy_ratio')[ago(40)]).toBe(0.25);
    expect(stepsOf(answer, 'commit_busy_ratio')[ago(50)]).toBeNull();
    expect(stepsOf(answer, 'journal_growth')[ago(40)]).toBe(5);
    const unsafe = stepsOf(answer, 'predictions_would_be_unsafe');
    expect([unsafe[ago(5)], unsafe[ago(6)]]).toEqual([1, null]);
    // Of these only the present is known.
    for (const name of ['journal_rows', 'journal_bytes', 'database_bytes', 'spool_bytes', 'oldest_unapplied_event_age'])
      expect([name, find(answer, name).past]).toEqual([name, null]);
  });

  it('show how many gaps stood open and closed', async () => {
    const { store, openWith } = measuring();
    const nowMs = Date.now();
    fill(store, nowMs);
    const answer = await (await openWith()).get<MetricsAnswer>(address('1h'));
    const ago = stepAt(answer, nowMs);
    const [closed, open] = answer.series.filter(({ name }) => name === 'coverage_gaps');
    expect([closed, open].map((one) => [one!.labels.state, one!.measured])).toEqual([
      ['closed', { kind: 'gauge', value: 1 }],
      ['open', { kind: 'gauge', value: 2 }],
    ]);
    const at = (one: PastSeries, minutes: number) => one.past!.steps[ago(minutes)];
    expect([50, 20, 13, 2].map((minutes) => [at(open!, minutes), at(closed!, minutes)])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [2, 1],
    ]);
  });

  it('say of everything that nothing was measured where nothing was, and never 0', async () => {
    const { openWith } = measuring();
    const answer = await (await openWith()).get<MetricsAnswer>(address('24h'));
    expect(answer.series.map(({ name, unit }) => [name, unit])).toEqual(everySeries(answer.series));
    const measuredOf = (name: string) => find(answer, name).measured;
    for (const name of ['pass_duration', 'pass_reads', 'recovery_time']) {
      expect(measuredOf(name)).toEqual({ kind: 'distribution', count: 0, p50: null, p95: null, max: null });
      expect(new Set(stepsOf(answer, name))).toEqual(new Set([null]));
    }
    for (const name of ['unknowns', 'predictions_would_be_unsafe']) {
      expect(measuredOf(name)).toEqual({ kind: 'counter', value: null });
      expect(new Set(stepsOf(answer, name))).toEqual(new Set([null]));
    }
  });

  it('take a window of three, and no other question', async () => {
    const { openWith } = measuring();
    const page = await openWith();
    for (const query of [
      '',
      '?window=',
      '?window=2h',
      '?window=1h&window=7d',
      '?window=1h&limit=1',
      '?window=toString',
    ])
      expect([query, (await page.ask(`${routes.metrics}${query}`)).status]).toEqual([query, 400]);
  });

  it('are bounded whatever there is, and begin where a step begins', async () => {
    const { store, openWith } = measuring();
    const nowMs = Date.now();
    store.write(() => {
      for (let n = 0; n < 300; n += 1) {
        const about = { gapId: `g${n}`, producer: `producer ${n}`, kind: 'note_lost', count: 1, bootId: 'b' };
        store.coverageGaps.record({ ...about, fromWallMs: 0, toWallMs: nowMs - n * minuteMs });
      }
    });
    const page = await openWith();
    for (const [window, { spanMs, stepMs }] of Object.entries(metricsWindows)) {
      const { text } = await page.ask(address(window as MetricsWindow));
      const answer = JSON.parse(text) as MetricsAnswer;
      expect(answer.window.fromMs % stepMs).toBe(0);
      expect(answer.window.untilMs - answer.window.fromMs).toBeGreaterThanOrEqual(spanMs);
      for (const { past } of answer.series) expect(past?.steps.length ?? 0).toBeLessThanOrEqual(97);
      // A hundred producers have a name, the others are one; each may be open and closed.
      expect(answer.series.filter(({ name }) => name === 'coverage_gaps')).toHaveLength(202);
      expect(text.length).toBeLessThan(150_000);
    }
  });
});

describe('reading them', () => {
  it('gives everybody a turn between two pages', async () => {
    const { store, daemon } = measuring();
    const nowMs = Date.now();
    const pages = 3;
    // More than a page in one millisecond: the next one goes on among equals.
    store.write(() => {
      for (let n = 0; n < pages * passesAtOnce - 10; n += 1) store.passes.add({ ...pass, wallMs: nowMs, reads: n });
    });
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const turnsAt: number[] = [];
    const passes: Store['passes'] = {
      ...store.passes,
      page(...asked) {
        turnsAt.push(turns);
        return store.passes.page(...asked);
      },
    };
    const parts = { store: { ...store, passes }, clock: daemon.clock, spoolDir: '/nonexistent/spool' };
    const window = windowFrom(nowMs - minuteMs, nowMs);
    const { signal } = new AbortController();
    const { series } = await metricsHistory(parts, { window, stepMs: minuteMs, signal });
    isOver = true;
    expect(turnsAt.length).toBeGreaterThan(pages);
    expect(new Set(turnsAt).size).toBe(turnsAt.length);
    // And before each time that everything is put in order.
    expect(turns - turnsAt.at(-1)!).toBeGreaterThanOrEqual(3);
    const { measured } = series.find(({ name }) => name === 'pass_reads')!;
    expect(measured).toMatchObject({ count: pages * passesAtOnce - 10, max: pages * passesAtOnce - 11 });
  });

  it('is done once for all who ask meanwhile', async () => {
    const { metrics, openWith } = measuring();
    let asked = 0;
    const page = await openWith({
      history: (request) => {
        asked += 1;
        return metrics.history(request);
      },
    });
    const texts = await Promise.all([1, 2, 3, 4].map(async () => (await page.ask(address('7d'))).text));
    expect(asked).toBeLessThan(4);
    expect(new Set(texts).size).toBe(asked);
    await page.get(address('7d'));
    expect(asked).toBeGreaterThan(1);
  });

  it('ends when the daemon leaves', async () => {
    const { metrics, leaving, openWith } = measuring();
    const page = await openWith({
      history: (request) => {
        const answer = metrics.history(request);
        leaving.abort(daemonLeaving());
        return answer;
      },
    });
    expect(await page.ask(address('24h'))).toMatchObject({ status: 503 });
  });
});

it('a real daemon shows what it has measured of itself', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { runId } = await daemon.exec(goalId, 'exit 0');
  await daemon.proved(runId);
  const page = await openPage(daemon);
  const answer = await page.get<MetricsAnswer>(address('1h'));
  expect(answer.series.map(({ name, unit }) => [name, unit])).toEqual(everySeries(answer.series));
  const { measured, past } = find(answer, 'commit_latency');
  expect(measured).toMatchObject({ kind: 'distribution', count: expect.any(Number), p50: expect.any(Number) });
  expect(past!.steps.at(-1) ?? past!.steps.at(-2)).toMatchObject({ kind: 'distribution' });
  expect(find(answer, 'journal_growth').measured).toMatchObject({ value: expect.any(Number) });
});
