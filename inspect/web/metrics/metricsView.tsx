/** Everything that is measured on this host (METR-01), a card for each series. */
import { useEffect, useMemo } from 'preact/hooks';
import { type MetricsAnswer, type MetricsWindow, metricsWindows, routes } from '../../server/contract.ts';
import { useResource } from '../data/resource.ts';
import { pathOf } from '../data/server.ts';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { Failure, Loading } from '../shell/notice.tsx';
import { amend, route } from '../shell/route.ts';
import { clockTime } from '../text/quantity.ts';
import { cardsOf } from './lines.ts';
import { MetricCard } from './metricCard.tsx';
import { see } from './observed.ts';

const windows = Object.keys(metricsWindows) as readonly MetricsWindow[];
const windowWords: Readonly<Record<MetricsWindow, string>> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' };

/** What is measured is written down every ten seconds; of a day the server may read a hundred thousand passes for an answer. */
const refreshMs: Readonly<Record<MetricsWindow, number>> = { '1h': 10_000, '24h': 30_000, '7d': 60_000 };

/** As long as the window of the command. */
const usual: MetricsWindow = '24h';

const isWindow = (text: string | undefined): text is MetricsWindow => windows.some((name) => name === text);

function chosen(): MetricsWindow {
  const { window } = route.value.query;
  return isWindow(window) ? window : usual;
}

const keys: readonly KeyBinding[] = [
  bind(['w'], 'another window of time', () =>
    amend({ window: windows[(windows.indexOf(chosen()) + 1) % windows.length] }),
  ),
];

export function MetricsView() {
  useKeys(keys);
  const window = chosen();
  const { data, error, reload } = useResource<MetricsAnswer>(pathOf(routes.metrics, {}, { window }));
  useEffect(() => {
    const look = () => {
      if (!document.hidden) reload();
    };
    const timer = setInterval(look, refreshMs[window]);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [reload, window]);
  return (
    <div class="metrics">
      <header class="view-head">
        <h1>Metrics</h1>
        <fieldset class="windows">
          <legend class="hidden">Window of time</legend>
          {windows.map((name) => (
            <button key={name} type="button" aria-pressed={window === name} onClick={() => amend({ window: name })}>
              {windowWords[name]}
            </button>
          ))}
        </fieldset>
        {data !== undefined && <span class="faint">{`as of ${clockTime(data.window.untilMs).slice(0, 8)}`}</span>}
      </header>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="what was measured" />}
      {data !== undefined && <Cards answer={data} />}
    </div>
  );
}

function Cards({ answer }: { readonly answer: MetricsAnswer }) {
  const cards = useMemo(() => {
    see(answer);
    return cardsOf(answer);
  }, [answer]);
  return (
    <ul class="metric-cards" data-until={answer.window.untilMs}>
      {cards.map((card) => (
        <MetricCard key={card.name} card={card} />
      ))}
    </ul>
  );
}
