/** No stage that gives control without four green dimensions (PROMO-04, PROMO-06, PROMO-08, METR-02). */
import { describe, expect, it } from 'vitest';
import { type GateEvidence, gateDimensions, worst } from '../../actors/promotion/gate.ts';
import { grantsControl, prerequisites } from '../../actors/promotion/stages.ts';
import { stages } from '../../persistence/tables/promotions.ts';
import {
  acceptanceFixture,
  agreed,
  budgetsFixture,
  greenEvidence,
  stageEvidence,
  usable,
  withRow,
  withSeries,
} from './support/evidence.ts';

const without = (name: string) => budgetsFixture().filter((budget) => budget.name !== name);
const report = (more: object) => usable({ ...acceptanceFixture(), ...more });

/** Each says which dimension it is about, which check names it, and what the verdict is. */
const worse: readonly (readonly [string, string, 'red' | 'missing', Partial<GateEvidence>])[] = [
  ['safety', 'acceptance_safety', 'missing', { acceptance: { state: 'none' } }],
  ['coverage', 'measurements', 'red', { damagedMeasurement: { table: 'totals', where: 'commits' } }],
  ['safety', 'acceptance_safety', 'missing', { acceptance: { state: 'damaged', digest: 'd' } }],
  [
    'safety',
    'acceptance_safety',
    'missing',
    { acceptance: { state: 'other', what: 'program', digest: 'd', wallMs: 1 } },
  ],
  ['safety', 'acceptance_safety', 'red', { acceptance: report({ safety: 'failed' }) }],
  ['safety', 'acceptance_safety', 'missing', { acceptance: report({ safety: 'not_run' }) }],
  ['safety', 'fault_matrix', 'red', { acceptance: usable(withRow('FAULT-06', 'failed')) }],
  ['safety', 'fault_matrix', 'missing', { acceptance: usable(withRow('FAULT-06', 'not_run')) }],
  ['safety', 'fault_matrix', 'missing', { acceptance: usable(withRow('FAULT-06', undefined)) }],
  ['safety', 'containment_contract', 'missing', { contract: 'none' }],
  ['safety', 'containment_contract', 'missing', { contract: 'short' }],
  ['safety', 'unsafe_predictions', 'red', { metrics: withSeries('predictions_would_be_unsafe', { value: 1 }) }],
  ['safety', 'unsafe_predictions', 'missing', { metrics: withSeries('predictions_would_be_unsafe', undefined) }],
  ['safety', 'compared_outcomes', 'missing', { agreement: { ...agreed, compared: 19 } }],
  ['safety', 'ours_wrong', 'red', { agreement: { ...agreed, oursWrong: 1 } }],
  ['safety', 'undecided_unsafe', 'red', { agreement: { ...agreed, undecidedUnsafe: 1 } }],
  ['safety', 'undecided_other', 'red', { agreement: { ...agreed, undecidedOther: 6 } }],
  ['recovery', 'acceptance_progress', 'red', { acceptance: report({ progress: 'failed' }) }],
  ['recovery', 'rollback', 'red', { acceptance: usable(withRow('rollback', 'failed')) }],
  ['recovery', 'rollback', 'missing', { acceptance: usable(withRow('rollback', undefined)) }],
  ['recovery', 'recovery_time_p95', 'red', { metrics: withSeries('recovery_time', { p95: 1_801 }) }],
  ['recovery', 'recovery_time_p95', 'missing', { metrics: withSeries('recovery_time', { count: 2 }) }],
  ['recovery', 'recovery_time_p95', 'missing', { budgets: without('recovery_time_p95') }],
  ['coverage', 'open_coverage_gaps', 'red', { openGaps: 1 }],
  ['coverage', 'damaged_records', 'red', { damaged: ['W9'] }],
  ['coverage', 'unknowns', 'red', { metrics: withSeries('unknowns', { value: 5 }) }],
  ['coverage', 'unknowns', 'missing', { metrics: withSeries('unknowns', { value: null }) }],
  [
    'coverage',
    'oldest_unapplied_event_age',
    'red',
    { metrics: withSeries('oldest_unapplied_event_age', { value: 301 }) },
  ],
  ['latency', 'pass_duration_p95', 'red', { metrics: withSeries('pass_duration', { p95: 25.1 }) }],
  ['latency', 'pass_duration_p95', 'missing', { metrics: withSeries('pass_duration', { count: 99 }) }],
  ['latency', 'commit_latency_p95', 'missing', { metrics: withSeries('commit_latency', { p95: null }) }],
  ['latency', 'commit_latency_p95', 'missing', { budgets: without('commit_latency_p95') }],
];

describe('the gate', () => {
  it('is green with everything within its bounds, and lets every stage be reached', () => {
    expect(gateDimensions(greenEvidence()).map(({ verdict }) => verdict)).toEqual(['green', 'green', 'green', 'green']);
    for (const stage of stages) expect(prerequisites(stage, stageEvidence())).toEqual([]);
  });

  it.each(worse)(
    '%s: %s is %s, which is said with its figures, and nothing that gives control is reached',
    (...row) => {
      const [dimension, name, verdict, more] = row;
      const found = gateDimensions(greenEvidence(more)).find((one) => one.dimension === dimension)!;
      const check = found.checks.find((one) => one.check === name)!;
      expect(check).toMatchObject({ verdict, next: [expect.stringContaining('custody ')] });
      expect(found.verdict).not.toBe('green');
      for (const stage of stages.filter(grantsControl)) {
        const lacks = prerequisites(stage, stageEvidence(more));
        expect(lacks).toContainEqual(
          expect.objectContaining({ code: `gate_${dimension}`, detail: expect.stringContaining(name) }),
        );
      }
      expect(prerequisites('comparing', stageEvidence(more))).toEqual([]);
    },
  );

  it('what is bad comes before what is missing, and nothing at all is missing', () => {
    expect(worst(['green', 'missing', 'red'])).toBe('red');
    expect(worst(['green', 'missing'])).toBe('missing');
    expect(worst([])).toBe('missing');
  });

  it('bounds that a person has set count in place of those from the beginning', () => {
    const set = { name: 'undecided_unsafe', value: 1, origin: 'by_hand', wallMs: 1, measured: null } as const;
    const more = { agreement: { ...agreed, undecidedUnsafe: 1 }, budgets: [...budgetsFixture(), set] };
    expect(prerequisites('canary', stageEvidence(more))).toEqual([]);
  });
});

describe('what a stage needs besides', () => {
  const codes = (...of: Parameters<typeof prerequisites>) => prerequisites(...of).map(({ code }) => code);

  it('comparing: something to compare', () => {
    expect(codes('comparing', stageEvidence({}, { watched: [], controlled: [] }))).toEqual(['nothing_watched']);
  });

  it('canary: a budget for everything that is measured, each with the command that supplies it (METR-02)', () => {
    const lacks = prerequisites('canary', stageEvidence({ budgets: [] })).filter(({ code }) => code === 'no_budget');
    expect(lacks.map(({ detail }) => detail.split(' ')[0])).toEqual([
      'pass_duration_p95',
      'commit_latency_p95',
      'recovery_time_p95',
      'unknowns',
    ]);
    for (const { next } of lacks) expect(next[0]).toBe('custody promote budgets --measure');
  });

  it.each(['migration', 'retention', 'containment_contract'])(
    'canary: %s verified, though no dimension asks for it',
    (id) => {
      const lacks = prerequisites('canary', stageEvidence({ acceptance: usable(withRow(id, 'not_run')) }));
      expect(lacks).toMatchObject([{ code: 'not_ready', detail: expect.stringContaining(id) }]);
    },
  );

  it('wide: a worktree under control in which work came to a proved end; canary does not', () => {
    expect(codes('canary', stageEvidence({}, { proved: [] }))).toEqual([]);
    for (const stage of ['wide', 'sole'] as const)
      expect(codes(stage, stageEvidence({}, { proved: [] }))).toEqual(['no_canary_work']);
  });

  it('sole: nothing of others that nobody saw end; wide does not', () => {
    const left = { unresolved: [{ generationId: 'W1', controller: 'legacy', runs: 2 }] };
    expect(codes('wide', stageEvidence({}, left))).toEqual([]);
    expect(prerequisites('sole', stageEvidence({}, left))).toMatchObject([
      { code: 'legacy_unresolved', detail: 'legacy controls W1, where 2 runs have not ended' },
    ]);
  });

  it('the way back: nothing', () => {
    expect(codes('tracking', stageEvidence({ acceptance: { state: 'none' }, budgets: [], openGaps: 9 }))).toEqual([]);
  });
});
