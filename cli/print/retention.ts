/** What was removed for good, or would be, and why the rest stays. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { ArtifactsView, CheckpointView } from '../../actors/daemon/api/retentionViews.ts';
import { line } from './escape.ts';
import { size } from './quantity.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';
import { spaced } from './words.ts';

const reasons = (kept: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(kept).sort(([, one], [, other]) => other - one);
  return parts.length === 0 ? 'nothing' : parts.map(([reason, count]) => `${count} ${spaced(reason)}`).join(', ');
};

export function checkpointLines(view: CheckpointView, style: Style): string[] {
  const { dryRun, rows, removed, kept, range, space, eventIdHorizon } = view;
  const { before, after } = space;
  return fields(
    [
      [dryRun ? 'would go' : 'gone', `${removed.events} events (${size(removed.bytes)}), ${removed.effects} effects`],
      ['positions', range === null ? undefined : `${range[0]} to ${range[1]}, not all of them`],
      ['events', `${rows.before}, then ${rows.after}`],
      ['kept', reasons(kept)],
      [
        'file',
        dryRun
          ? `${size(before.bytes)}, ${size(before.freeBytes)} of it free`
          : `${size(before.bytes)}, then ${size(after.bytes)}, ${size(after.freeBytes)} of it free`,
      ],
      [
        'event ids',
        eventIdHorizon === null
          ? undefined
          : `known from start ${eventIdHorizon.epoch}.${eventIdHorizon.startNumber} on`,
      ],
    ],
    style,
  );
}

export function forgottenLines({ dryRun, horizon, forgotten }: CallResults['journal.forgetIds']): string[] {
  const start = `${horizon.epoch}.${horizon.startNumber}`;
  return [line`${forgotten} event ids of starts before ${start} ${dryRun ? 'would be' : 'are'} forgotten`];
}

export function artifactLines({ dryRun, retired, kept }: ArtifactsView, style: Style): string[] {
  const bytes = dryRun ? '' : ` (${size(retired.bytes)})`;
  return fields(
    [
      [dryRun ? 'would go' : 'gone', `files of ${retired.scopes} scopes and ${retired.sessions} sessions${bytes}`],
      ['kept', reasons(kept)],
    ],
    style,
  );
}
