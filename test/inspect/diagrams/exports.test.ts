import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ts from 'esbuild';
import { describe, expect, it } from 'vitest';
import * as xstate from 'xstate';
import { type Chart, type ChartTransition, chartOf, statesOf } from '../../../inspect/diagrams/chart.ts';
import { createMachineSource } from '../../../inspect/diagrams/createMachineSource.ts';
import { dotOf } from '../../../inspect/diagrams/graphviz.ts';
import { eventsOf, jsonSchemaOf } from '../../../inspect/diagrams/jsonSchema.ts';
import { placeChart } from '../../../inspect/diagrams/layout.ts';
import { mermaidNames, mermaidOf, textOf } from '../../../inspect/diagrams/mermaid.ts';
import { condOf, scxmlOf } from '../../../inspect/diagrams/scxml.ts';
import { svgOf } from '../../../inspect/diagrams/svg.ts';
import { definitions } from '../../../machines/registry.ts';
import { everyConstruct } from './everyConstruct.ts';
import { elementsOf, type XmlElement } from './xmlReader.ts';

const all = [...Object.values(definitions), everyConstruct];
const moves = (chart: Chart): readonly ChartTransition[] =>
  chart.transitions.filter(({ targets }) => targets.length > 0);

/** Runs printed source with the real XState, as a tool that imports it does. */
function machineIn(source: string, made: object): xstate.AnyStateMachine {
  const { code } = ts.transformSync(source, { loader: 'ts', format: 'cjs' });
  const module = { exports: {} as Record<string, xstate.AnyStateMachine> };
  new Function('module', 'exports', 'require', code)(module, module.exports, () => made);
  return Object.values(module.exports)[0] as xstate.AnyStateMachine;
}

/** A chart without what a name in source cannot carry: a condition has one name there, the text of its drawing. */
const outline = ({ root, transitions }: Chart) => ({
  root,
  transitions: transitions.map(({ condition: _, guards: __, ...rest }) => rest).sort((a, b) => (a.id < b.id ? -1 : 1)),
});

describe.each(all)('the source of a $kind', (definition) => {
  const chart = chartOf(definition);

  it('gives back the same machine, its composed guards included', () => {
    const machine = machineIn(createMachineSource(chart), xstate);
    expect(outline(chartOf({ ...definition, machine }))).toEqual(outline(chart));
    const { guards, actions } = machine.implementations;
    const renamed = chart.transitions.flatMap(({ guard, condition }) =>
      guard === null || condition === null || condition.is === 'named' ? [] : [[guard, condition] as const],
    );
    for (const [name, condition] of renamed) {
      const probe = xstate
        .createMachine({
          id: machine.id,
          initial: 'a',
          states: { a: { on: { go: { guard: guards[name] as never } } } },
        })
        .provide({});
      const [read] = chartOf({ ...definition, machine: probe as unknown as xstate.AnyStateMachine }).transitions;
      expect(read?.condition).toEqual(condition);
    }
    expect(Object.keys(actions).sort()).toEqual([...new Set(Object.keys(actions))].sort());
  });
});

describe.each(all)('the SCXML of a $kind', (definition) => {
  const chart = chartOf(definition);
  const elements = elementsOf(scxmlOf(chart));
  const named = (name: string): XmlElement[] => elements.filter((element) => element.name === name);

  it('has every state once, in its parent, as what it is', () => {
    const kinds = ['state', 'parallel', 'final', 'history'];
    const states = elements.filter(({ name }) => kinds.includes(name));
    expect(states.map(({ attributes }) => attributes.id)).toEqual(statesOf(chart.root).map(({ id }) => id));
    for (const { name, attributes, parent } of states) {
      const state = statesOf(chart.root).find(({ id }) => id === attributes.id);
      expect(name).toBe(state?.kind.replace(/^(atomic|compound)$/, 'state'));
      expect(attributes.initial ?? null).toBe(state?.initial ?? null);
      if (parent?.name !== 'scxml') expect(attributes.id).toMatch(new RegExp(`^${parent?.attributes.id}\\.[^.]+$`));
    }
    const ids = new Set(states.map(({ attributes }) => attributes.id));
    const targets = named('transition').flatMap(({ attributes }) => attributes.target?.split(' ') ?? []);
    expect(targets.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('has every transition once, with its guards as names', () => {
    const found = named('transition').filter(({ parent }) => parent?.name !== 'history');
    const told = found.map(({ parent, attributes, children }) => ({
      source: parent?.attributes.id,
      event: attributes.event ?? '',
      targets: attributes.target?.split(' ') ?? [],
      cond: attributes.cond ?? null,
      actions: children.map((action) => action.attributes.label),
    }));
    const expected = chart.transitions.map(({ source, event, targets, condition, actions }) => ({
      source,
      event: event.replace(/^xstate\.(done|error)\./, '$1.'),
      targets,
      cond: condition === null ? null : condOf(chart, condition),
      actions,
    }));
    const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).sort();
    expect(sorted(told)).toEqual(sorted(expected));
  });
});

describe.each(all)('the Mermaid diagram of a $kind', (definition) => {
  const chart = chartOf(definition);
  const text = mermaidOf(chart);
  const lines = text.split('\n').map((line) => line.trim());
  const names = mermaidNames(chart);

  it('declares every state once and closes what it opens', () => {
    const declared = lines
      .flatMap((line) => /^state ".*" as (\w+)/.exec(line)?.[1] ?? [])
      .filter((n) => !n.endsWith('__any'));
    expect(declared.sort()).toEqual([...names.values()].sort());
    expect(lines.filter((line) => line.endsWith('{')).length).toBe(lines.filter((line) => line === '}').length);
    expect(lines[0]).toBe('stateDiagram-v2');
  });

  it('has every line and every transition that stays', () => {
    const arrows = lines.filter((line) => / --> \w+ : /.test(line));
    const expected = moves(chart).flatMap(({ targets }) => targets);
    expect(arrows.map((line) => / --> (\w+) : /.exec(line)?.[1])).toEqual(expected.map((target) => names.get(target)));
    for (const staying of chart.transitions.filter(({ targets }) => targets.length === 0)) {
      expect(lines.some((line) => line.endsWith(` : ${textOf(staying)}`))).toBe(true);
    }
    for (const line of arrows) expect(line.split(' : ')[1]).not.toMatch(/[:;#"<>]/);
  });
});

describe.each(all)('the Graphviz text of a $kind', (definition) => {
  const chart = chartOf(definition);

  it('is well formed, with every line', () => {
    const text = dotOf(chart);
    const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, 'Q');
    expect(bare).not.toContain('"');
    expect(bare.match(/\{/g)?.length).toBe(bare.match(/\}/g)?.length);
    for (const line of bare.split('\n')) expect(line).toMatch(/^$|[{};]$/);
    const labelled = bare.match(/Q -> Q \[label=Q/g) ?? [];
    expect(labelled).toHaveLength(moves(chart).flatMap(({ targets }) => targets).length);
  });
});

describe.each(all)('the SVG of a $kind', (definition) => {
  const chart = chartOf(definition);

  it('has every state and transition once, says what it is, needs nothing else, and lights what is active', async () => {
    const active = new Set([statesOf(chart.root).at(-1)?.id ?? '']);
    const placed = await placeChart(chart);
    const svg = svgOf(placed, { active, theme: 'dark' });
    const elements = elementsOf(svg);
    const values = (name: string) => elements.flatMap(({ attributes }) => attributes[name] ?? []);
    expect(values('data-state')).toEqual(statesOf(chart.root).map(({ id }) => id));
    expect(values('data-transition')).toEqual(chart.transitions.map(({ id }) => id));
    expect(elements.filter(({ attributes }) => attributes.class === 'active')).toHaveLength(1);
    expect(elements[0]?.attributes).toMatchObject({ role: 'img', 'aria-labelledby': 'title desc' });
    expect(elements.filter(({ parent, name }) => parent === elements[0] && /^(title|desc)$/.test(name))).toHaveLength(
      2,
    );
    expect(svg).not.toMatch(/url\(|href|<script|https?:\/\/(?!www\.w3\.org)/);
    expect(svg).not.toContain('NaN');
    expect(svgOf(placed)).toContain('prefers-color-scheme:dark');
  });
});

describe.each(Object.values(definitions))('the JSON Schema of a $kind', (definition) => {
  it('compiles, and has every event that the chart takes and the one that creates it', () => {
    const schema = JSON.parse(jsonSchemaOf(definition)) as { $defs: Record<string, object> };
    const taken = chartOf(definition).transitions.map(({ event }) => event);
    expect(new Set(Object.keys(schema.$defs))).toEqual(new Set([...taken, eventsOf(definition)[0]]));
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect(validate({ type: eventsOf(definition)[0], payload: {} })).toBe(false);
    expect(validate({ type: 'nobody.knows', payload: {} })).toBe(false);
  });
});

it('takes an event that the machine takes, by the schema', () => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(jsonSchemaOf(definitions.run)) as object);
  expect(validate({ type: 'admission.uncertain', payload: { reason: 'handshake_lost' } })).toBe(true);
  expect(validate({ type: 'admission.uncertain', payload: { reason: 'Not a code' } })).toBe(false);
});

it('reads a chart from the machine itself, with everything that a chart can have', () => {
  const { root, transitions } = chartOf(everyConstruct);
  expect(transitions.find(({ id }) => id === 'everything.off#power#0')?.guard).toBe(
    'isReady and (not isBlocked or atLeast(least: 3))',
  );
  expect(transitions.filter(({ event }) => event === '').map(({ guard }) => guard)).toEqual([
    'in off',
    'not isReady',
    null,
  ]);
  expect(
    statesOf(root)
      .filter(({ kind }) => kind === 'history')
      .map(({ history, defaults }) => [history, ...defaults]),
  ).toEqual([['shallow', 'everything.on.lamp.dim'], ['deep']]);
  expect(transitions.find(({ event }) => event === 'both')?.targets).toEqual([
    'everything.on.lamp.dim',
    'everything.on.fan.fast',
  ]);
  expect(JSON.parse(JSON.stringify({ root, transitions }))).toEqual({ root, transitions });
  expect(readFileSync(new URL('../../../inspect/diagrams/chart.ts', import.meta.url), 'utf8')).not.toContain("'node:");
});
