/** Charts as people read them in a terminal. */
import { type Chart, type ChartState, type ChartTransition, statesOf } from '../../inspect/diagrams/chart.ts';
import { nameOfEvent } from '../../inspect/diagrams/label.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

interface Machines {
  readonly machines: readonly (Chart & { readonly plane: string })[];
}

export const machineListLines = ({ machines }: Machines, style: Style): string[] =>
  table({
    heading: ['machine', 'version', 'plane', 'states', 'transitions', 'structure'],
    rows: machines.map(({ kind, version, plane, root, transitions, hash }) => [
      kind,
      version,
      plane,
      statesOf(root).length - 1,
      transitions.length,
      hash.slice(0, 12),
    ]),
    empty: 'no machines',
    style,
  });

export function machineLines({ chart }: { readonly chart: Chart }, style: Style): string[] {
  const { kind, version, root, transitions } = chart;
  return [
    style.bold(line`${kind}, version ${version}`),
    ...statesOf(root).flatMap((state) => [
      '',
      `${style.bold(line`${state.id}`)}${noteOn(state)}`,
      ...(state.description === null ? [] : [line`  ${state.description}`]),
      ...transitions.filter(({ source }) => source === state.id).map((transition) => line`  ${toldOf(transition)}`),
    ]),
  ];
}

function noteOn({ kind, tags, initial }: ChartState): string {
  const notes = [
    kind === 'atomic' ? '' : kind,
    ...tags,
    initial === null ? '' : `begins at ${initial.split('.').at(-1)}`,
  ];
  const shown = notes.filter(Boolean).join(', ');
  return shown === '' ? '' : line` (${shown})`;
}

function toldOf({ event, guard, targets, actions }: ChartTransition): string {
  const where =
    targets.length === 0 ? 'stays' : `→ ${targets.map((id) => id.split('.').slice(1).join('.')).join(', ')}`;
  return [
    nameOfEvent(event),
    ...(guard === null ? [] : [`[${guard}]`]),
    where,
    ...(actions.length === 0 ? [] : [`/ ${actions.join(', ')}`]),
  ].join(' ');
}
