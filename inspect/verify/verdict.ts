/** One configuration, or one mutant, from the first state to what is said of it: what a thread of the checker does. */
import { type Charts, isGuardMutant, type Mutant, mutantName, mutated, shippedCharts } from './charts.ts';
import { configurationNamed, configurations } from './configurations/all.ts';
import { type Counterexample, counterexample } from './counterexample.ts';
import { equivalents } from './equivalents.ts';
import { type Exploration, explore, type Limits } from './explore.ts';
import type { AnyConfiguration } from './model.ts';
import { lostState } from './reach.ts';
import { walk } from './walk.ts';

export interface ConfigurationVerdict {
  readonly name: string;
  readonly title: string;
  readonly bounds: readonly string[];
  readonly states: number;
  readonly records: number;
  readonly worlds: number;
  readonly transitions: number;
  readonly depth: number;
  readonly seconds: number;
  readonly statesPerSecond: number;
  /** Whether every state within the bounds was looked at. */
  readonly exhausted: boolean;
  /** States at the edge of the bounds, from which nothing was gone on. */
  readonly atBounds: number;
  readonly invariants: ReadonlyArray<{ readonly id: string; readonly title: string }>;
  readonly violation: Counterexample | null;
}

export interface Effort extends Limits {
  readonly seed: number;
}

export interface MutantVerdict {
  readonly mutant: string;
  readonly killed: boolean;
  /** Why it changes nothing, where that can be shown. */
  readonly equivalent: string | null;
  readonly configuration: string | null;
  readonly invariant: string | null;
  readonly story: readonly string[];
  readonly states: number;
}

export function verdictOn(
  configuration: AnyConfiguration,
  charts: Charts,
  { seed, ...limits }: Effort,
): ConfigurationVerdict {
  const exploration = explore(configuration, charts, limits);
  const found = violationIn(exploration, { seed, ...limits });
  const { space, table, transitions, depth, endedBy, cut, ms } = exploration;
  const prospects = configuration.prospects ?? [];
  return {
    ...{ name: configuration.name, title: configuration.title, bounds: configuration.bounds },
    ...{ states: table.count, records: space.system.count, worlds: space.worlds, transitions, depth },
    seconds: ms / 1_000,
    statesPerSecond: Math.round((table.count / ms) * 1_000),
    exhausted: endedBy === null && found === null,
    atBounds: cut,
    invariants: [...space.invariants, ...prospects].map(({ id, title }) => ({ id, title })),
    violation: found,
  };
}

function violationIn(exploration: Exploration, { seed, forMs }: Effort): Counterexample | null {
  const { violation, endedBy, ms, space } = exploration;
  if (violation !== null) return counterexample(exploration, violation);
  if (endedBy === null) return lostProspect(exploration);
  const left = forMs === undefined || endedBy === 'states' ? 0 : Math.max(0, forMs * 1.1 - ms);
  const walked = walk(exploration, { seed, forMs: left });
  return walked === null ? null : counterexample({ ...exploration, space }, walked);
}

function lostProspect(exploration: Exploration): Counterexample | null {
  for (const prospect of exploration.space.configuration.prospects ?? []) {
    const state = lostState(exploration, prospect);
    if (state < 0) continue;
    const { id, title } = prospect;
    return { ...counterexample(exploration, { invariant: 0, state, word: null }), invariant: id, title };
  }
  return null;
}

/** Where a mutant could show: every configuration whose cast has its kinds. */
export const configurationsOf = (mutant: Mutant): readonly AnyConfiguration[] => {
  const kinds = isGuardMutant(mutant) ? [mutant.kind] : [mutant.from, mutant.to];
  return configurations.filter(({ cast }) => kinds.every((kind) => cast.some((member) => member.kind === kind)));
};

/** Explores one configuration after the other until one of them notices. */
export function mutantVerdict(mutant: Mutant, limits: Limits): MutantVerdict {
  const charts = mutated(mutant);
  let states = 0;
  for (const configuration of configurationsOf(mutant)) {
    const { violation, ...seen } = verdictOn(configuration, charts, { seed: 0, ...limits });
    states += seen.states;
    if (violation === null) continue;
    const { invariant, story } = violation;
    const where = { configuration: configuration.name, invariant, story };
    return { mutant: mutantName(mutant), killed: true, equivalent: null, ...where, states };
  }
  const name = mutantName(mutant);
  const equivalent = equivalents[name] ?? null;
  return { mutant: name, killed: false, equivalent, configuration: null, invariant: null, story: [], states };
}

export type Task =
  | { readonly is: 'configuration'; readonly name: string; readonly effort: Omit<Effort, 'onProgress'> }
  | { readonly is: 'mutant'; readonly mutant: Mutant; readonly limits: Omit<Limits, 'onProgress'> };

export type TaskVerdict =
  | { readonly is: 'configuration'; readonly verdict: ConfigurationVerdict }
  | { readonly is: 'mutant'; readonly verdict: MutantVerdict };

export const carryOut = (task: Task): TaskVerdict =>
  task.is === 'configuration'
    ? { is: task.is, verdict: verdictOn(configurationNamed(task.name), shippedCharts, task.effort) }
    : { is: task.is, verdict: mutantVerdict(task.mutant, task.limits) };
