/** A placed chart as SVG. Which states are lit and which transition was taken last are classes, so nothing moves. */
import { useMemo } from 'preact/hooks';
import { visible } from '../text/visible.ts';
import {
  type Box,
  type ChartState,
  type PlacedChart,
  type PlacedLabel,
  type PlacedTransition,
  type Point,
  statesOf,
} from './placedChart.ts';

export interface DrawingProps {
  readonly placed: PlacedChart;
  readonly active: ReadonlySet<string>;
  /** Ids of the transitions that were taken last. */
  readonly taken: ReadonlySet<string>;
  /** Ids of transitions whose event would be let through now, where that is known. */
  readonly open: ReadonlySet<string>;
  /** Changes with every transition that is taken, so that the same one taken twice moves twice. */
  readonly occasion: number;
}

/** Distance between base lines and size of letters, as the labels were measured. */
const lineHeight: Readonly<Record<string, number>> = { title: 20, event: 16, guard: 14, action: 14, tag: 14 };

export function Drawing({ placed, active, taken, open, occasion }: DrawingProps) {
  const states = useMemo(() => statesOf(placed.chart.root), [placed]);
  return (
    <>
      {states.map((state) => (
        <StateBox
          key={state.id}
          state={state}
          box={placed.states[state.id]!}
          heading={placed.headings[state.id]}
          active={active.has(state.id)}
        />
      ))}
      {placed.initials.map(({ target, points }) => (
        <Initial key={target} points={points} />
      ))}
      {placed.transitions.map((one) => (
        <Transition
          key={one.id}
          one={one}
          open={open.has(one.id)}
          taken={taken.has(one.id)}
          occasion={taken.has(one.id) ? occasion : 0}
        />
      ))}
    </>
  );
}

interface StateBoxProps {
  readonly state: ChartState;
  readonly box: Box;
  readonly heading: PlacedLabel | undefined;
  readonly active: boolean;
}

const dotRadius = 4;

function StateBox({ state, box, heading, active }: StateBoxProps) {
  const { x, y, width, height } = box;
  return (
    <g class={`state state-${state.kind} ${active ? 'active' : ''}`} data-state-id={state.id} data-active={active}>
      <title>{[state.id, state.description].filter(Boolean).join(': ')}</title>
      <rect x={x} y={y} width={width} height={height} rx={state.kind === 'history' ? height / 2 : 8} />
      {state.kind === 'final' && (
        <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />
      )}
      {state.kind === 'history' && (
        <text class="title" x={x + width / 2} y={y + height / 2 + 4} text-anchor="middle">
          H
        </text>
      )}
      {heading !== undefined && <Label label={heading} />}
      {active && <circle class="lamp" cx={x + width - 12} cy={y + 12} r={dotRadius} />}
    </g>
  );
}

function Label({ label }: { readonly label: PlacedLabel }) {
  let base = label.y - 4;
  return (
    <>
      {label.lines.map((line, index) => {
        const role = label.roles[index] ?? 'action';
        base += lineHeight[role]!;
        return (
          <text
            key={index}
            class={role}
            x={label.x + 2}
            y={base}
            textLength={label.widths[index]}
            lengthAdjust="spacingAndGlyphs"
          >
            {visible(line)}
          </text>
        );
      })}
    </>
  );
}

interface TransitionProps {
  readonly one: PlacedTransition;
  readonly taken: boolean;
  readonly open: boolean;
  readonly occasion: number;
}

function Transition({ one, taken, open, occasion }: TransitionProps) {
  const lines = [one.points, ...one.branches].filter((points) => points.length > 1);
  const last = one.branches.length > 0 ? one.branches : [one.points];
  return (
    <g
      // A new element begins its animation anew.
      key={occasion}
      class={`transition ${taken ? 'taken' : ''} ${open ? 'open' : ''}`}
      data-transition-id={one.id}
      data-taken={taken}
    >
      <title>{one.id}</title>
      {lines.map((points) => (
        <path key={pathOf(points)} class="line" d={pathOf(points)} pathLength={1} />
      ))}
      {last
        .filter((points) => points.length > 1)
        .map((points) => (
          <path key={pathOf(points)} class="head" d={headOf(points)} />
        ))}
      {one.label !== null && (
        <>
          <rect
            class="ground"
            x={one.label.x}
            y={one.label.y}
            width={one.label.width}
            height={one.label.height}
            rx={3}
          />
          <Label label={one.label} />
        </>
      )}
    </g>
  );
}

function Initial({ points }: { readonly points: readonly Point[] }) {
  const [first] = points;
  if (first === undefined || points.length < 2) return null;
  return (
    <g class="initial">
      <circle cx={first.x} cy={first.y} r={dotRadius} />
      <path class="line" d={pathOf(points)} />
      <path class="head" d={headOf(points)} />
    </g>
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;

function pathOf(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
}

const headLength = 8;
const headWidth = 4;

/** A triangle at the end of a line, along its last piece. */
function headOf(points: readonly Point[]): string {
  const end = points.at(-1)!;
  const before = points.at(-2)!;
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [dx, dy] = [(end.x - before.x) / length, (end.y - before.y) / length];
  const back = { x: end.x - dx * headLength, y: end.y - dy * headLength };
  const left = { x: back.x - dy * headWidth, y: back.y + dx * headWidth };
  const right = { x: back.x + dy * headWidth, y: back.y - dx * headWidth };
  return `${pathOf([end, left, right])}Z`;
}
