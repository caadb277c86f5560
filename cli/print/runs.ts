/** Runs, what ended them, and what is left of them. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { ReceiptView, RunDetailView, RunView, StopView } from '../../actors/daemon/api/views.ts';
import { line, terminalSafeJson } from './escape.ts';
import { duration, size } from './quantity.ts';
import type { Style } from './style.ts';
import { type Cell, fields, table } from './table.ts';
import { assessment, more, result, runState, spaced } from './words.ts';

export const runTable = (runs: readonly RunView[], style: Style): string[] =>
  table({
    heading: ['run', 'state', 'result', 'scope', 'goal', 'name', ''],
    rows: runs.map((run) => [
      run.runId,
      runState(run.state),
      result(run.result),
      assessment(run.scope, style),
      run.goalId,
      nameOf(run),
      news(run),
    ]),
    empty: 'no runs; try: custody runs exec GOAL -- CMD...',
    style,
  });

/** A run that was only launched: its output is what a person wants to see next. */
export const launchedLines = (run: RunView, style: Style): string[] => [
  ...runLines(run, style),
  style.dim(line`next: custody runs logs ${run.runId} --follow`),
];

/** A run that was waited for: what is missing of its output is said where the end is said. */
export const endedLines = (run: CallResults['runs.wait'], style: Style): string[] => [
  ...runLines(run, style),
  ...run.capture
    .filter(({ complete }) => !complete)
    .map(({ stream, reason }) => style.yellow(line`${stream} is not complete: ${spaced(reason ?? 'the run goes on')}`)),
];

/** JSON for whatever reads the next line; the reader may be a terminal. */
export const resultLines = ({ value }: CallResults['runs.result']): string[] => [terminalSafeJson(value)];

/** What its launcher calls it comes first: that is what somebody else's lists have. */
function nameOf({ launcher, label }: Pick<RunView, 'launcher' | 'label'>): string | null {
  // A daemon of the version before says nothing of launchers.
  const name = launcher ?? null;
  return name === null || label === null || name === label ? (name ?? label) : `${name} (${label})`;
}

/** The summary, unless it is the state once more. */
const news = ({ state, scope, summary }: RunView): string => (summary === runState(state) ? '' : more(scope, summary));

/** One run after exec or wait. */
export function runLines(run: RunView, style: Style): string[] {
  return fields(
    [
      ['run', { text: run.runId, paint: style.bold }],
      ['state', runState(run.state)],
      ['result', run.result === null ? null : result(run.result)],
      ['scope', run.scopeId],
      ['assessment', assessment(run.scope, style)],
      ['summary', news(run) || null],
    ],
    style,
  );
}

/** OBS-10: four sections that are never merged, each under its own heading even when it is empty. */
export function runDetailLines(run: RunDetailView, style: Style): string[] {
  return [
    ...fields(
      [
        ['run', { text: run.runId, paint: style.bold }],
        ['launcher', run.launcher ?? null],
        ['name', run.label === run.launcher ? null : run.label],
        ['state', runState(run.state)],
        ['result', run.result === null ? null : result(run.result)],
        ['ended by', run.end === null ? null : `${spaced(run.end.evidence)}: ${spaced(run.end.reason)}`],
        ['goal', run.goalId],
        ['worktree', run.generationId],
        ['scope', run.scopeId],
        ['assessment', assessment(run.scope, style)],
        ['summary', more(run.scope, run.summary) || null],
      ],
      style,
    ),
    ...section('launcher facts', run.launcherFacts, style),
    ...section('observations', run.observations, style),
    ...section('derived', run.derived, style),
    ...section('hypothetical', run.hypothetical, style),
    style.dim('receipts'),
    ...indented(
      fields(
        run.receipts.map((receipt) => [receipt.kind, receiptCell(receipt, style)]),
        style,
      ),
    ),
    style.dim('output'),
    ...indented(
      fields(
        run.capture.map(({ stream, bytes, complete, reason }) => [
          stream,
          `${size(bytes)}, ${complete ? 'complete' : `not complete: ${spaced(reason ?? 'the run goes on')}`}`,
        ]),
        style,
      ),
    ),
  ];
}

/** Outcomes that the assessment does not say by itself. */
const isMoreThanAssessed: ReadonlySet<string> = new Set(['already_ended', 'draining', 'stalled']);

export const stopLines = (view: StopView, style: Style): string[] => endingLines(view.runId, view, style);

/** How the end of `id` went: a run, or the session in which it ran. */
export function endingLines(
  id: string,
  { outcome, assessment: assessed, elapsedMs }: StopView,
  style: Style,
): string[] {
  const { text, paint } = assessment(assessed, style) as { text: string; paint: (text: string) => string };
  const said = isMoreThanAssessed.has(outcome) ? `${spaced(outcome)}: ` : '';
  return [`${style.bold(line`${id}`)} ${said}${paint(line`${text}`)} ${style.dim(`after ${duration(elapsedMs)}`)}`];
}

function section(name: string, facts: Readonly<Record<string, unknown>>, style: Style): string[] {
  const pairs = Object.entries(facts).map(([key, value]) => [inWords(key), factText(value)] as const);
  return [style.dim(name), ...(pairs.length > 0 ? indented(fields(pairs, style)) : ['  none'])];
}

/** `lastConfirmed` as people write it. */
const inWords = (name: string): string => spaced(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));

/** Nested facts in words, `goal id G4k, round 1`: what is not known is left out, and --json has every field. */
function factText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(factText).join('; ');
  const known = Object.entries(value).filter(([, fact]) => fact !== null && fact !== undefined && fact !== '');
  return known.map(([name, fact]) => `${inWords(name)} ${factText(fact)}`).join(', ');
}

function receiptCell({ status, reason, digest }: ReceiptView, style: Style): Cell {
  if (status === 'authentic') return { text: `authentic, sha256 ${digest ?? '?'}`, paint: style.green };
  if (status === 'absent') return { text: 'none', paint: style.dim };
  return { text: `NOT AUTHENTIC: ${spaced(reason ?? 'unknown')}`, paint: style.red };
}

const indented = (lines: readonly string[]): string[] => lines.map((text) => `  ${text}`);
