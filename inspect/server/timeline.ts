/**
 * A Goal's life as bars, out of the journals of all actors that belong to it: each stretch in which an actor stayed in one
 * place is a bar, with what it waited for in the words of its chart.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyMachineSnapshot } from 'xstate';
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import { checkIdOf } from '../../actors/daemon/worker/checkPlan.ts';
import type { GoalSnapshot } from '../../machines/goal.ts';
import type { GoalContext } from '../../machines/goalContext.ts';
import { goalEligibility } from '../../machines/goalEligibility.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { notHere } from './access/refusal.ts';
import type { Histories } from './actors/history.ts';
import { type Instant, instantOf, type Replay } from './actors/replay.ts';
import type { ActorRow, Bar, TimelineAnswer } from './contract.ts';
import type { Fleet } from './fleet/fleet.ts';
import { leafPaths, waitOf } from './fleet/paths.ts';
import { rowsOfGoal } from './fleet/present.ts';

interface Parts {
  readonly daemon: InspectedDaemon;
  readonly fleet: Fleet;
  readonly histories: Histories;
}

/** Actors of one Goal that are shown, the newest. */
const mostActors = 200;
/** Stretches that are shown: what lasts, and the newest of the others. A browser draws each, and nobody tells more of them apart. */
const mostBars = 1_000;
/** Moments that are looked at in one turn, each for some 6 µs: a long life would keep everybody else waiting. */
const sliceStands = 2_000;
/** Actors whose histories are kept already, and so are had without a turn. */
const sliceActors = 16;

/** Throws a Refusal where there is no such Goal. */
export async function timelineOf(parts: Parts, goalId: string): Promise<TimelineAnswer> {
  const { daemon, histories } = parts;
  const goal = await histories.of('goal', goalId);
  if (goal === undefined) throw notHere(`goal ${goalId}`);
  const bars: Bar[] = [...(await stepBars(goal)), ...(await waitBars(goal, daemon.store.nodeId))];
  let cut = isCut(goal);
  const checks = checkRunsOf(goal);
  const others = rowsOfGoal(parts, goalId).filter(({ kind }) => lanes[kind] !== undefined);
  for (const [index, other] of newestOf(others).entries()) {
    if (index % sliceActors === sliceActors - 1) await nextTurn();
    const lane = other.kind === 'run' && checks.has(other.id) ? 'check' : lanes[other.kind];
    if (lane === undefined) continue;
    const history = await histories.of(other.kind, other.id);
    if (history === undefined) continue;
    cut ||= isCut(history);
    bars.push(...(await stateBars(history, lane, other)));
  }
  const shown = shownOf(bars);
  const omitted = { actors: Math.max(0, others.length - mostActors), bars: bars.length - shown.length };
  const { title, status } = (goal.head?.context as GoalContext | undefined) ?? { title: goalId, status: 'unknown' };
  return { goalId, title, status, nowMs: daemon.clock.now().wallMs, bars: shown, cut, omitted };
}

const isCut = ({ stopped, head }: Replay): boolean => stopped !== undefined || head === undefined;

/** In the order in which they began. */
function shownOf(bars: readonly Bar[]): readonly Bar[] {
  const lasting = bars.filter(({ toMs }) => toMs === null);
  const past = bars.filter(({ toMs }) => toMs !== null).sort((one, other) => one.fromPosition - other.fromPosition);
  const kept = past.slice(Math.max(0, past.length - Math.max(0, mostBars - lasting.length)));
  return [...kept, ...lasting].sort((one, other) => one.fromPosition - other.fromPosition);
}

const lanes: Partial<Readonly<Record<ActorKind, Bar['lane']>>> = {
  run: 'run',
  ptySession: 'session',
  worktreeGeneration: 'worktree',
};

const unreadable = 'its record cannot be read by this program';

type Words = Omit<Bar, 'key' | 'actor' | 'outcome' | 'unproved' | `${'from' | 'to'}${string}`>;

/** Where an actor stood from an event on; without a snapshot nobody knows. */
interface Stand extends Instant {
  readonly snapshot: AnyMachineSnapshot | undefined;
}

/** What is replayed, then what is not known, then the present, which is what the newest event led to. */
function standsOf({ moments, stopped, head, newest }: Replay): readonly Stand[] {
  const replayed = moments.map((moment) => ({ ...instantOf(moment), snapshot: moment.snapshot }));
  if (newest === undefined) return replayed;
  // What cannot be read by this program is not where the replay ends, either.
  if (stopped === undefined) return head === undefined ? [...replayed, { ...newest, snapshot: undefined }] : replayed;
  const unknown =
    stopped.position < newest.position && replayed.length > 0 ? [{ ...stopped, snapshot: undefined }] : [];
  return [...replayed, ...unknown, { ...newest, snapshot: head }];
}

/** Of a stretch that has only begun. */
const untold = { toMs: null, toPosition: null, outcome: null, unproved: false };

/** Stretches that `of` gives the same words, the last one open unless the actor is over: then there is nothing to show. */
async function stretches(
  history: Replay,
  lane: Bar['lane'],
  of: (snapshot: AnyMachineSnapshot) => Omit<Words, 'lane'> | null,
): Promise<Bar[]> {
  const { kind, id, stopped } = history;
  const bars: Bar[] = [];
  const { isSettled } = definitions[kind];
  const unknown = (label: string) => ({ label, state: 'unknown', reason: stopped?.reason ?? unreadable });
  let open: { readonly bar: Bar; readonly text: string } | undefined;
  const close = ({ position, wallMs }: Instant) => {
    if (open !== undefined) bars.push({ ...open.bar, toMs: wallMs, toPosition: position });
    open = undefined;
  };
  const stands = standsOf(history);
  for (const [index, stand] of stands.entries()) {
    if (index % sliceStands === sliceStands - 1) await nextTurn();
    const { snapshot, position, wallMs } = stand;
    const isOver = snapshot !== undefined && isSettled(snapshot) && kind !== 'goal';
    const shown =
      snapshot === undefined
        ? unknown(lane === 'step' || lane === 'wait' ? 'unknown' : (open?.bar.label ?? id))
        : isOver
          ? null
          : of(snapshot);
    const text = JSON.stringify(shown);
    if (text === open?.text) continue;
    close(stand);
    if (shown === null) continue;
    const key = `${lane}/${kind}/${id}/${position}`;
    const place = { actor: { kind, id }, fromPosition: position, fromMs: wallMs, ...untold };
    open = { text, bar: { ...shown, lane, key, ...place } };
  }
  const last = stands.at(-1);
  if (open === undefined || last === undefined) return bars;
  if (last.snapshot === undefined || isSettled(last.snapshot)) close(last);
  else bars.push(open.bar);
  return bars;
}

/** Those that were changed last. */
const newestOf = (rows: readonly ActorRow[]): readonly ActorRow[] =>
  rows.toSorted((one, other) => one.position - other.position).slice(-mostActors);

/** A step that led to failure has failed, whatever the next one is called. */
async function stepBars(goal: Replay): Promise<Bar[]> {
  const bars = await stretches(goal, 'step', (snapshot) => {
    const { status, failure, round } = snapshot.context as GoalContext;
    const reason = status === 'failed' && failure !== null ? (failure.reasonCode ?? failure.kind) : null;
    return { label: round > 1 ? `${status} (round ${round})` : status, state: status, reason };
  });
  return bars.map((bar, index) => {
    const next = bars[index + 1];
    if (next?.state !== 'failed') return bar;
    return {
      ...bar,
      outcome: { words: `failed: ${(next.reason ?? 'no reason given').replaceAll('_', ' ')}`, failed: true },
    };
  });
}

const isOver: ReadonlySet<string> = new Set(['done', 'cancelled']);

/** When nobody may work on it, or somebody may and nobody does. */
export const waitBars = (goal: Replay, nodeId: string): Promise<Bar[]> =>
  stretches(goal, 'wait', (snapshot) => {
    const { status, claim, occurrence } = snapshot.context as GoalContext;
    if (isOver.has(status)) return null;
    const { eligible, reason } = goalEligibility(snapshot as GoalSnapshot, nodeId);
    if (eligible && claim !== null && claim.occurrence === occurrence.n) return null;
    const free = status === 'todo' ? 'nobody has begun' : 'no worker holds the step';
    const why = eligible ? free : reason.replaceAll('_', ' ');
    return { label: why, state: status, reason: waitOf('goal', leafPaths(snapshot.value)) ?? why };
  });

/** Runs that were begun as checks of the Goal. */
function checkRunsOf({ head }: Replay): ReadonlySet<string> {
  const claims = (head?.context as GoalContext | undefined)?.claims ?? [];
  return new Set(claims.map(({ claimId }) => checkIdOf(claimId)).filter((runId) => runId !== undefined));
}

async function stateBars(
  history: Replay,
  lane: Bar['lane'],
  { label, id, outcome, unproved }: ActorRow,
): Promise<Bar[]> {
  const bars = await stretches(history, lane, (snapshot) => {
    const paths = leafPaths(snapshot.value);
    return { label: label ?? id, state: paths.join(', '), reason: waitOf(history.kind, paths) };
  });
  return bars.map((bar, index) => (index === bars.length - 1 ? { ...bar, outcome, unproved } : bar));
}
