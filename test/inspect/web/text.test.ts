/** What the page decides without a browser. */
import { describe, expect, it } from 'vitest';
import { printable } from '../../../cli/print/escape.ts';
import type { ActorRow, EventView, JournalAnswer, Message, Party } from '../../../inspect/server/contract.ts';
import { differences } from '../../../inspect/web/actor/difference.ts';
import { withNewest } from '../../../inspect/web/actor/heldJournal.ts';
import { activeIn } from '../../../inspect/web/chart/placedChart.ts';
import { selectRows } from '../../../inspect/web/fleet/selection.ts';
import { stretchesOf } from '../../../inspect/web/metrics/lines.ts';
import { observed, see } from '../../../inspect/web/metrics/observed.ts';
import { endOf } from '../../../inspect/web/metrics/scale.ts';
import { lanesOfKinds, lanesOfParties } from '../../../inspect/web/sequence/lanes.ts';
import { parseRecording } from '../../../inspect/web/terminal/recording.ts';
import { axisMeasure, measure } from '../../../inspect/web/text/measure.ts';
import { duration, playTime, size } from '../../../inspect/web/text/quantity.ts';
import { endWords, toneOf } from '../../../inspect/web/text/tone.ts';
import { inWords, stateInWords, visible, visibleLines } from '../../../inspect/web/text/visible.ts';
import { lastedMs, placeIn, spanOf, ticksOf } from '../../../inspect/web/timeline/scale.ts';

const row = (id: string, rest: Partial<ActorRow> = {}): ActorRow => ({
  kind: 'run',
  id,
  state: ['lifecycle.bound', 'exitReport.absent'],
  status: 'active',
  label: null,
  goalId: null,
  scopeId: null,
  outcome: null,
  unproved: false,
  internal: false,
  position: 1,
  version: 1,
  waits: null,
  ...rest,
});

describe('text of others', () => {
  it.each(['plain', 'a\u001b[31mb', 'a\u202eb', '\u0000\u007f\u009b', 'tab\tline\nend', 'e\u200dmoji', '\ud800'])(
    'is made visible as the command line does it: %j',
    (text) => expect(visible(text)).toBe(printable(text)),
  );

  it('keeps lines and tabs where they are meant', () => {
    expect(visibleLines('a\tb\n\u001bc')).toBe('a\tb\n\\x1bc');
  });

  it('reads codes as words', () => {
    expect(inWords('own_receipt')).toBe('own receipt');
    expect(stateInWords('lifecycle.bound')).toBe('bound');
    expect(inWords('notReleased')).toBe('not released');
  });
});

describe('the fleet', () => {
  const wanted = { text: '', kind: '', tone: '', sort: 'attention', internal: false };
  const unsure = row('b', { state: ['lifecycle.reserved.unresolved'] });
  const over = row('a', { state: ['lifecycle.ended'], status: 'settled', position: 9 });
  const corrupt = row('c', { status: 'corrupt', state: [] });

  it('puts first what needs somebody', () => {
    const order = (sort: string) =>
      selectRows([over, unsure, corrupt], { ...wanted, sort }).map(({ row: { id } }) => id);
    expect(order('attention')).toEqual(['c', 'b', 'a']);
    expect(order('newest')).toEqual(['a', 'b', 'c']);
  });

  it('leaves out the own operations that are over, until somebody wants them', () => {
    const scope = { kind: 'executionScope', internal: true } as const;
    const rows = [row('S1', { ...scope, status: 'released' }), row('S2', scope)];
    const shown = (internal: boolean) => selectRows(rows, { ...wanted, internal }).map(({ row: { id } }) => id);
    expect([shown(false), shown(true)]).toEqual([['S2'], ['S1', 'S2']]);
  });

  it('finds rows in which every word occurs, in any case', () => {
    const rows = [row('R1', { label: 'Nightly Build' }), row('R2', { label: 'nightly' })];
    expect(selectRows(rows, { ...wanted, text: ' build NIGHT ' }).map(({ row: { id } }) => id)).toEqual(['R1']);
  });

  it.each([
    ['executionScope', ['coverage.live', 'workload.running', 'termination.idle'], 'live'],
    ['executionScope', ['coverage.live', 'workload.finished', 'termination.stalled'], 'bad'],
    ['executionScope', ['coverage.exitedProved', 'workload.finished', 'termination.settled'], 'done'],
    ['executionScope', ['coverage.unverified.gap', 'workload.running', 'termination.idle'], 'warn'],
    ['worktreeGeneration', ['lifecycle.open', 'authority.managed'], 'idle'],
    ['workerIncarnation', ['ownershipUnverified'], 'warn'],
    ['ptySession', ['workload.running.needsInput', 'capture.capturing', 'scope.unsettled'], 'waiting'],
    ['goal', ['workflow.active.executing.plan', 'integration.idle', 'convergence.converged'], 'live'],
  ] as const)('takes %s in %j as %s', (kind, state, tone) => {
    expect(toneOf(row('x', { kind, state }))).toBe(tone);
  });
});

describe('how something ended', () => {
  const ended = (rest: Partial<ActorRow>) => row('x', { state: ['lifecycle.ended', 'exitReport.absent'], ...rest });
  const [well, badly] = [
    { words: 'exit 0', failed: false },
    { words: 'exit 3', failed: true },
  ];

  it.each([
    [{ outcome: well }, 'done', 'exit 0'],
    [{ outcome: badly }, 'bad', 'exit 3'],
    [{ outcome: well, unproved: true }, 'warn', 'exit 0, not proved'],
    [{ outcome: badly, unproved: true }, 'bad', 'exit 3, not proved'],
    [{ outcome: null, unproved: true }, 'warn', 'not proved'],
    [{ outcome: null }, 'idle', ''],
  ])('%j is %s', (rest, tone, words) => {
    expect(toneOf(ended(rest))).toBe(tone);
    expect(endWords(ended(rest))).toBe(words);
  });

  it('is no failure of the scope, whose matter is that nobody is left', () => {
    const state = ['coverage.exitedProved', 'workload.finished', 'termination.settled'];
    expect(toneOf(row('s', { kind: 'executionScope', state, outcome: badly }))).toBe('done');
  });

  it('keeps what failed and is over behind what is still there', () => {
    const rows = [ended({ id: 'a', outcome: badly, status: 'released' }), row('b'), ended({ id: 'c', outcome: well })];
    const wanted = { text: '', kind: '', tone: '', sort: 'attention', internal: false };
    expect(selectRows(rows, wanted).map(({ row: { id } }) => id)).toEqual(['b', 'a', 'c']);
  });
});

describe('lanes of a sequence', () => {
  const party = (kind: string, id: string, { actor = true, label = null }: Partial<Party> = {}): Party => ({
    key: actor ? `${kind}/${id}` : `producer:${kind}/${id}`,
    kind,
    id,
    actor,
    label,
  });
  const parties = [
    party('worktreeGeneration', 'W1', { label: '/a/b/tree' }),
    party('run', 'R1'),
    party('operator', 'me', { actor: false }),
    party('receipt-reader', 'r', { actor: false }),
    party('launch-coordinator', 'l', { actor: false }),
  ];
  const [worktree, run, operator, reader, coordinator] = parties.map(({ key }) => key) as [string, ...string[]];
  const messages = [
    [operator, run],
    [reader, run],
    [coordinator, worktree],
  ].map(([from, to]) => ({ from, to }) as Message);

  it('are one for each actor, and one for everything that the daemon is made of', () => {
    const { lanes, indexOf } = lanesOfParties(parties, messages);
    expect(lanes.map(({ label }) => label)).toEqual(['me', 'Runtime', 'R1', 'tree']);
    expect([operator, reader, coordinator, run, worktree].map((key) => indexOf(key!))).toEqual([0, 1, 1, 2, 3]);
  });

  it('are one for each kind', () => {
    const { lanes, indexOf } = lanesOfKinds(parties, messages);
    expect(lanes.map(({ label }) => label)).toEqual(['operator', 'Runtime', 'Runs', 'Worktrees']);
    expect([operator, reader, coordinator, run, worktree].map((key) => indexOf(key!))).toEqual([0, 1, 1, 2, 3]);
  });
});

it('lights the parents of what is active', () => {
  expect([...activeIn('run', ['lifecycle.reserved.pending'])]).toEqual([
    'run',
    'run.lifecycle',
    'run.lifecycle.reserved',
    'run.lifecycle.reserved.pending',
  ]);
});

it('names the paths at which two contexts differ', () => {
  expect(differences({ a: 1, b: { c: [1, 2] }, d: null }, { a: 1, b: { c: [1, 3] }, e: 0 })).toEqual([
    { path: ['b', 'c', '1'], before: 2, after: 3 },
    { path: ['d'], before: null, after: undefined },
    { path: ['e'], before: undefined, after: 0 },
  ]);
});

it('reads a recording, and leaves out what it does not know', () => {
  const text = ['{"version":2,"width":100,"height":30}', '[0.5,"o","a"]', '[1,"x","?"]', '[2,"r","80x24"]', ''].join(
    '\n',
  );
  expect(parseRecording(text)).toEqual({
    cols: 100,
    rows: 30,
    durationMs: 2_000,
    events: [
      { timeMs: 500, kind: 'output', data: 'a' },
      { timeMs: 2_000, kind: 'resize', data: '80x24' },
    ],
  });
  expect(() => parseRecording('{"version":3}')).toThrow();
});

it('puts instants on an axis', () => {
  const span = spanOf([{ fromMs: 10_000, toMs: null }], 70_000);
  expect(span).toEqual({ fromMs: 10_000, toMs: 70_000 });
  expect(placeIn(span, 40_000)).toBe(0.5);
  expect(placeIn(span, 0)).toBe(0);
  expect(ticksOf(span, 6)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000]);
});

it('says quantities shortly', () => {
  expect([duration(340), duration(61_000), duration(3_600_000)]).toEqual(['340 ms', '1 min 01 s', '1 h 00 min']);
  expect([playTime(61_000), playTime(3_661_000)]).toEqual(['1:01', '1:01:01']);
  expect([size(12), size(1_536)]).toEqual(['12 B', '1.5 KiB']);
});

describe('figures of a series', () => {
  it.each([
    [0.336, 'milliseconds', ['0.34 ms', '0.336 ms']],
    [12.44, 'milliseconds', ['12.4 ms', '12.4 ms']],
    [3_210, 'milliseconds', ['3.2 s', '3.21 s']],
    [7_500, 'seconds', ['2 h 05 min', '2.08 h']],
    [0, 'seconds', ['0 s', '0']],
    [1_536, 'bytes', ['1.5 KiB', '1.5 KiB']],
    [0.00076, 'ratio', ['0.076 %', '0.076 %']],
    [1_234_567, 'rows', ['1,234,567', '1.2M']],
    [42, 'count', ['42', '42']],
  ] as const)('%d %s is %j, the shorter one on an axis', (value, unit, words) => {
    expect([measure(value, unit), axisMeasure(value, unit)]).toEqual(words);
  });

  it.each([
    [23.5, 'milliseconds', 30],
    [0, 'milliseconds', 1],
    [95_000, 'milliseconds', 120_000],
    [5_000, 'seconds', 7_200],
    [0, 'count', 2],
    [3, 'count', 4],
    [2.6 * 1_024 ** 2, 'bytes', 3 * 1_024 ** 2],
    [0.0044, 'ratio', 0.005],
  ] as const)('an axis for %d %s ends with %d', (most, unit, end) => {
    expect(endOf(most, unit)).toBeCloseTo(end, 6);
  });

  it('of neighbours are one stretch, and none goes over a step without any', () => {
    expect(stretchesOf([null, 1, 2, null, 0])).toEqual([
      { from: 1, values: [1, 2] },
      { from: 4, values: [0] },
    ]);
  });

  const answer = (untilMs: number, value: number) => ({
    ...{ window: { fromMs: 0, untilMs }, stepMs: 60_000 },
    series: [{ name: 'journal_rows', past: null, measured: { kind: 'gauge', value } } as never],
  });

  it('that only the page has seen stand until it looked again, if it did not look away', () => {
    const minute = 60_000;
    for (const [at, value] of [
      [100 * minute, 7],
      [100.5 * minute, 8],
      [104 * minute, 9],
    ] as const)
      see(answer(at, value));
    const { fromMs, stepMs, steps } = observed('journal_rows', answer(104 * minute, 9));
    const at = (minutes: number) => steps[Math.floor((minutes * minute - fromMs) / stepMs)];
    expect([99.9, 100, 100.4, 100.5, 101, 103.9, 104].map(at)).toEqual([null, 7, 7, 8, null, null, 9]);
    // An hour later none of it is shown.
    see(answer(164 * minute, 1));
    expect(new Set(observed('journal_rows', answer(164 * minute, 1)).steps)).toEqual(new Set([null, 1]));
  });
});

it('tells no length of what has ended before it began, because the clock was set back', () => {
  const hour = { fromMs: 3_600_000, toMs: 7_200_000 };
  expect(lastedMs([hour, { fromMs: 7_200_000, toMs: null }], 7_200_500)).toBe(3_600_500);
  expect(lastedMs([hour, { fromMs: 7_200_000, toMs: 3_600_000 }], 9_000_000)).toBeNull();
  expect(lastedMs([{ fromMs: 7_200_000, toMs: null }], 3_600_000)).toBeNull();
});

describe('the journal of an actor, as it was read', () => {
  const page = (from: number, to: number, before: number | null): JournalAnswer => ({
    events: Array.from({ length: to - from + 1 }, (_, index) => ({ position: to - index }) as EventView),
    before,
  });
  const positions = ({ events }: ReturnType<typeof withNewest>) => [...events.keys()].sort((a, b) => a - b);

  it('grows where the newest events join on to what is known', () => {
    const first = withNewest(undefined, page(11, 14, 11));
    const grown = withNewest(first, page(13, 16, 13));
    expect(positions(grown)).toEqual([11, 12, 13, 14, 15, 16]);
    expect(grown.before).toBe(11);
    expect(withNewest(grown, page(10, 17, null))).toMatchObject({ before: null });
  });

  it('has no hole where more was committed than the newest', () => {
    const first = withNewest(undefined, page(11, 14, 11));
    const beyond = withNewest(first, page(21, 24, 21));
    expect(positions(beyond)).toEqual([21, 22, 23, 24]);
    expect(beyond.before).toBe(21);
  });
});
