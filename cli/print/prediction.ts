/** Whether a worktree could be cleaned up: the verdict first, then every fact, then what was looked at and when. */
import type { HolderView, PredictedFactView, PredictionView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { spaced } from './words.ts';
import { wrapped } from './wrap.ts';

export function predictionLines(prediction: PredictionView, style: Style): string[] {
  const { generationId, path, blockers, steps, eligible } = prediction;
  const verdict = eligible
    ? style.green('reclaimable')
    : style.yellow(`protected by ${counted(blockers.length, 'fact')}`);
  return [
    `${verdict}  ${line`${generationId} ${path}`}`,
    ...blockers.flatMap((fact) => factLines(fact, style)),
    ...(steps.length === 0 ? [] : [style.dim('to be decided first')]),
    ...steps.flatMap((fact) => factLines(fact, style)),
    ...lookLines(prediction, style),
  ];
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Named in one answer for people; `--json` has more. */
const mostShown = 10;

function factLines({ code, detail, holders = [], named = [], count = 0 }: PredictedFactView, style: Style): string[] {
  const rest = Math.max(count, named.length, holders.length) - mostShown;
  return [
    ...factText(code, detail, style),
    ...holders.slice(0, mostShown).map((holder) => line`        ${holderText(holder)}`),
    ...(named.length > 1 ? named.slice(0, mostShown).map((one) => style.dim(line`        ${one}`)) : []),
    ...(rest > 0 ? [style.dim(`        and ${rest} more`)] : []),
  ];
}

/** The name of the fact is on the first line, whatever is left of its detail on further ones. */
function factText(code: string, detail: string, style: Style): string[] {
  const name = line`${spaced(code)}`;
  const [first = '', ...more] = wrapped(line`${detail}`, { from: name.length + 6, hang: 8 });
  return [`    ${style.bold(name)}: ${first}`, ...more];
}

const holderText = ({ pid, name, holds }: HolderView): string =>
  `pid ${pid}${name ? ` (${name})` : ''}${holds ? `: ${holds.join(', ')}` : ''}`;

function lookLines(
  { content, processes, looks, atWallMs, elapsedMs, recorded }: PredictionView,
  style: Style,
): string[] {
  const { head, branch, kept, ignored } = content;
  const where = branch === null ? 'detached' : `on ${branch}`;
  const keptText = kept === null ? '' : `; kept elsewhere (${kept.how}: ${kept.in})`;
  const journaled = { recorded: 'journaled', unchanged: 'the same as the last one', not_observed: 'not journaled' };
  return [
    style.dim(line`looked at ${new Date(atWallMs).toISOString()}, for ${elapsedMs} ms; ${journaled[recorded]}`),
    style.dim(
      head === null
        ? '    git: no head was found'
        : line`    git: ${head.slice(0, 12)} ${where}${keptText}; ${looks.length} questions, each in a scope of its own`,
    ),
    ...(ignored
      ? [style.dim(`    ${counted(ignored, 'ignored file or directory', 'ignored files and directories')}`)]
      : []),
    style.dim(
      processes === null
        ? '    processes: nobody looked'
        : line`    processes: ${processes.statement}${unseenText(processes)}`,
    ),
    style.dim('    it holds for that moment: who was not seen may come, and who hands work elsewhere is not seen here'),
  ];
}

const unseenText = ({ unseenOwn, unseenOthers }: NonNullable<PredictionView['processes']>): string =>
  unseenOwn + unseenOthers === 0 ? '' : `; not looked into: ${unseenOwn} of this user, ${unseenOthers} of others`;
