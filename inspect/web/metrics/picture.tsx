/**
 * A series over time. One unit of the drawing is one step across and a hundredth of the axis up; it is stretched to the room
 * that there is, and the words of the axes stand beside it so that they are not.
 */
import type { Distribution, Unit } from '../../server/contract.ts';
import { axisMeasure } from '../text/measure.ts';
import { clockTime } from '../text/quantity.ts';
import { placeIn, type Span } from '../timeline/scale.ts';
import { type Drawn, type Line, type Stretch, stretchesOf } from './lines.ts';
import { endOf, instantsOf } from './scale.ts';

interface PictureProps {
  readonly drawn: Drawn;
  readonly unit: Unit;
  /** What the picture says, for who cannot see it. */
  readonly label: string;
}

const height = 100;
/** A bar that is there can be seen. */
const leastHeight = 2.5;

export function Picture({ drawn, unit, label }: PictureProps) {
  const count = stepsIn(drawn);
  const end = endOf(mostIn(drawn), unit);
  const up = (value: number): number => height - (value / end) * height;
  return (
    <div class="picture">
      <div class="picture-values mono" aria-hidden="true">
        {[end, end / 2, 0].map((value) => (
          <span key={value}>{axisMeasure(value, unit)}</span>
        ))}
      </div>
      <svg role="img" aria-label={label} viewBox={`0 0 ${count} ${height}`} preserveAspectRatio="none">
        <path class="grid" d={`M0 0H${count}M0 ${height / 2}H${count}M0 ${height}H${count}`} />
        {drawn.kind === 'band' ? (
          <Band steps={drawn.steps} up={up} />
        ) : (
          drawn.lines.map((line) =>
            drawn.kind === 'bars' ? (
              <Bars key={line.label} line={line} up={up} />
            ) : (
              <path key={line.label} class={`line line-${line.label}`} d={staircase(line, up)} />
            ),
          )
        )}
      </svg>
      <Instants span={{ fromMs: drawn.fromMs, toMs: drawn.fromMs + count * drawn.stepMs }} />
    </div>
  );
}

const stepsIn = (drawn: Drawn): number => (drawn.kind === 'band' ? drawn.steps : (drawn.lines[0]?.steps ?? [])).length;

function mostIn(drawn: Drawn): number {
  const values =
    drawn.kind === 'band' ? drawn.steps.map((step) => step?.p95 ?? 0) : drawn.lines.flatMap(({ steps }) => steps);
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

type Up = (value: number) => number;

/** From p50 to p95, and a line along each. */
function Band({ steps, up }: { readonly steps: readonly (Distribution | null)[]; readonly up: Up }) {
  return stretchesOf(steps).map((stretch) => {
    const [p50, p95] = [({ p50 }: Distribution) => p50, ({ p95 }: Distribution) => p95].map((of) =>
      pointsOf(stretch, (value) => up(of(value) ?? 0)),
    ) as [readonly string[], readonly string[]];
    return (
      <g key={stretch.from}>
        <path class="band" d={`M${[...p50, ...p95.toReversed()].join('L')}Z`} />
        <path class="line line-p95" d={`M${p95.join('L')}`} />
        <path class="line" d={`M${p50.join('L')}`} />
      </g>
    );
  });
}

/** Through the middles of the steps; what stands alone is as wide as its step. */
function pointsOf<T>({ from, values }: Stretch<T>, y: (value: T) => number): readonly string[] {
  const heights = values.map((value) => y(value).toFixed(2));
  const end = from + values.length;
  return [`${from} ${heights[0]}`, ...heights.map((at, n) => `${from + n + 0.5} ${at}`), `${end} ${heights.at(-1)}`];
}

function Bars({ line: { steps }, up }: { readonly line: Line; readonly up: Up }) {
  return steps.map((value, step) => {
    if (value === null) return null;
    const tall = value === 0 ? 1 : Math.max(leastHeight, height - up(value));
    const name = value === 0 ? 'metric-bar measured-none' : 'metric-bar';
    return <rect key={step} class={name} x={step + 0.1} width={0.8} y={height - tall} height={tall} />;
  });
}

const staircase = ({ steps }: Line, up: Up): string =>
  stretchesOf(steps)
    .map(({ from, values }) => {
      const stairs = values.map((value, n) => `V${up(value).toFixed(2)}H${from + n + 1}`).join('');
      return `M${from} ${up(values[0] ?? 0).toFixed(2)}${stairs}`;
    })
    .join('');

const weekday = new Intl.DateTimeFormat('en', { weekday: 'short' });
const dayMs = 86_400_000;
/** A label behind this has no room for its words. */
const lastPlace = 0.88;

function Instants({ span }: { readonly span: Span }) {
  const isLong = span.toMs - span.fromMs > 2 * dayMs;
  const instants = instantsOf(span, isLong ? 8 : 5).filter((at) => placeIn(span, at) <= lastPlace);
  return (
    <div class="picture-instants mono" aria-hidden="true">
      {instants.map((at) => (
        <span key={at} class="tick" style={{ left: `${placeIn(span, at) * 100}%` }}>
          {isLong ? weekday.format(at) : clockTime(at).slice(0, 5)}
        </span>
      ))}
    </div>
  );
}
