import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { GuardAnswer } from '../../explain/explanation.ts';
import { charts, wantChart } from '../chart/charts.ts';
import { ChartView } from '../chart/chartView.tsx';
import { Outline } from '../chart/outline.tsx';
import { activeIn, type PlacedChart } from '../chart/placedChart.ts';
import { Failure, Loading } from '../shell/notice.tsx';
import { kindWord } from '../text/kinds.ts';

/** Chosen once for every actor that is looked at in this tab. */
const outlined = signal(false);

interface LiveChartProps {
  readonly kind: string;
  /** Paths of the active leaves. */
  readonly state: readonly string[];
  readonly taken: readonly string[];
  readonly occasion: number;
  readonly next: readonly GuardAnswer[];
}

export function LiveChart({ kind, state, taken, occasion, next }: LiveChartProps) {
  useEffect(() => wantChart(kind), [kind]);
  const placed = charts.value[kind];
  const root = placed === undefined || placed instanceof Error ? kind : placed.chart.root.id;
  const stateKey = state.join(' ');
  const active = useMemo(() => activeIn(root, stateKey.split(' ').filter(Boolean)), [root, stateKey]);
  const takenIds = useMemo(() => new Set(taken), [taken]);
  const open = useMemo(
    () => (placed === undefined || placed instanceof Error ? new Set<string>() : openIn(placed, active, next)),
    [placed, active, next],
  );
  if (placed === undefined) return <Loading what="the chart" />;
  if (placed instanceof Error) return <Failure error={placed} retry={() => wantChart(kind, true)} />;
  const mode = (
    <button
      type="button"
      class="chart-mode"
      aria-pressed={outlined.value}
      onClick={() => {
        outlined.value = !outlined.value;
      }}
    >
      Outline
    </button>
  );
  return (
    <div class="chart">
      {outlined.value ? (
        <>
          <Outline placed={placed} active={active} />
          <div class="chart-tools">{mode}</div>
        </>
      ) : (
        <ChartView
          label={`Statechart of ${kindWord(kind)}`}
          tools={mode}
          placed={placed}
          active={active}
          taken={takenIds}
          open={open}
          occasion={occasion}
        />
      )}
    </div>
  );
}

/** Transitions of active states whose guard says yes now. */
function openIn(placed: PlacedChart, active: ReadonlySet<string>, next: readonly GuardAnswer[]): ReadonlySet<string> {
  const yes = new Set(next.filter(({ answer }) => answer === true).map(({ event, guard }) => `${event} ${guard}`));
  return new Set(
    placed.chart.transitions
      .filter(({ source, event, guard }) => active.has(source) && yes.has(`${event} ${guard ?? ''}`))
      .map(({ id }) => id),
  );
}
