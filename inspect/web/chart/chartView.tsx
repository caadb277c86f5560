/** A chart in a frame of its own in which one can move about. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { inWords } from '../text/visible.ts';
import { Drawing, type DrawingProps } from './drawing.tsx';
import { PanZoom } from './panZoom.ts';
import type { Box, PlacedChart } from './placedChart.ts';

interface ChartViewProps extends DrawingProps {
  readonly label: string;
}

export function ChartView({ label, ...drawn }: ChartViewProps) {
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
    if (!moving.current!.shows(focus)) moving.current!.adapt(wholeOf(placed), focus);
  }, [placed, active]);
  useEffect(() => {
    performance.mark('custody:chart-drawn', { detail: drawn.occasion });
  }, [drawn.occasion, active]);
  const words = leaves.map((id) => inWords(id.split('.').slice(1).join(' ')));
  return (
    <>
      <svg ref={frame} class="chart-frame" role="img" tabIndex={0} aria-label={`${label}. Active: ${words.join(', ')}`}>
        <g ref={drawing}>
          <Drawing {...drawn} />
        </g>
      </svg>
      <div class="chart-tools">
        <button type="button" aria-label="Larger" onClick={() => moving.current?.in()}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => moving.current?.out()}>
          −
        </button>
        <button
          type="button"
          onClick={() => {
            moving.current!.touched = true;
            moving.current?.fit(wholeOf(placed));
          }}
        >
          Fit
        </button>
        <button
          type="button"
          onClick={() => {
            moving.current!.touched = false;
            moving.current?.center(aroundLeaves(placed, leaves), 1);
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

function aroundLeaves(placed: PlacedChart, leaves: readonly string[]): Box {
  const [first] = leaves.map((id) => placed.states[id]).filter((box) => box !== undefined);
  return first ?? wholeOf(placed);
}
