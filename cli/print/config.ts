/** Parameters with their origin. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { Style } from './style.ts';
import { fields, table } from './table.ts';

export function configLines({ values, file }: CallResults['config'], style: Style): string[] {
  const rows = values.map(({ name, value, unit, origin, description }) => [
    name,
    shown(value),
    unit ?? '',
    origin === 'default' ? { text: origin, paint: style.dim } : { text: origin, paint: style.yellow },
    { text: description, paint: style.dim },
  ]);
  return [
    ...table({ heading: ['parameter', 'value', 'unit', 'origin', 'meaning'], rows, empty: 'no parameters', style }),
    ...fields([['file', file]], style),
  ];
}

function shown(value: CallResults['config']['values'][number]['value']): string {
  if (value === null) return '-';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? 'none' : JSON.stringify(value);
}
