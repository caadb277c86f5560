/** What observing shows to people. */
import type { LinesReport } from '../../actors/ingest/takeLines.ts';
import type { SpoolReport } from '../../actors/ingest/takeSpool.ts';
import type { CoverageReport } from '../../actors/reconcile/coverage.ts';
import type { ReconcileReport } from '../../actors/reconcile/observer.ts';
import type { ObserveStatus } from '../../actors/reconcile/status.ts';
import { line } from './escape.ts';
import { spaced } from './words.ts';

export const counted = (counts: Readonly<Record<string, number>>): string => {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? 'none' : some.map(([name, count]) => `${count} ${spaced(name)}`).join(', ');
};

const lostLines = (lost: number): string[] =>
  lost === 0 ? [] : [`lost       ${lost} ${lost === 1 ? 'note' : 'notes'}; custody coverage`];

export function ingestLines({ counts, refusals, lost }: LinesReport): string[] {
  return [
    `notes      ${counted(counts)}`,
    ...refusals.map(({ line: at, reason }) => line`refused    line ${at}: ${reason}`),
    ...lostLines(lost),
  ];
}

export function spoolLines({ counts, refusals, unread, damagedCounters = [], lost, more }: SpoolReport): string[] {
  return [
    `notes      ${counted(counts)}`,
    ...refusals.map(({ producer, seq, reason }) => line`refused    note ${seq} of ${producer}: ${reason}`),
    ...unread.map(({ producer, reason }) => line`not read   what ${producer} noted: ${reason}`),
    ...damagedCounters.map(
      (producer) => line`damaged    the counter of ${producer}: what it had lost last is not known`,
    ),
    ...lostLines(lost),
    ...(more ? ['more       is waiting; repeat the command'] : []),
  ];
}

const claimLines = ({ bound, refuted, open }: ReconcileReport['claims']): string[] =>
  bound + refuted + open === 0
    ? []
    : [`claims     of imported records: ${counted({ bound, 'not there': refuted, 'still open': open })}`];

export function reconcileLines({ spool, claims, pass, gapsClosed }: ReconcileReport): string[] {
  const { lookedAt, outcomes, paused, complete, elapsedMs, reads, unavailable } = pass;
  const rest = complete ? 'everything due was looked at' : 'the next pass goes on from here';
  return [
    ...spoolLines(spool),
    unavailable === null
      ? `looked     at ${lookedAt} in ${elapsedMs.toFixed(1)} ms, ${reads} reads; ${rest}`
      : line`looked     at nothing: processes cannot be observed here (${unavailable})`,
    `seen       ${counted(outcomes)}`,
    ...claimLines(claims),
    ...(paused > 0 ? [`paused     ${paused} that could not be told lately`] : []),
    ...(gapsClosed > 0 ? [`gaps       ${gapsClosed} closed by a later boot`] : []),
  ];
}

export function coverageLines({ gaps, more, worktrees }: CoverageReport): string[] {
  return [
    gaps.length === 0 ? 'gaps       none' : `gaps       ${gaps.length}${more > 0 ? `, and ${more} more` : ''}`,
    ...gaps.map(({ gapId, producer, kind, count, fromWallMs, toWallMs, closedBy }) => {
      const state = closedBy === null ? 'open' : `closed by ${spaced(closedBy)}`;
      return line`  ${gapId}  ${producer}: ${count} ${spaced(kind)}, ${when(fromWallMs)} to ${when(toWallMs)}; ${state}`;
    }),
    ...worktrees.map(({ generationId, path, class: kind, gaps: open }) => {
      const doubt = open.length === 0 ? '' : ` (${open.length} open ${open.length === 1 ? 'gap' : 'gaps'})`;
      return line`worktree   ${generationId} ${spaced(kind)}${doubt}  ${path ?? ''}`;
    }),
  ];
}

const when = (wallMs: number): string => new Date(wallMs).toISOString();

export function statusLines({ runs, gaps, producers, lastPass }: ObserveStatus): string[] {
  return [
    'coverage   best effort: what nobody noted is not known',
    `runs       ${runs.bound} bound, ${runs.unbound} without a process, ${runs.withGaps} of which something was not told`,
    ...(runs.unreadable > 0 ? [`damaged    ${runs.unreadable} records; custody doctor`] : []),
    `gaps       ${gaps.open} open, ${gaps.recorded} ever`,
    ...gaps.shown.map(({ gapId, count, toWallMs }) => line`  ${gapId}: ${count} lost, before ${when(toWallMs)}`),
    ...producers.map(
      ({ producer, taken, lost, lastNoteWallMs }) =>
        line`producer   ${producer}: ${taken} notes, ${lost} lost, last at ${when(lastNoteWallMs)}`,
    ),
    lastPass === null
      ? 'pass       none yet; custody observe reconcile --once'
      : `pass       ${when(lastPass.wallMs)}: ${lastPass.lookedAt} looked at, ${counted(lastPass.outcomes)}`,
  ];
}
