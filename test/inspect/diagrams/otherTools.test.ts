/** Exports as the programs read them for which they are made: dot, Mermaid in a browser, and XState 4, also for SCXML. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ChartState, chartOf, statesOf } from '../../../inspect/diagrams/chart.ts';
import { createMachine4Source } from '../../../inspect/diagrams/createMachineSource.ts';
import { dotOf } from '../../../inspect/diagrams/graphviz.ts';
import { mermaidOf } from '../../../inspect/diagrams/mermaid.ts';
import { scxmlOf } from '../../../inspect/diagrams/scxml.ts';
import { definitions } from '../../../machines/registry.ts';
import { installPackages } from '../../support/installedPackages.ts';
import { sharedBrowser } from '../web/support/browser.ts';
import { everyConstruct } from './everyConstruct.ts';

const all = [...Object.values(definitions), everyConstruct];
const browser = sharedBrowser();
let packages: string;

beforeAll(async () => {
  packages = await installPackages(fileURLToPath(new URL('fixtures', import.meta.url)));
});

const sorted = (texts: Iterable<string>): readonly string[] => [...texts].sort();

/** What dot has understood. */
interface Graph {
  readonly objects: ReadonlyArray<{ readonly name: string; readonly nodes?: unknown }>;
  readonly edges: readonly unknown[];
}

/** The value of a state that was just entered, as XState has it. */
function initialOf({ kind, initial, children }: ChartState): unknown {
  if (kind === 'parallel') return Object.fromEntries(children.map((child) => [child.key, initialOf(child)]));
  const first = children.find(({ id }) => id === initial);
  if (first === undefined) return {};
  return first.children.length === 0 ? first.key : { [first.key]: initialOf(first) };
}

/** What both readers of version 4 make of a chart. */
interface Machine4 {
  readonly id: string;
  readonly stateIds: readonly string[];
  readonly events: readonly string[];
  readonly initialState: { readonly value: unknown };
  readonly options: Readonly<Record<'guards' | 'actions', Readonly<Record<string, unknown>>>>;
}

describe.each(all)('a $kind', (definition) => {
  const chart = chartOf(definition);
  const ids = statesOf(chart.root).map(({ id }) => id);

  it('is understood by dot, every state in its cluster and nothing besides', () => {
    const input = dotOf(chart);
    const { objects, edges } = JSON.parse(execFileSync('dot', ['-Tdot_json'], { input, encoding: 'utf8' })) as Graph;
    const named = (isCluster: boolean) =>
      sorted(objects.filter(({ nodes }) => (nodes !== undefined) === isCluster).map(({ name }) => name));
    const states = statesOf(chart.root);
    const inner = states.filter(({ children }) => children.length > 0);
    expect(named(true)).toEqual(sorted(inner.map(({ id }) => `cluster ${id}`)));
    const helpers = inner.flatMap(({ id, initial }) => [
      `${id} (anchor)`,
      ...(initial === null ? [] : [`${id} (initial)`]),
    ]);
    const outer = states.filter((state) => !inner.includes(state)).map(({ id }) => id);
    expect(named(false)).toEqual(sorted([...outer, ...helpers]));
    const begins = states.flatMap(({ initial, defaults }) => [...(initial === null ? [] : [initial]), ...defaults]);
    expect(edges).toHaveLength(chart.transitions.flatMap(({ targets }) => targets).length + begins.length);
  });

  it('is drawn by Mermaid, with the name of every state', async () => {
    const { page, complaints } = await browser.open();
    await page.setContent('<pre id="drawn"></pre>');
    await page.addScriptTag({ path: join(packages, 'mermaid', 'dist', 'mermaid.min.js') });
    await page.evaluate(async (text) => {
      // biome-ignore lint/suspicious/noExplicitAny: what a page has beside this program
      const { mermaid, document } = globalThis as any;
      mermaid.initialize({ startOnLoad: false });
      document.body.innerHTML = (await mermaid.render('chart', text)).svg;
    }, mermaidOf(chart));
    const labels = await page.locator('.nodeLabel, .cluster-label').allTextContents();
    const keys = statesOf(chart.root).flatMap(({ kind, key }) => (kind === 'history' ? [] : [key]));
    const shown = labels.map((label) => label.trim());
    expect(keys.filter((key) => !shown.some((label) => label === key || label.startsWith(`${key} (`)))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('is a machine of XState 4, which the classic visualizer opens', () => {
    const { code } = ts.transformSync(createMachine4Source(chart), { loader: 'ts', format: 'cjs' });
    const module = { exports: {} as Record<string, Machine4> };
    new Function('module', 'exports', 'require', code)(module, module.exports, createRequire(join(packages, 'x.js')));
    const [machine] = Object.values(module.exports);
    expect(sorted(machine?.stateIds ?? [])).toEqual(sorted(ids));
    const guards = chart.transitions.flatMap(({ guard }) => guard ?? []);
    expect(sorted(Object.keys(machine?.options.guards ?? {}))).toEqual(sorted(new Set(guards)));
    expect(machine?.initialState.value).toEqual(initialOf(chart.root));
  });

  it('is SCXML that another reader makes the same machine of', () => {
    const { toMachine } = createRequire(join(packages, 'x.js'))('xstate/lib/scxml.js') as {
      toMachine(xml: string, options: object): Machine4;
    };
    const machine = toMachine(scxmlOf(chart), {});
    expect(machine.stateIds).toEqual(expect.arrayContaining(ids));
  });
});
