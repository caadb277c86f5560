/** The life of a Goal as bars: what was done, what was waited for, and why. */
import { computed } from '@preact/signals';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Bar, routes, type TimelineAnswer } from '../../server/contract.ts';
import { edition, rowOfKey, rows } from '../data/fleet.ts';
import { useResource } from '../data/resource.ts';
import { pathOf } from '../data/server.ts';
import { useChanges } from '../data/useChanges.ts';
import { narrow } from '../list/narrow.ts';
import { Badge } from '../shell/badge.tsx';
import { Empty, Failure, Loading } from '../shell/notice.tsx';
import { go, hrefOf } from '../shell/route.ts';
import { clockTime, dateTime, duration } from '../text/quantity.ts';
import { toneOfState } from '../text/tone.ts';
import { inWords, visible } from '../text/visible.ts';
import { BarRow } from './barRow.tsx';
import { placeIn, type Span, spanOf, ticksOf } from './scale.ts';

const goals = computed(() => {
  void edition.value;
  return rows()
    .filter(({ kind }) => kind === 'goal')
    .sort((a, b) => b.position - a.position);
});

/** Between an answer and the next question: all that belongs to a Goal is put together for it. */
const restMs = 500;

/** What lasts grows, also while nothing is committed. */
const redrawMs = 1_000;

const lanes: readonly { readonly lane: Bar['lane']; readonly label: string }[] = [
  { lane: 'step', label: 'Steps' },
  { lane: 'wait', label: 'Waits' },
  { lane: 'run', label: 'Runs' },
  { lane: 'session', label: 'Sessions' },
  { lane: 'check', label: 'Checks' },
  { lane: 'worktree', label: 'Worktrees' },
];

export function TimelineView({ goalId }: { readonly goalId: string | undefined }) {
  const chosen = goalId ?? goals.value[0]?.id;
  if (chosen === undefined)
    return (
      <Empty title="There is no Goal yet.">
        <p>
          <code>custody goals add</code> makes one.
        </p>
      </Empty>
    );
  return (
    <div class="timeline">
      <header class="view-head">
        <h1>Timeline</h1>
        <label>
          <span class="hidden">Goal</span>
          <select value={chosen} onChange={({ currentTarget }) => go(['timeline', currentTarget.value])}>
            {goals.value.map(({ id, label }) => (
              <option key={id} value={id}>
                {visible(label ?? id)}
              </option>
            ))}
          </select>
        </label>
        <a href={hrefOf(['actor', 'goal', chosen])}>Goal</a>
        <a href={hrefOf(['sequence'], { goal: chosen })}>messages</a>
      </header>
      <Life key={chosen} goalId={chosen} />
    </div>
  );
}

function Life({ goalId }: { readonly goalId: string }) {
  const path = pathOf(routes.timeline, { id: goalId });
  const { data, error, reload } = useResource<TimelineAnswer>(path, { restMs });
  const isOwn = useCallback((key: string) => rowOfKey(key)?.goalId === goalId, [goalId]);
  useChanges(isOwn, reload);
  const [readAt, setReadAt] = useState({ answer: data, atMs: Date.now() });
  if (data !== readAt.answer) setReadAt({ answer: data, atMs: Date.now() });
  const [now, setNow] = useState(Date.now());
  const lasting = data?.bars.some(({ toMs }) => toMs === null) ?? false;
  useEffect(() => {
    if (!lasting) return undefined;
    const timer = setInterval(() => setNow(Date.now()), redrawMs);
    return () => clearInterval(timer);
  }, [lasting]);
  if (data === undefined) {
    if (error !== undefined) return <Failure error={error} retry={reload} />;
    return <Loading what="the timeline" />;
  }
  // The clock of the server counts; this page only adds what has passed since it answered.
  const nowMs = data.nowMs + (lasting ? Math.max(0, now - readAt.atMs) : 0);
  return <Bars answer={data} nowMs={nowMs} failure={error} />;
}

interface BarsProps {
  readonly answer: TimelineAnswer;
  readonly nowMs: number;
  readonly failure: Error | undefined;
}

function Bars({ answer: { title, status, bars, cut, omitted }, nowMs, failure }: BarsProps) {
  const lasting = bars.some(({ toMs }) => toMs === null);
  const span = spanOf(bars, lasting ? nowMs : Math.max(0, ...bars.map(({ toMs }) => toMs ?? 0)));
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      <p class="timeline-words">
        <strong>{visible(title)}</strong>
        <Badge tone={toneOfState(status)}>{visible(inWords(status))}</Badge>
        <span class="faint">{`${dateTime(span.fromMs)}, ${duration(span.toMs - span.fromMs)}`}</span>
        {cut && <span class="faint">A part of what is shown is not known any more.</span>}
        {omitted.bars + omitted.actors > 0 && (
          <span class="faint" data-omitted>
            {`Not shown, because there is too much: older stretches ${omitted.bars}, older actors ${omitted.actors}.`}
          </span>
        )}
      </p>
      {bars.length === 0 ? (
        <Empty title="Nothing happened to this Goal that is kept." />
      ) : (
        <div class="lanes">
          <Axis span={span} />
          {lanes
            .map(({ lane, label }) => ({ label, lane, own: bars.filter((bar) => bar.lane === lane) }))
            .filter(({ own }) => own.length > 0)
            .map(({ lane, label, own }) => (
              <section key={lane} class={`lane lane-${lane}`} aria-label={label}>
                <h2>{label}</h2>
                <ul>
                  {rowsOf(own).map((bars) => (
                    <BarRow key={bars[0]!.key} bars={bars} span={span} nowMs={nowMs} />
                  ))}
                </ul>
              </section>
            ))}
        </div>
      )}
    </>
  );
}

/** What is called the same and belongs to the same actor lies in one row: a step that was taken twice, a run's states. */
const rowsOf = (bars: readonly Bar[]): readonly (readonly Bar[])[] => [
  ...Map.groupBy(bars, ({ actor, label }) => `${actor?.id} ${label}`).values(),
];

function Axis({ span }: { readonly span: Span }) {
  const ticks = ticksOf(span, narrow.value ? 3 : 8);
  return (
    <div class="axis" aria-hidden="true">
      <div class="axis-ground">
        {ticks.map((at) => (
          <span key={at} class="mono tick" style={{ left: `${placeIn(span, at) * 100}%` }}>
            {clockTime(at).slice(0, span.toMs - span.fromMs < 5_000 ? 12 : 8)}
          </span>
        ))}
      </div>
    </div>
  );
}
