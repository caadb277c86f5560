/** The answer to "how is it going?" on one screen. */
import type { StatusView } from '../../actors/daemon/api/views.ts';
import { duration } from './quantity.ts';
import { workerCell } from './recover.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';
import { findings, health, spaced, stateInWords } from './words.ts';

export function statusLines(view: StatusView, style: Style): string[] {
  const { capacity, counts, daemon } = view;
  const full = capacity.used >= capacity.limit;
  const [first = '', ...others] = fields(
    [
      ['health', health(view.health, style)],
      ['capacity', { text: `${capacity.used}/${capacity.limit}`, paint: full ? style.yellow : plainly }],
      ['admission', { text: view.admission, paint: view.admission === 'open' ? plainly : style.yellow }],
      // An earlier daemon says neither this nor how its worker does.
      ...((view.lifecycle ?? 'serving') === 'serving'
        ? []
        : [['lifecycle', { text: stateInWords(view.lifecycle), paint: style.yellow }] as const]),
      ['goals', tally(counts.goals)],
      ['runs', `${counts.runs.active} active, ${counts.runs.unresolved} unresolved`],
      ['worktrees', tally(counts.worktrees)],
      ['scopes', scopes(counts.scopes, style)],
      ['worker', view.worker === undefined ? undefined : workerCell(view.worker, style)],
      ['coverage', spaced(view.coverageClass)],
      [
        'daemon',
        `pid ${daemon.pid}, up ${duration(daemon.uptimeMs)}, start ${daemon.startNumber}, version ${daemon.version}`,
      ],
    ],
    style,
  );
  return [first, ...findings(view.health, style), ...others];
}

function scopes({ live, unverified }: StatusView['counts']['scopes'], style: Style) {
  const text = `${live} live, ${unverified} unverified`;
  return { text, paint: unverified > 0 ? style.red : plainly };
}

function tally(counts: Readonly<Record<string, number>>): string {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return present.length === 0 ? 'none' : present.map(([name, count]) => `${count} ${spaced(name)}`).join(', ');
}

const plainly = (text: string): string => text;
