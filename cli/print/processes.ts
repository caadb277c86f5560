/** Scopes: what is known about each, by what, and who is in it. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { CensusView, EscapeeView, ProcessView, ScopeView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import { age } from './quantity.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';
import { assessment, more } from './words.ts';

/** A daemon of an earlier version leaves out what it does not know of. */
export function processLines({ scopes, census }: CallResults['processes'], style: Style): string[] {
  return [...scopeLines(scopes, style), ...(census ? censusLines(census, style) : [])];
}

function censusLines(
  { infrastructure, escapees, escapeesTotal, looked, complete }: CensusView,
  style: Style,
): string[] {
  const hidden = escapeesTotal - escapees.length;
  return [
    style.bold('infrastructure'),
    ...infrastructure.map(({ what, pid }) => line`    ${pid} ${what}`),
    style.bold("in no scope's tree, not proof of anything"),
    ...escapees.map((one) => style.yellow(`    ${escapeeText(one)}`)),
    ...(hidden > 0 ? [style.dim(`    and ${hidden} more`)] : []),
    ...(escapees.length === 0 ? [style.dim(`    nobody, of ${looked} processes of this user`)] : []),
    ...(complete ? [] : [style.dim('    not every process of this user could be looked into')]),
  ];
}

function escapeeText({ pid, name, scopeId, generationId }: EscapeeView): string {
  const why = [
    ...(scopeId === null ? [] : [`started in ${scopeId}`]),
    ...(generationId === null ? [] : [`stands in ${generationId}`]),
  ];
  return line`${pid} ${name ?? '?'}  ${why.join(', ')}`;
}

interface Placed {
  readonly scope: ScopeView;
  readonly depth: number;
}

/** Nested scopes under the one that they are nested in, as far as that is listed. */
function byLineage(scopes: readonly ScopeView[]): readonly Placed[] {
  const listed = new Set(scopes.map(({ scopeId }) => scopeId));
  const below = (parent: string | null, depth: number): readonly Placed[] =>
    scopes
      .filter(({ parentScopeId: of }) => (of && listed.has(of) ? of : null) === parent)
      .flatMap((scope) => [{ scope, depth }, ...below(scope.scopeId, depth + 1)]);
  return below(null, 0);
}

export function scopeLines(scopes: readonly ScopeView[], style: Style): string[] {
  const placed = byLineage(scopes);
  const rows = placed.map(({ scope, depth }) => [
    `${'  '.repeat(depth)}${scope.scopeId}`,
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
    : [lines[0] as string, ...placed.flatMap(({ scope }, at) => [lines[at + 1] as string, ...below(scope, style)])];
}

function below(scope: ScopeView, style: Style): string[] {
  const { unresponsiveSince, members, membersTotal, termination, delegators = [] } = scope;
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
