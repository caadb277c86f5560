/** A chart in a frame of its own in which one can move about. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { inWords } from '../text/visible.ts';
import { Drawing, type DrawingProps } from './drawing.tsx';
import { PanZoom } from './panZoom.ts';
import type { Box, PlacedChart } from './placedChart.ts';

interface ChartViewProps extends DrawingProps {
  readonly label: string;
  /** What else can be done, beside the drawing. */
  readonly tools: ComponentChildren;
}

export function ChartView({ label, tools, ...drawn }: ChartViewProps) {
  const { placed, active } = drawn;
  const frame = useRef<SVGSVGElement>(null);
  const drawing = useRef<SVGGElement>(null);
  const leaves = leavesOf(active);
  const shown = useRef(leaves);
  shown.current = leaves;
  const moving = useRef<PanZoom | undefined>(undefined);
  useLayoutEffect(() => {
    const moves = new PanZoom(frame.current!, drawing.current!);
    moving.current = moves;
    const adapt = () => moves.adapt(wholeOf(placed), aroundLeaves(placed, shown.current));
    adapt();
    const observer = new ResizeObserver(adapt);
    observer.observe(frame.current!);
    const stop = moves.listen();
    return () => {
      observer.disconnect();
      stop();
    };
  }, [placed]);
  useEffect(() => {
    const focus = aroundLeaves(placed, shown.current);
    if (!moving.current!.shows(focus[0] ?? wholeOf(placed))) moving.current!.adapt(wholeOf(placed), focus);
  }, [placed, active]);
  useEffect(() => {
    performance.mark('custody:chart-drawn', { detail: drawn.occasion });
  }, [drawn.occasion, active]);
  const whole = () => {
    moving.current!.touched = true;
    moving.current!.fit(wholeOf(placed));
  };
  useKeys(useMemo(() => chartKeys(moving, whole), [placed]));
  const words = leaves.map((id) => inWords(id.split('.').slice(1).join(' ')));
  return (
    <>
      <svg ref={frame} class="chart-frame" role="img" tabIndex={0} aria-label={`${label}. Active: ${words.join(', ')}`}>
        <g ref={drawing}>
          <Drawing {...drawn} />
        </g>
      </svg>
      <div class="chart-tools">
        {tools}
        <button type="button" aria-label="Larger" onClick={() => moving.current?.in()}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => moving.current?.out()}>
          −
        </button>
        <button type="button" onClick={whole}>
          Fit
        </button>
        <button
          type="button"
          onClick={() => {
            moving.current!.touched = false;
            moving.current?.center(wholeOf(placed), aroundLeaves(placed, leaves), 1);
          }}
        >
          Active
        </button>
      </div>
    </>
  );
}

const wholeOf = ({ width, height }: PlacedChart): Box => ({ x: 0, y: 0, width, height });

const leavesOf = (active: ReadonlySet<string>): readonly string[] =>
  [...active].filter((id) => ![...active].some((other) => other.startsWith(`${id}.`)));

function aroundLeaves(placed: PlacedChart, leaves: readonly string[]): readonly Box[] {
  const boxes = leaves.map((id) => placed.states[id]).filter((box) => box !== undefined);
  return boxes.length === 0 ? [wholeOf(placed)] : boxes;
}

const chartKeys = (moving: { readonly current: PanZoom | undefined }, whole: () => void): readonly KeyBinding[] => [
  bind(['+', '='], 'larger chart', () => moving.current?.in()),
  bind(['-'], 'smaller chart', () => moving.current?.out()),
  bind(['0'], 'the whole chart', whole),
];
