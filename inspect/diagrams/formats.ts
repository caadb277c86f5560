/** Every form in which a chart can be handed on. */
import type { ActorDefinition } from '../../machines/definition.ts';
import { type Chart, chartOf } from './chart.ts';
import { createMachine4Source, createMachineSource } from './createMachineSource.ts';
import { dotOf } from './graphviz.ts';
import { jsonSchemaOf } from './jsonSchema.ts';
import { placeChart } from './layout.ts';
import { mermaidOf } from './mermaid.ts';
import { scxmlOf } from './scxml.ts';
import { svgOf } from './svg.ts';

export interface Format {
  /** What a file of it ends in, without the first dot. */
  readonly extension: string;
  readonly meaning: string;
  readonly write: (definition: ActorDefinition) => string | Promise<string>;
}

const ofChart = (write: (chart: Chart) => string | Promise<string>) => (definition: ActorDefinition) =>
  write(chartOf(definition));

export const formats = {
  createMachine: {
    extension: 'ts',
    meaning: 'XState 5 source, for Stately Studio',
    write: ofChart(createMachineSource),
  },
  'createMachine-v4': {
    extension: 'v4.ts',
    meaning: 'XState 4 source, for the classic visualizer',
    write: ofChart(createMachine4Source),
  },
  scxml: { extension: 'scxml', meaning: 'SCXML, W3C', write: ofChart(scxmlOf) },
  mermaid: { extension: 'mmd', meaning: 'Mermaid state diagram', write: ofChart(mermaidOf) },
  dot: { extension: 'dot', meaning: 'Graphviz', write: ofChart(dotOf) },
  svg: {
    extension: 'svg',
    meaning: 'drawing, light or dark as the reader has it',
    write: ofChart(async (chart) => svgOf(await placeChart(chart))),
  },
  'json-schema': { extension: 'schema.json', meaning: 'JSON Schema of every event', write: jsonSchemaOf },
  json: { extension: 'chart.json', meaning: 'the chart as data', write: ofChart((chart) => jsonOf(chart)) },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as readonly FormatName[];

/** The chart as the file that is compared with later ones. */
export const jsonOf = (chart: Chart): string => `${JSON.stringify(chart, null, 2)}\n`;
