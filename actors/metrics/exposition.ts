/**
 * The series as Prometheus reads them: its text format, version 0.0.4, in base units. Counters are sums that the store has
 * committed, so neither a death nor the trimming of rows makes one smaller; only going back to a backup does, and that is a
 * reset. Summaries have their quantiles over the last ten minutes, as client libraries have them.
 */
import type { Store } from '../../persistence/store.ts';
import type { TotalName } from '../../persistence/tables/totals.ts';
import { catalogue } from './catalogue.ts';
import type { Distribution } from './report.ts';
import { measuredIn, windowFrom } from './series.ts';
import { type StandingParts, standingOf } from './standing.ts';

export interface Sample {
  /** `_sum` and `_count` of a summary; otherwise nothing. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly samples: readonly Sample[];
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

const quantileWindowMs = 600_000;

export function familiesOf(parts: StandingParts): readonly Family[] {
  const { store, clock } = parts;
  const { wallMs } = clock.now();
  const { passDuration, passReads, commitLatency, recoveryTime } = measuredIn(
    parts,
    windowFrom(wallMs - quantileWindowMs, wallMs),
  );
  const standing = standingOf(parts);
  const total = (name: TotalName): number => store.totals.of(name);
  return [
    summary('pass_duration_seconds', passDuration, {
      perUnit: 1_000,
      sum: total('pass_us') / 1e6,
      count: total('passes'),
    }),
    summary('pass_reads', passReads, { perUnit: 1, sum: total('pass_reads'), count: total('passes') }),
    summary('commit_latency_seconds', commitLatency, {
      ...{ perUnit: 1_000, sum: total('commit_us') / 1e6, count: total('commits') },
    }),
    counter('commit_attempts_total', 'Attempts to write.', [{ value: total('commit_attempts') }]),
    counter('commit_busy_total', catalogue.commit_busy_ratio.description, [{ value: total('commit_busy') }]),
    gauge('oldest_unapplied_event_age_seconds', standing.oldestUnappliedAge),
    counter('unknowns_total', catalogue.unknowns.description, unknowns(store)),
    {
      ...{ name: 'custody_coverage_gaps', help: catalogue.coverage_gaps.description, type: 'gauge' },
      samples: standing.gaps.map(({ producer, state, count }) => ({ labels: { producer, state }, value: count })),
    },
    counter('predictions_would_be_unsafe_total', catalogue.predictions_would_be_unsafe.description, [
      { value: total('contradictions') },
    ]),
    summary('recovery_time_seconds', recoveryTime, {
      ...{ perUnit: 1_000, sum: total('recovery_us') / 1e6, count: total('recoveries') },
    }),
    gauge('journal_rows', standing.journalRows),
    gauge('journal_bytes', standing.journalBytes),
    counter('journal_growth_total', catalogue.journal_growth.description, [{ value: store.journal.lastPosition() }]),
    gauge('database_bytes', standing.databaseBytes),
    gauge('spool_bytes', standing.spoolBytes),
  ];
}

const unknowns = ({ totals }: Store): readonly Sample[] =>
  [...totals.byLabel('unknowns')].map(([reason, value]) => ({ labels: { reason }, value }));

const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  ...{ name: `custody_${name}`, help, type: 'counter', samples },
});

/** Without a sample where it cannot be told. */
const gauge = (name: string, value: number | null): Family => ({
  ...{ name: `custody_${name}`, help: helpOf(name), type: 'gauge', samples: value === null ? [] : [{ value }] },
});

interface Sums {
  /** How many of the report's units are one base unit. */
  readonly perUnit: number;
  readonly sum: number;
  readonly count: number;
}

function summary(name: string, { p50, p95 }: Distribution, { perUnit, sum, count }: Sums): Family {
  const quantile = (q: string, value: number | null): Sample => ({
    labels: { quantile: q },
    value: value === null ? Number.NaN : value / perUnit,
  });
  return {
    ...{ name: `custody_${name}`, help: helpOf(name), type: 'summary' },
    samples: [
      quantile('0.5', p50),
      quantile('0.95', p95),
      { suffix: '_sum', value: sum },
      { suffix: '_count', value: count },
    ],
  };
}

const helpOf = (name: string): string => catalogue[name.replace(/_seconds$/, '') as keyof typeof catalogue].description;

/** The text of the families, with the line feed at the end that the format asks for. */
export function expositionOf(families: readonly Family[]): string {
  return families
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelled(labels)} ${value}`),
    ])
    .map((text) => `${text}\n`)
    .join('');
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** What could act on a terminal, and half characters, which are no UTF-8; joiners inside emoji and Indic scripts stay. */
const harmful = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escaped = (value: string): string =>
  value
    .replace(harmful, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n');
