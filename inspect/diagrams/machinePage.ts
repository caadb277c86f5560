/** The page of one machine, in Markdown. */
import type { ActorDefinition } from '../../machines/definition.ts';
import { createdBy, type EventType, type Payload, typesWithBasis } from '../../machines/events/catalogue.ts';
import { idempotencyKey } from '../../machines/events/keys.ts';
import { eventMeanings } from '../../machines/events/meanings.ts';
import { guardSentence } from '../../machines/guardSentences.ts';
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { fieldsOf } from './eventFields.ts';
import { invariantsOf } from './invariants.ts';
import { eventsOf } from './jsonSchema.ts';
import { nameOfEvent } from './label.ts';
import { mermaidOf } from './mermaid.ts';
import { purposes } from './purposes.ts';

export function machinePage(definition: ActorDefinition, chart: Chart): string {
  const { kind, version, plane, structuralHash } = definition;
  return `${[
    `# ${kind}`,
    '',
    purposes[kind],
    '',
    `Version ${version}, ${plane} plane, structural hash \`${structuralHash}\`. Written by \`npm run docs\`; [all machines](README.md).`,
    '',
    `![Statechart of ${kind}](${kind}.svg)`,
    '',
    '<details><summary>As a Mermaid diagram</summary>',
    '',
    '```mermaid',
    mermaidOf(chart).trimEnd(),
    '```',
    '',
    '</details>',
    ...section('States', ['State', 'What it means', 'Kind', 'On the way in and out'], stateRows(chart)),
    ...section('Transitions', ['From', 'Event', 'If', 'To', 'Does', 'Required by'], transitionRows(definition, chart)),
    ...section('Guards', ['Guard', 'Holds where', 'Fails where', 'Required by'], guardRows(definition, chart)),
    '',
    '## Events',
    ...eventsOf(definition).flatMap((type) => eventSection(definition, type)),
    ...section(
      'Invariants',
      ['Invariant', 'What it says'],
      invariantsOf(kind).map(({ id, sentence }) => [id, sentence]),
    ),
  ].join('\n')}\n`;
}

type Row = readonly string[];

function section(title: string, heading: Row, rows: readonly Row[]): readonly string[] {
  return ['', `## ${title}`, '', ...tableOf(heading, rows)];
}

const tableOf = (heading: Row, rows: readonly Row[]): readonly string[] =>
  [heading, heading.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const code = (text: string): string => `\`${text}\``;

const codes = (names: readonly string[]): string => names.map(code).join(', ');

/** Without the name of the machine, which is that of the page. */
const short = (id: string): string => code(id.includes('.') ? id.slice(id.indexOf('.') + 1) : id);

const stateRows = (chart: Chart): readonly Row[] =>
  statesOf(chart.root)
    .slice(1)
    .map((state) => [short(state.id), state.description ?? '', kindOf(state), doneIn(state)]);

const kindOf = ({ kind, initial, tags }: ChartState): string =>
  [kind === 'atomic' ? '' : kind, initial === null ? '' : `begins at ${short(initial)}`, ...tags]
    .filter(Boolean)
    .join(', ');

const doneIn = ({ entry, exit }: ChartState): string =>
  [entry.length === 0 ? '' : `in: ${codes(entry)}`, exit.length === 0 ? '' : `out: ${codes(exit)}`]
    .filter(Boolean)
    .join('; ');

const transitionRows = (definition: ActorDefinition, { root, transitions }: Chart): readonly Row[] =>
  transitions.map((transition) => [
    transition.source === root.id ? '(any)' : short(transition.source),
    code(nameOfEvent(transition.event)),
    transition.guard === null ? '' : code(transition.guard),
    transition.targets.length === 0 ? '(stays)' : transition.targets.map(short).join(', '),
    codes(transition.actions),
    requirementsOf(definition, transition).join(', '),
  ]);

const requirementsOf = ({ kind }: ActorDefinition, { guards }: ChartTransition): readonly string[] => [
  ...new Set(guards.flatMap((guard) => guardSentence(kind, guard).requirement ?? [])),
];

const guardRows = ({ kind }: ActorDefinition, { transitions }: Chart): readonly Row[] =>
  [...new Set(transitions.flatMap(({ guards }) => guards))].map((guard) => {
    const { holds, fails, requirement } = guardSentence(kind, guard);
    return [code(guard), holds, fails, requirement ?? ''];
  });

function eventSection({ kind }: ActorDefinition, type: EventType): readonly string[] {
  const { producer, meaning } = eventMeanings[type];
  const fields = fieldsOf(type);
  const rows = fields.map(({ name, type: shape, isRequired, unit }) => [
    code(name),
    shape,
    isRequired ? 'yes' : '',
    unit ?? '',
  ]);
  return [
    '',
    `### ${code(type)}`,
    '',
    [
      meaning,
      ...(createdBy(type) === kind ? ['It creates the actor.'] : []),
      ...(typesWithBasis.has(type) ? ['It carries the basis of the worker.'] : []),
    ].join(' '),
    '',
    `Producer: ${producer}. Idempotency key: ${keyOf(type)}.`,
    ...(rows.length === 0 ? [] : ['', ...tableOf(['Field', 'Type', 'Required', 'Unit'], rows)]),
  ];
}

/** The key with the names of the fields in place of their values; it is asked of what makes the keys. */
function keyOf(type: EventType): string {
  const named = new Proxy({}, { get: (_, field) => `<${String(field)}>` });
  const key = idempotencyKey(type, named as Payload<EventType>, '<actor>');
  if (key !== undefined) return code(key);
  const isAsked = fieldsOf(type).some(({ name }) => name === 'requestId');
  return isAsked ? 'the request id' : 'brought by the producer';
}
