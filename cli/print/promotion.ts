/** The stage of a repository and what stands for and against the next one. */
import type {
  BudgetView,
  ComparingView,
  PromotionChangeView,
  PromotionView,
} from '../../actors/daemon/api/promotionViews.ts';
import { line } from './escape.ts';
import { age, unitBehind } from './quantity.ts';
import type { Style } from './style.ts';
import { fields, prose, table } from './table.ts';
import { spaced } from './words.ts';
import { wrapped } from './wrap.ts';

type Check = PromotionView['gate']['dimensions'][number]['checks'][number];
type Verdict = PromotionView['gate']['verdict'];

const paintOf = (verdict: Verdict, style: Style) =>
  ({ green: style.green, red: style.red, missing: style.yellow })[verdict];

export function promotionLines(view: PromotionView, style: Style): string[] {
  const { stage, isSet, gate, comparison, worktrees } = view;
  return [
    ...fields(
      [
        ['repository', view.path],
        ['stage', { text: isSet ? stage : `${stage} (nobody has set one)`, paint: style.bold }],
        ['version', view.version],
        ['gate', { text: gate.verdict, paint: paintOf(gate.verdict, style) }],
        ['active use', readiness(view, style)],
        ['worktrees', `${worktrees.controlled.length} under control, ${worktrees.watched.length} only watched`],
        ['compared', comparison.compared === 0 ? null : compared(comparison)],
      ],
      style,
    ),
    ...table({
      heading: ['dimension', 'check', 'verdict', 'measured', 'bound', 'what was seen'],
      rows: gate.dimensions.flatMap(({ dimension, checks }) =>
        checks.map((check) => [
          dimension,
          spaced(check.check),
          { text: check.verdict, paint: paintOf(check.verdict, style) },
          figure(check.measured, check.unit),
          figure(check.bound, check.unit),
          prose(check.detail),
        ]),
      ),
      empty: '',
      style,
    }),
    ...helpLines(view, style),
    ...nextLines(view, style),
    ...historyLines(view, style),
  ];
}

/** What would help against each check that is not green; said once, also where the next stage asks for none of them. */
function helpLines({ gate }: PromotionView, style: Style): string[] {
  const wanting = gate.dimensions.flatMap(({ checks }) =>
    checks.filter(({ verdict, next }) => verdict !== 'green' && next.length > 0),
  );
  return wanting.flatMap(({ check, next }) => [
    line`${spaced(check)}`,
    ...next.flatMap((command) => wrapped(line`    try: ${command}`, { hang: 9 }).map(style.dim)),
  ]);
}

/** The word itself stands only where nothing lacks verification (PROMO-08). */
function readiness({ readiness: { state, lacks } }: PromotionView, style: Style) {
  return state === 'ready'
    ? { text: 'ready', paint: style.green }
    : prose(`not_ready: ${lacks.map(({ detail }) => detail).join('; ')}`, style.yellow);
}

const figure = (value: Check['measured'], unit: string | null): string =>
  value === null ? '-' : `${Math.round(value * 1_000) / 1_000}${unit === null ? '' : unitBehind(unit)}`;

function nextLines({ next, path }: PromotionView, style: Style): string[] {
  if (next === null) return [];
  const { stage, lacks } = next;
  if (lacks.length === 0) return [style.dim(line`next: custody promote --repo ${JSON.stringify(path)} --to ${stage}`)];
  return [
    line`${stage} needs:`,
    ...lacks.flatMap(({ code, detail, next: commands }) => [
      ...wrapped(line`  ${spaced(code)}: ${detail}`, { hang: 4 }),
      ...commands.flatMap((command) => wrapped(line`    try: ${command}`, { hang: 9 }).map(style.dim)),
    ]),
  ];
}

const historyLines = ({ history }: PromotionView, style: Style): string[] =>
  history.length === 0
    ? []
    : table({
        heading: ['version', 'from', 'to', 'by', 'when', 'gate report'],
        rows: history.map(({ version, from, to, by, wallMs, reportId }) => [
          version,
          from,
          to,
          by,
          age(wallMs),
          reportId,
        ]),
        empty: '',
        style,
      });

export function promotedLines(view: PromotionChangeView, style: Style): string[] {
  const { from, to, dryRun, reportId, path } = view;
  const stays = dryRun ? 'would stay' : 'stays';
  const goes = dryRun ? 'would go' : 'went';
  // Before a stage is set, a repository shows as tracking and is held to nothing.
  const what = from === to ? line`${stays} in ${to}, and is held to it` : line`${goes} from ${from} to ${to}`;
  const report = reportId === null ? '' : line`, gate report ${reportId}`;
  return [`${style.bold(line`${to}`)} ${line`${path}`} ${what}${report}`];
}

export const budgetLines = ({ budgets }: { readonly budgets: readonly BudgetView[] }, style: Style): string[] =>
  table({
    heading: ['budget', 'value', 'set', 'what it bounds'],
    rows: budgets.map(({ name, value, unit, origin, setWallMs, description }) => [
      name,
      value === null ? { text: 'none', paint: style.yellow } : figure(value, unit),
      origin === null ? '-' : `${spaced(origin)}${setWallMs === null ? '' : `, ${age(setWallMs)}`}`,
      prose(description),
    ]),
    empty: '',
    style,
  });

const compared = ({
  compared: count,
  agreed,
  oursWrong,
  theirsWrong,
  undecidedUnsafe,
  undecidedOther,
}: PromotionView['comparison']): string =>
  `${count}: ${agreed} agree, ours wrong ${oursWrong}, theirs wrong ${theirsWrong}, undecided ${undecidedUnsafe + undecidedOther}`;

export function comparingLines({ taken, unknown, comparison, disagreements }: ComparingView, style: Style): string[] {
  return [
    ...(taken + unknown.length === 0
      ? []
      : [line`${taken} taken in, ${unknown.length} about runs that are not known here`]),
    ...unknown.slice(0, 8).map((run) => line`  not known here: ${run}`),
    line`compared ${compared(comparison)}`,
    ...(disagreements.length === 0 ? [] : disagreementTable(disagreements, style)),
  ];
}

export const triageLines = (one: ComparingView['disagreements'][number], style: Style): string[] =>
  disagreementTable([one], style);

const disagreementTable = (rows: ComparingView['disagreements'], style: Style): string[] =>
  table({
    heading: ['disagreement', 'run', 'ours', 'theirs', 'truth', 'verdict', ''],
    rows: rows.map(({ comparisonId, runId, launcher, ours, theirs, truth, verdict, unsafe, triagedBy }) => [
      comparisonId,
      launcher ? `${launcher} (${runId})` : runId,
      spaced(ours),
      spaced(theirs),
      truth === null ? null : spaced(truth),
      { text: spaced(verdict), paint: verdict === 'ours_wrong' ? style.red : plainly },
      [unsafe ? 'unsafe' : '', triagedBy === null ? '' : `decided by ${triagedBy}`].filter(Boolean).join(', '),
    ]),
    empty: '',
    style,
  });

const plainly = (text: string): string => text;
