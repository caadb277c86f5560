/**
 * A Goal's life as bars, out of the journals of all actors that belong to it: each stretch in which an actor stayed in one
 * place is a bar, with what it waited for in the words of its chart.
 */
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
import type { Moment, Replay } from './actors/replay.ts';
import type { Bar, TimelineAnswer } from './contract.ts';
import type { Fleet } from './fleet/fleet.ts';
import { leafPaths, waitOf } from './fleet/paths.ts';

interface Parts {
  readonly daemon: InspectedDaemon;
  readonly fleet: Fleet;
  readonly histories: Histories;
}

/** Actors of one Goal that are shown, the newest. */
const mostActors = 200;

/** Throws a Refusal where there is no such Goal. */
export async function timelineOf({ daemon, fleet, histories }: Parts, goalId: string): Promise<TimelineAnswer> {
  const goal = await histories.of('goal', goalId);
  const row = fleet.row('goal', goalId);
  if (goal === undefined || row === undefined) throw notHere(`goal ${goalId}`);
  const bars: Bar[] = [...stepBars(goal), ...waitBars(goal, daemon.store.nodeId)];
  let cut = goal.stopped !== undefined;
  const checks = checkRunsOf(goal);
  for (const other of fleet.ofGoal(goalId).slice(-mostActors)) {
    const lane = other.kind === 'run' && checks.has(other.id) ? 'check' : lanes[other.kind];
    if (lane === undefined) continue;
    const history = await histories.of(other.kind, other.id);
    if (history === undefined) continue;
    cut ||= history.stopped !== undefined;
    bars.push(...stateBars(history, lane, other.label ?? other.id));
  }
  bars.sort((one, other) => one.fromPosition - other.fromPosition);
  const { title, status } = goal.moments.at(-1)?.snapshot.context ?? { title: row.label ?? goalId, status: 'unknown' };
  return { goalId, title, status, nowMs: daemon.clock.now().wallMs, bars, cut };
}

const lanes: Partial<Readonly<Record<ActorKind, Bar['lane']>>> = {
  run: 'run',
  ptySession: 'session',
  worktreeGeneration: 'worktree',
};

/** Stretches of moments that `of` gives the same words, the last one open unless the actor is over: then there is nothing to show. */
function stretches(
  { kind, id, moments }: Replay,
  of: (snapshot: AnyMachineSnapshot) => Omit<Bar, 'key' | 'actor' | `${'from' | 'to'}${string}`> | null,
): Bar[] {
  const bars: Bar[] = [];
  const { isSettled } = definitions[kind];
  let open: { readonly bar: Bar; readonly text: string } | undefined;
  const close = (at: Moment) => {
    if (open !== undefined) bars.push({ ...open.bar, toMs: at.envelope.at.wallMs, toPosition: at.position });
    open = undefined;
  };
  for (const moment of moments) {
    const shown = isSettled(moment.snapshot) && kind !== 'goal' ? null : of(moment.snapshot);
    const text = JSON.stringify(shown);
    if (text === open?.text) continue;
    close(moment);
    if (shown === null) continue;
    const { position } = moment;
    const fromMs = moment.envelope.at.wallMs;
    const key = `${shown.lane}/${kind}/${id}/${position}`;
    const bar = { ...shown, key, actor: { kind, id }, fromPosition: position, fromMs, toMs: null, toPosition: null };
    open = { text, bar };
  }
  const last = moments.at(-1);
  if (open === undefined || last === undefined) return bars;
  if (isSettled(last.snapshot)) close(last);
  else bars.push(open.bar);
  return bars;
}

const stepBars = (goal: Replay): Bar[] =>
  stretches(goal, (snapshot) => {
    const { status, failure, round } = snapshot.context as GoalContext;
    const reason = status === 'failed' && failure !== null ? (failure.reasonCode ?? failure.kind) : null;
    return { lane: 'step', label: round > 1 ? `${status} (round ${round})` : status, state: status, reason };
  });

const isOver: ReadonlySet<string> = new Set(['done', 'cancelled']);

/** When nobody may work on it, or somebody may and nobody does. */
const waitBars = (goal: Replay, nodeId: string): Bar[] =>
  stretches(goal, (snapshot) => {
    const { status, claim, occurrence } = snapshot.context as GoalContext;
    if (isOver.has(status)) return null;
    const { eligible, reason } = goalEligibility(snapshot as GoalSnapshot, nodeId);
    if (eligible && claim !== null && claim.occurrence === occurrence.n) return null;
    const why = eligible ? 'nobody has begun the step' : reason.replaceAll('_', ' ');
    return { lane: 'wait', label: why, state: status, reason: waitOf('goal', leafPaths(snapshot.value)) ?? why };
  });

/** Runs that were begun as checks of the Goal. */
function checkRunsOf({ moments }: Replay): ReadonlySet<string> {
  const claims = (moments.at(-1)?.snapshot.context as GoalContext | undefined)?.claims ?? [];
  return new Set(claims.map(({ claimId }) => checkIdOf(claimId)).filter((runId) => runId !== undefined));
}

const stateBars = (history: Replay, lane: Bar['lane'], label: string): Bar[] =>
  stretches(history, (snapshot) => {
    const paths = leafPaths(snapshot.value);
    return { lane, label, state: paths.join(', '), reason: waitOf(history.kind, paths) };
  });
