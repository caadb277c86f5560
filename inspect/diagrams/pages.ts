/** The protocol pages: what each machine does, made of the machine itself and of what stands beside its events and guards. */
import type { ActorDefinition } from '../../machines/definition.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { chartOf, statesOf } from './chart.ts';
import { jsonOf } from './formats.ts';
import { placeChart } from './layout.ts';
import { machinePage } from './machinePage.ts';
import { purposes } from './purposes.ts';
import { svgOf } from './svg.ts';

/** Every file of the folder by its name. */
export async function protocolPages(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>([['README.md', indexPage()]]);
  for (const definition of Object.values(definitions)) {
    const { kind } = definition;
    const chart = chartOf(definition);
    files.set(`${kind}.md`, machinePage(definition, chart));
    files.set(`${kind}.svg`, svgOf(await placeChart(chart)));
    files.set(`${kind}.chart.json`, jsonOf(chart));
  }
  return files;
}

export interface Staleness {
  readonly file: string;
  readonly how: 'missing' | 'stale' | 'superfluous';
}

/** How the files of a folder differ from what they have to be; `present` has the text of each by its name. */
export function stalenessOf(
  pages: ReadonlyMap<string, string>,
  present: ReadonlyMap<string, string>,
): readonly Staleness[] {
  const expected = [...pages].flatMap(([file, text]): Staleness[] => {
    const found = present.get(file);
    if (found === undefined) return [{ file, how: 'missing' }];
    return found === text ? [] : [{ file, how: 'stale' }];
  });
  const superfluous = [...present.keys()].filter((file) => !pages.has(file));
  return [...expected, ...superfluous.map((file): Staleness => ({ file, how: 'superfluous' }))];
}

function indexPage(): string {
  const rows = Object.values(definitions).map((definition) => rowOf(definition));
  return `${[
    '# The protocol, machine by machine',
    '',
    'Written by `npm run docs` out of the machines that run; `npm run docs:check` says which page is stale. Do not edit.',
    '',
    '| Machine | What it is for | Version | Plane | States | Transitions |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    'A page has the drawing, the states, the transitions with what their guards ask and which requirement wants that, the',
    'events with their fields, who produces them and what makes a repeat recognisable, and the invariants. A drawing has a',
    'dashed box for each parallel region; what is written inside of a state is done without leaving it.',
    '',
    'Ids such as OWN-06, JRN-05, C.11 or ruling 4 are those of the ownership contract from which the charts were made. Its text is',
    'not in this repository; what is asked stands beside each id in other words.',
    '',
    '`custody machines export` writes the charts for other tools, `custody diagrams diff REV` draws what has changed since',
    'a revision: it compares the program with the `*.chart.json` of that revision.',
  ].join('\n')}\n`;
}

function rowOf(definition: ActorDefinition): string {
  const { root, transitions } = chartOf(definition);
  const { kind, version, plane } = definition;
  const sizes = `${statesOf(root).length - 1} | ${transitions.length}`;
  return `| [${kind}](${kind}.md) | ${purposes[kind as ActorKind]} | ${version} | ${plane} | ${sizes} |`;
}
