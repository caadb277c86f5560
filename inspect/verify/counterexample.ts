/** How an invariant comes to be broken: the shortest story that leads there, in words and as a sequence diagram (Mermaid). */
import type { Exploration, Violation } from './explore.ts';
import type { Delivery } from './model.ts';

interface Episode {
  readonly name: string;
  readonly by: string;
  /** Empty for what the world does by itself. */
  readonly deliveries: readonly Delivery[];
}

export interface Counterexample {
  readonly configuration: string;
  readonly invariant: string;
  readonly title: string;
  /** Names of what happened, in order. */
  readonly story: readonly string[];
  /** Text of a Mermaid sequence diagram. */
  readonly diagram: string;
  /** State values of the actors in the end. */
  readonly records: Readonly<Record<string, unknown>>;
  readonly truth: unknown;
}

export function counterexample(exploration: Exploration, violation: Violation): Counterexample {
  const { space, table } = exploration;
  const invariant = space.invariants[violation.invariant];
  if (invariant === undefined) throw new Error('that invariant is not one of this configuration');
  const causes: Episode[] =
    violation.word === null ? [] : [spoken(exploration, table.record(violation.state), violation.word)];
  for (let at = violation.state; table.parent(at) >= 0; at = table.parent(at)) {
    const cause = table.cause(at);
    causes.unshift(cause < 0 ? moved(exploration, ~cause) : spoken(exploration, table.record(table.parent(at)), cause));
  }
  const last = violation.word === null ? undefined : space.callOf(table.record(violation.state), violation.word);
  const { actors } = space.system.records(last?.next ?? table.record(violation.state));
  const { name } = space.configuration;
  return {
    ...{ configuration: name, invariant: invariant.id, title: invariant.title },
    story: [...(space.configuration.prologue ?? []), ...causes.map((episode) => episode.name)],
    diagram: diagramOf(causes, `${invariant.id}: ${invariant.title}`),
    records: Object.fromEntries(Object.entries(actors).map(([id, snapshot]) => [id, snapshot?.value ?? null])),
    truth: space.truth(table.world(violation.state)),
  };
}

function moved({ space }: Exploration, move: number): Episode {
  const { name = '', by = 'world' } = space.configuration.moves[move] ?? {};
  return { name, by, deliveries: [] };
}

function spoken({ space }: Exploration, record: number, word: number): Episode {
  const { name = '', by = 'world' } = space.configuration.words[word] ?? {};
  return { name, by, deliveries: space.callOf(record, word)?.deliveries ?? [] };
}

const harmless = (text: string): string => text.replace(/[;#\n\r]/g, ',');

function diagramOf(episodes: readonly Episode[], broken: string): string {
  const lines = episodes.flatMap(({ name, by, deliveries }, index) => [
    `  Note over ${by}: ${index + 1}. ${harmless(name)}`,
    ...deliveries.map(({ from, to, event, outcome }) => {
      const arrow = outcome === 'refused' ? '-x' : '->>';
      return `  ${from ?? by}${arrow}${to}: ${event.type}${outcome === 'changed' ? '' : ` (${outcome})`}`;
    }),
  ]);
  const participants = episodes.flatMap(({ by, deliveries }) => [by, ...deliveries.map(({ to }) => to)]);
  const last = participants.at(-1) ?? 'world';
  return [
    'sequenceDiagram',
    ...[...new Set(participants)].map((participant) => `  participant ${participant}`),
    ...lines,
    `  Note over ${last}: broken: ${harmless(broken)}`,
    '',
  ].join('\n');
}
