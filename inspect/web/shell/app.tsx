import { ActorView } from '../actor/actorView.tsx';
import { overview } from '../data/fleet.ts';
import { access, denial } from '../data/server.ts';
import { loadError, lostSince, retryNow } from '../data/updates.ts';
import { FleetView } from '../fleet/fleetView.tsx';
import { MetricsView } from '../metrics/metricsView.tsx';
import { ProcessesView } from '../processes/processesView.tsx';
import { SequenceView } from '../sequence/sequenceView.tsx';
import { TerminalView } from '../terminal/terminalView.tsx';
import { visible } from '../text/visible.ts';
import { TimelineView } from '../timeline/timelineView.tsx';
import { Header } from './header.tsx';
import { Help, helpOpen } from './help.tsx';
import { bind, type KeyBinding, useKeys } from './keyboard.ts';
import { Lost } from './lost.tsx';
import { Empty, Failure, Loading } from './notice.tsx';
import { go, hrefOf, route } from './route.ts';
import { toggleTheme } from './theme.ts';
import { views } from './views.ts';

const pageKeys: readonly KeyBinding[] = [
  ...views.map(({ name, label, key }) => bind([`g ${key}`], `go to ${label}`, () => go([name]))),
  bind(['d'], 'dark or light', toggleTheme),
  bind(['?'], 'this help', () => {
    helpOpen.value = true;
  }),
];

export function App() {
  useKeys(pageKeys);
  if (access.value === 'denied') return <Denied />;
  return (
    <>
      <Header />
      <Lost />
      <main id="main" tabIndex={-1} class={lostSince.value === undefined ? undefined : 'stale'}>
        <View />
      </main>
      <Help />
    </>
  );
}

function View() {
  const { place } = route.value;
  const [name = 'fleet', first, second] = place;
  if (overview.value === undefined) {
    if (loadError.value !== undefined) return <Failure error={new Error(loadError.value)} retry={retryNow} />;
    return <Loading what="the fleet" />;
  }
  if (name === 'fleet') return <FleetView />;
  if (name === 'actor' && first !== undefined && second !== undefined)
    return <ActorView key={`${first}/${second}`} kind={first} id={second} />;
  if (name === 'sequence') return <SequenceView />;
  if (name === 'processes') return <ProcessesView scopeId={first} />;
  if (name === 'terminal') return <TerminalView sessionId={first} />;
  if (name === 'metrics') return <MetricsView />;
  if (name === 'timeline') return <TimelineView goalId={first} />;
  return (
    <Empty title="There is no such view.">
      <p>
        <a href={hrefOf(['fleet'])}>Back to the fleet</a>
      </p>
    </Empty>
  );
}

function Denied() {
  return (
    <main id="main" class="denied">
      <h1>Custody</h1>
      <div class="notice" role="alert" data-notice="denied">
        <p class="notice-title">This tab is not let in.</p>
        {denial.value !== '' && <p>{visible(denial.value)}</p>}
        <p>Every link counts once, and for two minutes. For a new one run</p>
        <p>
          <code>custody inspect</code>
        </p>
      </div>
    </main>
  );
}
