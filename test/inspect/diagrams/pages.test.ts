import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exportFormats, machineKinds } from '../../../cli/commands/machines.ts';
import { chartOf, statesOf } from '../../../inspect/diagrams/chart.ts';
import { fieldsOf } from '../../../inspect/diagrams/eventFields.ts';
import { formatNames } from '../../../inspect/diagrams/formats.ts';
import { invariants, invariantsOf } from '../../../inspect/diagrams/invariants.ts';
import { eventsOf } from '../../../inspect/diagrams/jsonSchema.ts';
import { machinePage } from '../../../inspect/diagrams/machinePage.ts';
import { protocolPages, stalenessOf } from '../../../inspect/diagrams/pages.ts';
import { type EventType, payloadSchemas } from '../../../machines/events/catalogue.ts';
import { eventMeanings } from '../../../machines/events/meanings.ts';
import { guardSentence } from '../../../machines/guardSentences.ts';
import { actorKinds } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import { requirementCounts } from '../../architecture/requirementIds.ts';

const types = Object.keys(payloadSchemas) as EventType[];
const folder = fileURLToPath(new URL('../../../docs/protocol/', import.meta.url));

describe('the committed protocol pages', () => {
  it('are those of the machines', async () => {
    const present = new Map(readdirSync(folder).map((file) => [file, readFileSync(folder + file, 'utf8')]));
    expect(stalenessOf(await protocolPages(), present), 'write them with: npm run docs').toEqual([]);
  });

  it('are named one by one where they are not', () => {
    const pages = new Map([
      ['a.md', 'a'],
      ['b.md', 'b'],
      ['c.md', 'c'],
    ]);
    expect(
      stalenessOf(
        pages,
        new Map([
          ['a.md', 'a'],
          ['b.md', 'another'],
          ['d.md', 'd'],
        ]),
      ),
    ).toEqual([
      { file: 'b.md', how: 'stale' },
      { file: 'c.md', how: 'missing' },
      { file: 'd.md', how: 'superfluous' },
    ]);
  });
});

describe.each(Object.values(definitions))('the page of a $kind', (definition) => {
  const chart = chartOf(definition);
  const page = machinePage(definition, chart);
  const rowsOf = (title: string): string[] => {
    const section = page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
    return section
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(2);
  };

  it('has a row for every state, transition, guard and invariant, and a part for every event', () => {
    expect(rowsOf('States')).toHaveLength(statesOf(chart.root).length - 1);
    expect(rowsOf('Transitions')).toHaveLength(chart.transitions.length);
    expect(rowsOf('Guards')).toHaveLength(new Set(chart.transitions.flatMap(({ guards }) => guards)).size);
    expect(rowsOf('Invariants')).toHaveLength(invariantsOf(definition.kind).length);
    const told = [...page.matchAll(/^### `(.*)`$/gm)].map(([, type]) => type);
    expect(told).toEqual(eventsOf(definition));
    expect(new Set(told)).toEqual(new Set([...chart.transitions.map(({ event }) => event), told[0]]));
  });

  it('says what every state means in which something is waited for', () => {
    const waiting = statesOf(chart.root).filter(({ kind }) => kind === 'atomic');
    expect(waiting.filter(({ description }) => !description)).toEqual([]);
  });
});

describe('what the pages are made of', () => {
  it('has a sentence and a producer for every event', () => {
    expect(Object.keys(eventMeanings).sort()).toEqual([...types].sort());
    for (const { meaning, producer } of Object.values(eventMeanings)) {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(producer).toMatch(/^\w.*\w$/);
    }
  });

  it('has a unit for every number', () => {
    const without = types.flatMap((type) =>
      fieldsOf(type).flatMap(({ name, unit }) => (unit === '?' ? [`${type} ${name}`] : [])),
    );
    expect(without).toEqual([]);
    expect(fieldsOf('drain.requested')).toContainEqual({
      name: 'graceMs',
      type: 'integer',
      isRequired: false,
      unit: 'ms',
    });
    expect(fieldsOf('path.observed')[0]?.type).toBe('`same`, `missing`, `replaced`, `unknown`');
  });

  it('has every invariant, and each is about something', () => {
    expect(invariants.map(({ id }) => id)).toEqual(
      Array.from({ length: requirementCounts.I ?? 0 }, (_, index) => `I-${String(index + 1).padStart(2, '0')}`),
    );
    expect(invariants.filter(({ machines }) => machines.length === 0)).toEqual([]);
  });

  it('names requirements that exist', () => {
    const named = Object.values(definitions).flatMap((definition) =>
      chartOf(definition).transitions.flatMap(({ guards }) =>
        guards.flatMap((guard) => guardSentence(definition.kind, guard).requirement ?? []),
      ),
    );
    for (const id of named) {
      const [family = '', number] = id.split('-');
      expect(Number(number), id).toBeLessThanOrEqual(requirementCounts[family] ?? 0);
    }
  });

  it('is offered by the command line under the same names', () => {
    expect(exportFormats).toEqual(formatNames);
    expect(machineKinds).toEqual(actorKinds);
  });
});
