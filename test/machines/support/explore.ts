/**
 * Every state that a scope, its run, its session and the world behind them can reach together, breadth first. A law that is broken is
 * reported with the shortest story that leads there.
 */
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { SessionSnapshot } from '../../../machines/ptySession.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import { type JointEvent, jointEvents } from './jointEvents.ts';
import { createMemoryHost, type HostOptions, type MemoryHost, type Pair } from './memoryHost.ts';
import { emptyWorld, type World, worldMoves } from './world.ts';

export interface Records {
  readonly scope: ScopeSnapshot;
  readonly run: RunSnapshot;
  /** As it was opened, where no session takes part. */
  readonly session: SessionSnapshot;
}

export interface Joint extends Records {
  readonly world: World;
}

export interface Transition {
  readonly before: Records;
  readonly after: Records;
  readonly event: JointEvent;
}

/** What must hold of every state, or of every transition between records; the name carries the id of the invariant. */
export interface Law {
  readonly name: string;
  readonly holds?: (joint: Joint) => boolean;
  readonly keeps?: (transition: Transition) => boolean;
}

export interface Exploration {
  readonly states: number;
  readonly pairs: number;
  /** The first broken law, with the shortest story; the exploration ends there. */
  readonly broken: { readonly law: string; readonly story: readonly string[] } | null;
  /** Names of the events that changed something somewhere. */
  readonly occurred: ReadonlySet<string>;
}

export interface ExploreOptions extends HostOptions {
  readonly laws: readonly Law[];
  readonly events?: readonly JointEvent[];
  /** What is true when the scope is asked for. */
  readonly world?: World;
}

interface Node {
  readonly pair: number;
  readonly world: number;
  readonly parent: Node | undefined;
  readonly step: string;
}

export function explore(given: ExploreOptions): Exploration {
  const { laws, events = jointEvents, world: firstWorld = emptyWorld, ...options } = given;
  const records = createRecords(createMemoryHost(options), { laws, events });
  const worlds = createWorlds(events, firstWorld);
  const seen = new Set<number>();
  const queue: Node[] = [];
  let broken: Exploration['broken'] = null;

  const enter = (node: Node, violated: string | undefined): void => {
    if (violated !== undefined) broken ??= { law: violated, story: storyOf(node) };
    // There are fewer worlds than that, so both numbers fit into one.
    const key = node.pair * 4_096 + node.world;
    if (seen.has(key)) return;
    seen.add(key);
    const joint = { ...records.of(node.pair), world: worlds.of(node.world) };
    const law = laws.find(({ holds }) => holds?.(joint) === false)?.name;
    if (law !== undefined) broken ??= { law, story: storyOf(node) };
    queue.push(node);
  };

  enter({ pair: 0, world: 0, parent: undefined, step: '' }, undefined);
  for (let at = 0; at < queue.length && broken === null; at += 1) {
    const parent = queue[at] as Node;
    const { pair, world } = parent;
    for (const { step, next } of worlds.moves(world, records.of(pair).scope.context)) {
      enter({ pair, world: next, parent, step }, undefined);
    }
    for (const index of worlds.sayable(world)) {
      const { next, violated } = records.after(pair, index);
      if (next !== pair) enter({ pair: next, world, parent, step: events[index]?.name ?? '' }, violated);
    }
  }
  return { states: seen.size, pairs: records.count(), broken, occurred: records.occurred };
}

interface Answer {
  readonly next: number;
  /** A law that this transition breaks. */
  readonly violated: string | undefined;
}

/** Numbers pairs of records; what an event does to one is worked out once, whatever the world is like. */
function createRecords(host: MemoryHost, { laws, events }: Pick<Required<ExploreOptions>, 'laws' | 'events'>) {
  const pairs: Pair[] = [];
  const numbers = new Map<string, number>();
  const answers: Array<Array<Answer | undefined>> = [];
  const occurred = new Set<string>();
  const numberOf = (pair: Pair): number => {
    const key = `${pair.executionScope}|${pair.run}|${pair.ptySession}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, pairs.length);
    answers.push([]);
    return pairs.push(pair) - 1;
  };
  const recordsOf = (pair: Pair): Records => ({
    scope: host.scope(pair),
    run: host.run(pair),
    session: host.session(pair),
  });
  numberOf(host.start);

  const answer = (number: number, event: JointEvent): Answer => {
    const pair = pairs[number] as Pair;
    const next = host.submit(pair, event);
    if (next === undefined) return { next: number, violated: undefined };
    occurred.add(event.name);
    const transition = { before: recordsOf(pair), after: recordsOf(next), event };
    return { next: numberOf(next), violated: laws.find(({ keeps }) => keeps?.(transition) === false)?.name };
  };

  return {
    occurred,
    count: () => pairs.length,
    of: (number: number): Records => recordsOf(pairs[number] as Pair),
    after(number: number, index: number): Answer {
      const row = answers[number] as Array<Answer | undefined>;
      const known = row[index] ?? answer(number, events[index] as JointEvent);
      row[index] = known;
      return known;
    },
  };
}

/** Numbers worlds, and remembers which events may be said in each. */
function createWorlds(events: readonly JointEvent[], first: World) {
  const worlds: World[] = [];
  const numbers = new Map<string, number>();
  const sayable: number[][] = [];
  const numberOf = (world: World): number => {
    const key = JSON.stringify(world);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, worlds.length);
    sayable.push([...events.keys()].filter((index) => events[index]?.when(world)));
    return worlds.push(world) - 1;
  };
  numberOf(first);
  return {
    of: (number: number): World => worlds[number] as World,
    sayable: (number: number): readonly number[] => sayable[number] as number[],
    moves: (number: number, { slots, released }: ScopeSnapshot['context']) =>
      worldMoves(worlds[number] as World, { spawn: slots !== null, openGate: released !== 'no' }).map(
        ([step, world]) => ({ step, next: numberOf(world) }),
      ),
  };
}

function storyOf(node: Node): string[] {
  const story: string[] = [];
  for (let at: Node | undefined = node; at?.parent !== undefined; at = at.parent) story.unshift(at.step);
  return story;
}
