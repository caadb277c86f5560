/** One series: what is counted, its figures for the whole window, and how it came to them. */
import type { ComponentChildren } from 'preact';
import type { PastSeries } from '../../server/contract.ts';
import { measure, unitWords } from '../text/measure.ts';
import { amount } from '../text/quantity.ts';
import { inWords, visible } from '../text/visible.ts';
import { Figures } from './figures.tsx';
import { type Card, type Drawn, isMeasured } from './lines.ts';
import { Picture } from './picture.tsx';
import { pictureInWords } from './words.ts';

interface MetricCardProps {
  readonly card: Card;
}

export function MetricCard({ card }: MetricCardProps) {
  const { name, first, series, drawn } = card;
  const title = titled(inWords(name));
  return (
    <li class="metric" data-series={name} data-measured={card.isMeasured}>
      <h2>{title}</h2>
      <p class="faint metric-words">{first.description}</p>
      <p class="metric-unit">
        <span class="chip">{unitWords[first.unit]}</span>
      </p>
      {card.isMeasured ? (
        <>
          <dl class="metric-sums">
            <Sums series={series} />
          </dl>
          <Picture drawn={drawn} unit={first.unit} label={pictureInWords(title, card)} />
          <Legend drawn={drawn} />
          <Labels series={series} />
          <Figures title={title} card={card} />
        </>
      ) : (
        <p class="metric-nothing">{nothingOf(first)}</p>
      )}
    </li>
  );
}

const titled = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const nothingOf = ({ past }: PastSeries): string =>
  past === null ? 'Nothing measured: it cannot be told now.' : 'Nothing measured in this window.';

function Sums({ series }: { readonly series: readonly PastSeries[] }): ComponentChildren {
  const { measured, unit } = series[0] as PastSeries;
  if (measured.kind === 'distribution') {
    const { p50, p95, max, count } = measured;
    return [
      ...Object.entries({ p50, p95, largest: max }).map(([name, value]) => (
        <Sum key={name} name={name} value={value === null ? '' : measure(value, unit)} />
      )),
      <Sum key="values" name="values" value={amount(count)} />,
    ];
  }
  const byState = Map.groupBy(series, ({ labels }) => labels.state ?? (isOfWindow(series) ? 'in the window' : 'now'));
  return [...byState].map(([name, own]) => <Sum key={name} name={visible(name)} value={measure(sumOf(own), unit)} />);
}

/** A ratio is one of all attempts in the window, though it is a gauge. */
const isOfWindow = ([first]: readonly PastSeries[]): boolean =>
  first?.measured.kind === 'counter' || first?.unit === 'ratio';

const amountOf = ({ measured }: PastSeries): number => (measured.kind === 'distribution' ? 0 : (measured.value ?? 0));
const sumOf = (series: readonly PastSeries[]): number => series.reduce((sum, one) => sum + amountOf(one), 0);

function Sum({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="mono">{value}</dd>
    </div>
  );
}

function Legend({ drawn }: { readonly drawn: Drawn }) {
  if (drawn.kind === 'seen') return <p class="faint">Only its present is kept. This is what the page has seen.</p>;
  const keys = drawn.kind === 'band' ? ['p50', 'p95'] : drawn.lines.map(({ label }) => label).filter(Boolean);
  if (keys.length === 0) return null;
  return (
    <ul class="legend" aria-label="Lines">
      {keys.map((key) => (
        <li key={key}>
          <svg aria-hidden="true" viewBox="0 0 20 8" width={20} height={8}>
            <path class={`line line-${key}`} d="M0 4H20" />
          </svg>
          {visible(key)}
        </li>
      ))}
    </ul>
  );
}

const shownLabels = 5;

/** A reason is a code of ours; what a producer is called is its own. */
const labelInWords = ([name, value]: readonly [string, string]): string =>
  name === 'reason' ? visible(inWords(value)) : visible(value);

/** The greatest of those that have labels. */
function Labels({ series }: { readonly series: readonly PastSeries[] }) {
  const labelled = series.filter((one) => Object.keys(one.labels).length > 0 && isMeasured(one) && amountOf(one) > 0);
  if (labelled.length === 0) return null;
  const greatest = labelled.toSorted((one, other) => amountOf(other) - amountOf(one)).slice(0, shownLabels);
  return (
    <ul class="metric-labels">
      {greatest.map((one) => (
        <li key={Object.values(one.labels).join('\n')}>
          <span>{Object.entries(one.labels).map(labelInWords).join(', ')}</span>
          <span class="mono">{measure(amountOf(one), one.unit)}</span>
        </li>
      ))}
      {labelled.length > shownLabels && <li class="faint">{`and ${amount(labelled.length - shownLabels)} more`}</li>}
    </ul>
  );
}
