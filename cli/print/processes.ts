/** Scopes: what is known about each, by what, and who is in it. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { ProcessView, ScopeView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import { age } from './quantity.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';
import { assessment, more } from './words.ts';

export function processLines({ scopes }: CallResults['processes'], style: Style): string[] {
  return scopeLines(scopes, style);
}

export function scopeLines(scopes: readonly ScopeView[], style: Style): string[] {
  const rows = scopes.map((scope) => [
    scope.scopeId,
    assessment(scope.assessment, style),
    scope.holdsSlot ? 'slot' : '',
    scope.runId ?? scope.purpose ?? scope.kind,
    scope.guardianPid,
    scope.workloadPid,
    more(scope.assessment, scope.summary),
  ]);
  const heading = ['scope', 'assessment', '', 'for', 'guardian', 'root', ''];
  const lines = table({ heading, rows, empty: 'nothing is running', style });
  // Members belong under their scope, so the table's lines are taken apart again: heading first, then one per scope.
  return scopes.length === 0
    ? lines
    : [lines[0] as string, ...scopes.flatMap((scope, at) => [lines[at + 1] as string, ...below(scope, style)])];
}

function below(scope: ScopeView, style: Style): string[] {
  const { unresponsiveSince, members, membersTotal, termination, delegators } = scope;
  const hidden = (membersTotal ?? 0) - (members?.length ?? 0);
  return [
    ...(unresponsiveSince === null ? [] : [style.yellow(`    guardian unresponsive since ${age(unresponsiveSince)}`)]),
    ...(delegators.length === 0
      ? []
      : [style.yellow(line`    may hand work to others, not proved: ${delegators.join(', ')}`)]),
    ...(termination === 'idle' || termination === 'settled' ? [] : [style.yellow(line`    drain: ${termination}`)]),
    ...(members ?? []).map((member) => `    ${processText(member)}`),
    ...(hidden > 0 ? [style.dim(`    and ${hidden} more`)] : []),
  ];
}

export const processText = ({ pid, state, name }: ProcessView): string => line`${pid} ${state} ${name ?? '?'}`;
