/**
 * A note that was refused says something all the same (INT-05): that a process is a run, or that a run works somewhere. What
 * is not in force would be missing where somebody asks who may write, so it is a gap, as if the note had been lost; where
 * the note tells which worktree it is about, of that one only. What it claims of an end or of a name hides nobody.
 */
import type { GenerationId } from '../../machines/ids.ts';
import type { CoverageGap } from '../../persistence/tables/coverageGaps.ts';
import { generationsIn } from '../runtime/generations.ts';
import type { BootClock } from './boots.ts';
import { type CoverageParts, observedGenerations, recordGap } from './coverage.ts';
import type { NoteOutcome } from './intake.ts';

export interface RejectedParts extends CoverageParts {
  readonly clock: BootClock;
}

export async function recordRejected(parts: RejectedParts, outcomes: readonly NoteOutcome[]): Promise<void> {
  for (const one of outcomes) if (isAboutWriters(one)) await recordGap(parts, gapOf(parts, one), toldOf(parts, one));
}

const isAboutWriters = ({ note, outcome, reason }: NoteOutcome): boolean =>
  outcome === 'rejected' && note.type !== 'run.exit' && reason !== 'reservation_conflict';

const gapOf = ({ clock }: RejectedParts, { note: { producer, stream, seq, at } }: NoteOutcome): CoverageGap => ({
  gapId: `${producer}:${stream.slice(0, 16)}:rejected-${seq}`,
  producer,
  kind: 'note_rejected',
  fromWallMs: at.wallMs,
  toWallMs: at.wallMs,
  count: 1,
  bootId: clock.bootId(),
});

/** Where the place is known it is meant, whoever is in control; otherwise it may be any that others control. */
function toldOf({ host }: RejectedParts, { note }: NoteOutcome): readonly GenerationId[] {
  const place = 'place' in note ? note.place : null;
  const meant = place === null ? [] : generationsIn(host, place).map(({ context }) => context.generationId);
  return meant.length > 0 ? (meant as GenerationId[]) : observedGenerations(host);
}
