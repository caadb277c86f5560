/** Every terminal of the fleet; one of them live, or as it was recorded. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ActorRow, routes, type TerminalAnswer } from '../../server/contract.ts';
import { edition, rows } from '../data/fleet.ts';
import { useResource } from '../data/resource.ts';
import { pathOf } from '../data/server.ts';
import { useChanges } from '../data/useChanges.ts';
import { StateBadges } from '../shell/badge.tsx';
import { Empty, Failure, Loading } from '../shell/notice.tsx';
import { amend, hrefOf, route } from '../shell/route.ts';
import { playTime, size } from '../text/quantity.ts';
import { signOf, toneOf } from '../text/tone.ts';
import { visible } from '../text/visible.ts';

const sessions = computed<readonly ActorRow[]>(() => {
  void edition.value;
  return rows()
    .filter(({ kind }) => kind === 'ptySession')
    .sort((a, b) => Number(a.status !== 'active') - Number(b.status !== 'active') || b.position - a.position);
});
/** More are found by searching the fleet. */
const mostListed = 200;

export function TerminalView({ sessionId }: { readonly sessionId: string | undefined }) {
  const listed = sessions.value.slice(0, mostListed);
  const chosen = sessionId ?? listed[0]?.id;
  if (chosen === undefined)
    return (
      <Empty title="No terminal was opened here yet.">
        <p>
          <code>custody runs exec GOAL --pty -- COMMAND</code> opens one.
        </p>
      </Empty>
    );
  return (
    <div class="terminals">
      <nav class="session-list" aria-label="Sessions">
        <ul>
          {listed.map((row) => (
            <li key={row.id}>
              <a
                href={hrefOf(['terminal', row.id])}
                aria-current={row.id === chosen ? 'page' : undefined}
                class={`tone-${toneOf(row)}`}
              >
                <span class="sign" aria-hidden="true">
                  {signOf[toneOf(row)]}
                </span>
                <span>{visible(row.label ?? row.id)}</span>
              </a>
            </li>
          ))}
        </ul>
        {sessions.value.length > mostListed && (
          <a href={hrefOf(['fleet'], { kind: 'ptySession' })}>{`and ${sessions.value.length - mostListed} more`}</a>
        )}
      </nav>
      <TerminalOf key={chosen} sessionId={chosen} />
    </div>
  );
}

function TerminalOf({ sessionId }: { readonly sessionId: string }) {
  const { data, error, reload } = useResource<TerminalAnswer>(pathOf(routes.terminal, { id: sessionId }));
  useChanges([`ptySession/${sessionId}`], reload);
  if (error !== undefined) return <Failure error={error} retry={reload} />;
  if (data === undefined) return <Loading what="the session" />;
  const recorded = route.value.query.mode === 'recorded' || !data.live;
  return (
    <section class="terminal" aria-label="Terminal">
      <header class="view-head">
        <h1>{visible(data.label ?? data.sessionId)}</h1>
        <StateBadges states={data.state} />
        <span class="faint">
          {`${data.cols}×${data.rows}, ${size(data.bytes)}`}
          {data.durationMs !== null && `, ${playTime(data.durationMs)}`}
        </span>
        <span class="modes" role="group" aria-label="What is shown">
          <button
            type="button"
            disabled={!data.live}
            aria-pressed={!recorded}
            onClick={() => amend({ mode: undefined, t: undefined })}
          >
            Live
          </button>
          <button
            type="button"
            disabled={!data.recorded}
            aria-pressed={recorded}
            onClick={() => amend({ mode: 'recorded' })}
          >
            Recording
          </button>
        </span>
        <a href={hrefOf(['actor', 'ptySession', sessionId])}>session</a>
      </header>
      {data.missing !== null && <p class="terminal-missing">▲ Output is missing: {visible(data.missing)}</p>}
      {recorded && !data.recorded ? (
        <Empty title="Nothing of it was recorded." />
      ) : (
        <ScreenOf terminal={data} recorded={recorded} />
      )}
    </section>
  );
}

type ScreenComponent = ComponentType<{ readonly terminal: TerminalAnswer }>;

/** The terminal itself is most of the page's script, and is fetched by who wants to see one. */
function ScreenOf({ terminal, recorded }: { readonly terminal: TerminalAnswer; readonly recorded: boolean }) {
  const [Shown, setShown] = useState<{ readonly recorded: boolean; readonly as: ScreenComponent } | undefined>(
    undefined,
  );
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    const load = async () => {
      const as = recorded
        ? (await import('./recordedScreen.tsx')).RecordedScreen
        : (await import('./liveScreen.tsx')).LiveScreen;
      setShown({ recorded, as });
    };
    load().catch((failure: unknown) => setError(failure as Error));
  }, [recorded]);
  if (error !== undefined) return <Failure error={error} />;
  if (Shown === undefined || Shown.recorded !== recorded) return <Loading what="the screen" />;
  return <Shown.as terminal={terminal} />;
}
