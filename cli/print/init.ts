/** What init found and made. */
import type { CheckView } from '../../actors/daemon/api/views.ts';
import { checkLines } from './checks.ts';
import type { Style } from './style.ts';
import { type Cell, fields } from './table.ts';

/** The view is plain facts plus `checks`; facts are shown in the order in which they were stated. */
export function initLines(view: object, style: Style): string[] {
  const { checks = [], ...facts } = view as { readonly checks?: readonly CheckView[] };
  return [...fields(factsOf(facts, ''), style), ...checkLines(checks, style)];
}

/** `paths: { stateDir }` becomes `paths stateDir`. */
function factsOf(value: object, prefix: string): (readonly [string, Cell])[] {
  return Object.entries(value).flatMap(([name, fact]) => {
    const label = prefix + name;
    if (fact === null || fact === undefined) return [];
    if (Array.isArray(fact)) return fact.length > 0 ? [[label, fact.map(text).join(', ')] as const] : [];
    return typeof fact === 'object' ? factsOf(fact, `${label} `) : [[label, String(fact)] as const];
  });
}

const text = (entry: unknown): string => (typeof entry === 'object' ? JSON.stringify(entry) : String(entry));
