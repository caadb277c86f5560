/**
 * A fence, three incarnations of a worker and what is really there of them, breadth first over every order of events.
 * Whoever drives a recovery may be as stupid as it likes: every event is offered in every state. Only what the kernel
 * would not say is never said: a proof comes after the fact, and a tick from somebody who lives, or has lived: one may be late.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { FenceSnapshot } from '../../../machines/recoveryFence.ts';
import { recoveryFenceMachine } from '../../../machines/recoveryFence.ts';
import { relaysOf } from '../../../machines/relays.ts';
import { start, step } from '../../../machines/step.ts';
import { isWorkerExited, type WorkerSnapshot, workerIncarnationMachine } from '../../../machines/workerIncarnation.ts';
import { boot } from './evidence.ts';
import { eventOf, type Told } from './play.ts';
import { fenceInput, registration, tickOf, workerInput } from './workerSamples.ts';

/** Of one incarnation: its own process, and one that it has launched in a scope of its own. */
interface Truth {
  readonly worker: 'absent' | 'alive' | 'gone';
  readonly child: 'absent' | 'alive' | 'gone';
  readonly isChildProved: boolean;
}

interface World {
  readonly fence: FenceSnapshot;
  /** Null before its launch. */
  readonly workers: readonly (WorkerSnapshot | null)[];
  readonly truths: readonly Truth[];
}

interface Move {
  readonly name: string;
  readonly next: (world: World) => World | undefined;
}

export interface Found {
  readonly states: number;
  readonly violations: readonly string[];
  /** How often a launch was refused, and a replacement became the worker. */
  readonly refusals: number;
  readonly recoveries: number;
}

const incarnations = [0, 1, 2] as const;
const nothing: Truth = { worker: 'absent', child: 'absent', isChildProved: false };
const retryAt = { monoMs: 9_000, bootId: boot };
const named = (at: number) => ({ incarnationId: `K${at}`, scopeId: `S${at}` });

const replaced = <T>(list: readonly T[], at: number, item: T): readonly T[] =>
  list.map((old, index) => (index === at ? item : old));

/** As the records say: scopes of any incarnation that are not proved to be gone. */
const unproved = ({ workers, truths }: World): string[] =>
  incarnations.flatMap((at) => {
    const worker = workers[at];
    const own = worker && !isWorkerExited(worker) ? [`S${at}`] : [];
    const { child, isChildProved } = truths[at] as Truth;
    return child !== 'absent' && !isChildProved ? [...own, `S${at}c`] : own;
  });

const rescanOf = (world: World) => {
  const scopeIds = unproved(world);
  return { rescanned: true, pending: scopeIds.length, unverified: 0, scopeIds };
};

function taken(machine: AnyStateMachine, before: AnyMachineSnapshot, told: Told) {
  const event = eventOf(told, told[0]);
  const { snapshot, change } = step(machine, before, event);
  return change === 'unmatched' ? undefined : { snapshot, event };
}

const toFence =
  (machine: AnyStateMachine, told: (world: World) => Told | undefined) =>
  (world: World): World | undefined => {
    const said = told(world);
    const after = said && taken(machine, world.fence, said);
    return after && { ...world, fence: after.snapshot as FenceSnapshot };
  };

/** With what the change means for the fence. */
function toWorker(fence: AnyStateMachine, { world, at, told }: { world: World; at: number; told: Told }) {
  const before = world.workers[at];
  const after = before && taken(workerIncarnationMachine, before, told);
  if (!after) return undefined;
  const worker = after.snapshot as WorkerSnapshot;
  const change = { kind: 'workerIncarnation' as const, id: `K${at}`, before, after: worker, event: after.event };
  const relayed = relaysOf(change).map(({ type, payload }) => [type, payload] as unknown as Told);
  const moved: World = { ...world, workers: replaced(world.workers, at, worker) };
  return relayed.reduce((next, said) => toFence(fence, () => said)(next) ?? next, moved);
}

/** The commit that launches: the fence, and a worker that is there from then on. */
function launched(fence: AnyStateMachine, world: World, at: number): World | undefined {
  if (world.workers[at] !== null) return undefined;
  const payload = { ...rescanOf(world), ...named(at), workerEnabled: true };
  const next = toFence(fence, () => ['replacement.launched', payload] as unknown as Told)(world);
  if (next === undefined) return undefined;
  const input = workerInput({ ...named(at) } as Parameters<typeof workerInput>[0]);
  const { snapshot } = start(workerIncarnationMachine, input);
  return {
    ...next,
    workers: replaced(next.workers, at, snapshot as WorkerSnapshot),
    truths: replaced(next.truths, at, { ...nothing, worker: 'alive' as const }),
  };
}

/** What becomes of an incarnation and of the child that it launches, whoever looks. */
function fatesOf(at: number): readonly Move[] {
  const fate = (name: string, change: (truth: Truth) => Truth | undefined): Move => ({
    name,
    next: (world) => {
      const truth = change(world.truths[at] as Truth);
      return truth && { ...world, truths: replaced(world.truths, at, truth) };
    },
  });
  return [
    fate(`K${at} dies`, (is) => (is.worker === 'alive' ? { ...is, worker: 'gone' } : undefined)),
    fate(`K${at} launches`, (is) =>
      is.worker === 'alive' && is.child === 'absent' ? { ...is, child: 'alive' } : undefined,
    ),
    fate(`the child of K${at} dies`, (is) => (is.child === 'alive' ? { ...is, child: 'gone' } : undefined)),
    fate(`the child of K${at} is proved`, (is) =>
      is.child === 'gone' && !is.isChildProved ? { ...is, isChildProved: true } : undefined,
    ),
  ];
}

/** What is said of an incarnation: by itself while it lives, by its scope once that is true, by whoever recovers. */
function wordsOf(fence: AnyStateMachine, at: number): readonly Move[] {
  const ids = named(at);
  const word = (type: Told[0], payload: (world: World) => object | undefined) => (world: World) => {
    const said = payload(world);
    return said && toWorker(fence, { world, at, told: [type, said] as unknown as Told });
  };
  const whenIs = (state: Truth['worker'], payload: object) => (world: World) =>
    world.truths[at]?.worker === state ? payload : undefined;
  const tick = (world: World) => {
    const seq = (world.workers[at]?.context.tick.seq ?? 0) + 1;
    return world.truths[at]?.worker === 'alive' ? tickOf({ ...(ids as object), seq }) : undefined;
  };
  const proof = { scopeId: ids.scopeId, proofKind: 'own_receipt', proofEventId: 'e' };
  return [
    { name: `launch K${at}`, next: (world) => launched(fence, world, at) },
    { name: `K${at} registers`, next: word('worker.registered', () => registration(ids as never)) },
    { name: `K${at} ticks`, next: word('scheduler.tick', tick) },
    {
      name: `K${at} is lost sight of`,
      next: word('scope.unverified', () => ({ scopeId: ids.scopeId, reason: 'gone' })),
    },
    { name: `K${at} is proved`, next: word('scope.exitProved', whenIs('gone', proof)) },
    {
      name: `a tick of K${at} is told that is not awaited`,
      next: toFence(fence, ({ workers, fence: { context } }) => {
        const isAwaited = context.replacement?.incarnationId === ids.incarnationId;
        return workers[at] && !isAwaited ? (['scheduler.tick', tickOf(ids as object)] as Told) : undefined;
      }),
    },
    {
      name: `recovery of K${at}`,
      next: toFence(fence, ({ workers }) => {
        const payload = { old: ids, liveWorkers: workers.filter(isLive).length, reason: 'silent' };
        return workers[at] ? (['recovery.started', payload] as unknown as Told) : undefined;
      }),
    },
  ];
}

const isLive = (worker: WorkerSnapshot | null): boolean => worker !== null && !isWorkerExited(worker);

function movesOf(fence: AnyStateMachine): readonly Move[] {
  const first = ({ workers }: World) =>
    workers.some(isLive) ? undefined : (['recovery.started', { old: null, liveWorkers: 0, reason: 'none' }] as Told);
  const rescan = (world: World) => ['ownership.rescanned', { ...rescanOf(world), retryAt }] as unknown as Told;
  const failure = ['recovery.failed', { phase: 'rescanning', reason: 'x', retryAt }] as Told;
  return [
    ...incarnations.flatMap((at) => [...fatesOf(at), ...wordsOf(fence, at)]),
    { name: 'recovery of nobody', next: toFence(fence, first) },
    { name: 'rescan', next: toFence(fence, rescan) },
    { name: 'failure', next: toFence(fence, () => failure) },
    { name: 'retry', next: toFence(fence, () => ['recovery.retry', { reason: 'x' }] as Told) },
  ];
}

const keyOf = ({ fence, workers, truths }: World): string => {
  const { old, replacement } = fence.context;
  const seen = workers.map((worker) => worker && [worker.value, worker.context.tick.seq > 0]);
  return JSON.stringify([fence.value, old, replacement, seen, truths]);
};

/** What a move must not do, or undefined. */
function violation(before: World, after: World, name: string): string | undefined {
  const launchedAt = incarnations.find((at) => before.workers[at] === null && after.workers[at] !== null);
  if (launchedAt !== undefined) {
    const isAnybodyThere = before.truths.some(({ worker, child }) => worker === 'alive' || child === 'alive');
    if (isAnybodyThere) return `I-24: ${name} beside somebody who lives`;
  }
  const live = after.truths.filter(({ worker }) => worker === 'alive').length;
  if (live > 1) return `I-24: ${live} workers after ${name}`;
  const cameHome = before.fence.value === 'awaitingTick' && after.fence.value === 'idle';
  const replacement = before.fence.context.replacement?.incarnationId;
  if (cameHome && name !== `${replacement} ticks`) return `I-25: ${name} made ${replacement} the worker`;
  return undefined;
}

export function exploreRecovery(fence: AnyStateMachine = recoveryFenceMachine): Found {
  const moves = movesOf(fence);
  const established = start(fence, fenceInput).snapshot as FenceSnapshot;
  const first: World = { fence: established, workers: [null, null, null], truths: incarnations.map(() => nothing) };
  const seen = new Set([keyOf(first)]);
  const queue = [first];
  const violations = new Set<string>();
  let refusals = 0;
  let recoveries = 0;
  for (let at = 0; at < queue.length; at += 1) {
    const world = queue[at] as World;
    for (const { name, next } of moves) {
      const after = next(world);
      if (after === undefined) continue;
      const broken = violation(world, after, name);
      if (broken !== undefined) violations.add(broken);
      if (after.fence.value === 'refused' && world.fence.value !== 'refused') refusals += 1;
      if (after.fence.value === 'idle' && world.fence.value === 'awaitingTick') recoveries += 1;
      const key = keyOf(after);
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push(after);
    }
  }
  return { states: seen.size, violations: [...violations], refusals, recoveries };
}
