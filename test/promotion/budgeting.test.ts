/** Budgets come from what was measured on this host, or not at all (METR-02). */
import { expect, it } from 'vitest';
import { budgetsFrom } from '../../actors/promotion/budgeting.ts';
import { measured, samplesOf } from '../../actors/promotion/measured.ts';
import { metricsFixture, withSeries } from './support/evidence.ts';

const window = { fromMs: 1_700_000_000_000, untilMs: 1_700_000_600_000 };

it('each is what was measured, times the factor, with what it was taken from', () => {
  const found = budgetsFrom(metricsFixture(), 2);
  expect('budgets' in found && found.budgets.map(({ name, value }) => [name, value])).toEqual([
    ['pass_duration_p95', 25],
    ['commit_latency_p95', 8],
    ['recovery_time_p95', 1_800],
    ['unknowns', 8],
  ]);
  expect('budgets' in found && found.budgets[0]!.from).toEqual({
    ...{ series: 'pass_duration', value: 12.5, unit: 'milliseconds', samples: 400, factor: 2, window },
  });
});

it('says of each how many values are missing, and sets none then', () => {
  const missing = (...of: Parameters<typeof withSeries>) => budgetsFrom(withSeries(...of), 2);
  expect(missing('recovery_time', { count: 1 })).toEqual({
    missing: [{ name: 'recovery_time_p95', samples: 1, needed: 3 }],
  });
  expect(missing('commit_latency', undefined)).toEqual({
    missing: [{ name: 'commit_latency_p95', samples: 0, needed: 100 }],
  });
  // Unknowns are counted per look, so that a few looks without any say nothing.
  expect(missing('pass_duration', { count: 40 })).toEqual({
    missing: [
      { name: 'pass_duration_p95', samples: 40, needed: 100 },
      { name: 'unknowns', samples: 40, needed: 100 },
    ],
  });
});

it('of several series of a name the worst counts, in one unit, and one that was not measured may be it', () => {
  const [pass] = metricsFixture().series;
  const of = (p95: number | null, unit: 'seconds' | 'milliseconds' | 'bytes') => ({
    ...pass!,
    unit,
    measured: { ...pass!.measured, kind: 'distribution' as const, count: 10, p50: 1, p95, max: 9 },
  });
  const asked = { statistic: 'p95', unit: 'milliseconds' } as const;
  const both = { window, series: [of(20, 'milliseconds'), of(0.5, 'seconds')] };
  expect(measured(both, 'pass_duration', asked)).toEqual({ value: 500, samples: 20 });
  for (const odd of [of(null, 'milliseconds'), of(1, 'bytes')])
    expect(measured({ window, series: [of(20, 'milliseconds'), odd] }, 'pass_duration', asked)).toBeUndefined();
  expect(samplesOf(both, 'nothing')).toBe(0);
});
