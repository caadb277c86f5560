/** One actor: where it stands, why, what may come next, and every moment of its life. */
import { useMemo, useState } from 'preact/hooks';
import { type ActorAnswer, type EventView, type MomentAnswer, routes } from '../../server/contract.ts';
import { rowOf } from '../data/fleet.ts';
import { useResource } from '../data/resource.ts';
import { pathOf } from '../data/server.ts';
import { useChanges } from '../data/useChanges.ts';
import { bind, type KeyBinding, useKeys } from '../shell/keyboard.ts';
import { Empty, Failure, Loading } from '../shell/notice.tsx';
import { amend, route } from '../shell/route.ts';
import { ActorHead } from './actorHead.tsx';
import { JournalPanel } from './journalPanel.tsx';
import { LiveChart } from './liveChart.tsx';
import { Panels } from './panels.tsx';
import { PastSign, TravelBar } from './travel.tsx';
import { useJournal } from './useJournal.ts';

interface ActorViewProps {
  readonly kind: string;
  readonly id: string;
}

export function ActorView({ kind, id }: ActorViewProps) {
  const actor = useResource<ActorAnswer>(pathOf(routes.actor, { kind, id }));
  useChanges([`${kind}/${id}`], actor.reload);
  if (actor.data !== undefined) return <KnownActor answer={actor.data} />;
  if (actor.error !== undefined) return <Failure error={actor.error} retry={actor.reload} />;
  return <Loading what="the actor" />;
}

/** Where somebody looks: a position of the past, or undefined for now. */
const lookedAt = (): number | undefined => {
  const at = Number(route.value.query.at);
  return Number.isInteger(at) && at > 0 ? at : undefined;
};

const travelTo = (position: number | undefined): void => amend({ at: position?.toString() });

function KnownActor({ answer }: { readonly answer: ActorAnswer }) {
  const { kind, id } = answer;
  const asked = lookedAt();
  const newest = answer.position;
  const at = asked ?? newest;
  const past = asked !== undefined && asked < newest;
  const journal = useJournal(answer);
  const moment = useMoment(answer, at);
  const row = rowOf(kind, id) ?? answer.row;
  const known = moment.data?.known === true ? moment.data : undefined;
  const before = useMoment(answer, known?.previous ?? undefined);
  const step = (by: -1 | 1) => travelTo(stepped({ moment: known, events: journal.events, at, newest, by }));
  useKeys(useMemo(() => travelKeys(step, journal.events[0]?.position), [answer, known, at, journal.events]));
  const state = past ? (known?.state ?? []) : row.state;
  return (
    <div class={past ? 'actor past' : 'actor'}>
      <ActorHead
        kind={kind}
        id={id}
        row={row}
        answer={answer}
        state={state}
        version={past ? known?.version : answer.version}
        past={past}
      />
      {past && (
        <PastSign
          event={known?.event}
          position={at}
          newer={journal.events.filter(({ position }) => position > at).length}
          back={() => travelTo(undefined)}
        />
      )}
      <div class="actor-chart">
        {moment.data?.known === false && past ? (
          <Empty title={moment.data.reason} />
        ) : (
          <LiveChart
            kind={kind}
            state={state}
            taken={known?.position === at ? known.transitions : none}
            occasion={at}
            next={past ? none : answer.explanation.next}
          />
        )}
        <TravelBar events={journal.events} at={at} past={past} reach={answer.reach} to={travelTo} step={step} />
      </div>
      <Panels
        answer={answer}
        past={past}
        moment={known}
        before={before.data?.known === true ? before.data : undefined}
        failure={moment.error}
      />
      <JournalPanel events={journal.newestFirst} at={at} travel={travelTo} older={journal.older} />
    </div>
  );
}

const none: readonly never[] = [];

function useMoment({ kind, id, reach }: ActorAnswer, position: number | undefined) {
  const [held, hold] = useState<MomentAnswer | undefined>(undefined);
  const reachable = position !== undefined && reach.to !== null;
  const path = reachable ? pathOf(routes.actorMoment, { kind, id }, { position }) : undefined;
  const moment = useResource<MomentAnswer>(path);
  if (moment.data !== undefined && moment.data !== held) hold(moment.data);
  // What was shown stays until the next is there: a slider that blinks cannot be read.
  return { data: reachable ? (moment.data ?? held) : undefined, error: moment.error };
}

interface Step {
  /** What is known of the place; undefined where nothing is. */
  readonly moment: Extract<MomentAnswer, { known: true }> | undefined;
  /** Events that are loaded, oldest first: also where nothing is known there are some. */
  readonly events: readonly EventView[];
  readonly at: number;
  readonly newest: number;
  readonly by: -1 | 1;
}

/** The position one event on or back; undefined for now. */
export function stepped({ moment, events, at, newest, by }: Step): number | undefined {
  const target =
    by === -1
      ? (moment?.previous ?? events.findLast(({ position }) => position < at)?.position ?? at)
      : (moment?.next ?? events.find(({ position }) => position > at)?.position);
  return target === undefined || target >= newest ? undefined : target;
}

function travelKeys(step: (by: -1 | 1) => void, oldest: number | undefined): readonly KeyBinding[] {
  return [
    bind(['ArrowLeft', '['], 'one event back', () => step(-1)),
    bind(['ArrowRight', ']'], 'one event forward', () => step(1)),
    bind(['Home'], 'first event that is loaded', () => travelTo(oldest)),
    bind(['End'], '', () => travelTo(undefined)),
    bind(['Escape'], 'back to now, then to where you came from', () => {
      if (lookedAt() !== undefined) travelTo(undefined);
      else history.back();
    }),
  ];
}
