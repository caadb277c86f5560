/** Terminal sessions: how their work, their output and their scope each ended, which are three facts (PTY-01). */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { RunView, ScreenTextView, SessionView } from '../../actors/daemon/api/views.ts';
import { line, printable } from './escape.ts';
import { duration, size } from './quantity.ts';
import { runLines } from './runs.ts';
import type { Style } from './style.ts';
import { type Cell, fields, table } from './table.ts';
import { result, spaced, stateInWords } from './words.ts';

/** One line of a terminal each, for ordinary ids; `sessions show` has the rest. */
export const sessionTable = ({ sessions }: CallResults['sessions.list'], style: Style): string[] =>
  table({
    heading: ['session', 'work', 'output', 'scope', 'quiet', 'goal', 'name'],
    rows: sessions.map((session) => [
      session.sessionId,
      end(session) ?? work(session),
      output(session, style),
      scope(session, style),
      session.quietMs === null ? null : duration(session.quietMs),
      session.goalId,
      session.label,
    ]),
    empty: 'no session is open; try: custody sessions list --all, or custody runs exec GOAL --pty -- CMD...',
    style,
  });

export function sessionLines(session: SessionView, style: Style): string[] {
  const { firstFailure, structured, interrupted, hostSocket, sessionId, faults } = session;
  return [
    ...fields(
      [
        ['session', { text: sessionId, paint: style.bold }],
        ['name', session.label],
        ['work', work(session)],
        ['result', session.result === null ? null : result(session.result)],
        ['reported', structured === null ? null : `JSON, sha256 ${structured}`],
        [endedBy(firstFailure), firstFailure && { text: reasonOf(firstFailure), paint: style.red }],
        ['interrupted', interrupted ? { text: 'yes', paint: style.yellow } : null],
        ['output', capture(session, style)],
        ['scope', scope(session, style)],
        ['size', `${session.cols}x${session.rows}`],
        ['quiet for', session.quietMs === null ? null : duration(session.quietMs)],
        ['viewers', hostSocket === null ? null : session.viewers],
        ['run', session.runId],
        ['goal', session.goalId],
        ['transcript', session.transcriptDir],
      ],
      style,
    ),
    ...faults.map((fault) => style.yellow(line`later: ${reasonOf(fault)}`)),
  ];
}

/** Work that has just been put into a terminal: how to get there is what comes next. */
export const openedLines = (run: RunView, style: Style): string[] => [
  ...fields([['session', run.sessionId && { text: run.sessionId, paint: style.bold }]], style),
  ...runLines(run, style),
  style.dim(line`next: custody sessions attach ${run.sessionId} (ctrl-] d leaves it)`),
];

export interface AttachView {
  readonly sessionId: string;
  readonly how: 'detached' | 'ended';
  /** Where its end is known. */
  readonly session?: SessionView | null;
}

export function attachedLines({ sessionId, how, session }: AttachView, style: Style): string[] {
  if (how === 'detached') return [line`detached from ${sessionId}; back with: custody sessions attach ${sessionId}`];
  if (!session) return [line`session ${sessionId} has ended`];
  const { firstFailure } = session;
  const failure = firstFailure === null ? '' : style.red(line`, ${endedBy(firstFailure)} ${reasonOf(firstFailure)}`);
  return [`${line`session ${sessionId} has ended: ${outcome(session)}`}${failure}`];
}

function outcome({ result: view, workload, structured, firstFailure }: SessionView): string {
  if (view === null) return `how is not known (${spaced(workload)})`;
  return structured !== null && firstFailure === null ? 'its agent has reported a result' : result(view);
}

export interface ExportView {
  readonly sessionId: string;
  readonly format: string;
  readonly file: string;
  readonly bytes: number;
  readonly complete: boolean;
  /** Codes of what is missing, empty for a complete one. */
  readonly reasons: readonly string[];
  readonly lostBytes: number;
}

export const exportedLines = ({ sessionId, format, file, bytes }: ExportView): string[] => [
  line`${sessionId} as ${format} in ${file} (${size(bytes)})`,
];

/** Rows as they stand, without what the terminal left blank below. */
export function screenLines(
  { lines, cursor }: ScreenTextView,
  { style, isWithCursor }: { readonly style: Style; readonly isWithCursor: boolean },
): string[] {
  const last = lines.findLastIndex((text) => text !== '');
  const shown = lines.slice(0, last + 1).map(printable);
  if (!isWithCursor) return shown;
  const where = `cursor: row ${cursor.y + 1}, column ${cursor.x + 1}${cursor.visible ? '' : ' (hidden)'}`;
  return [...shown, style.dim(where)];
}

export const sentLines = ({ sessionId, bytes, bracketed }: CallResults['sessions.send']): string[] => [
  line`${sessionId} took ${bytes} ${bytes === 1 ? 'byte' : 'bytes'}${bracketed ? ', as a paste' : ''}`,
];

export const resizedLines = ({ sessionId, cols, rows }: CallResults['sessions.resize']): string[] => [
  line`${sessionId} is ${cols}x${rows}`,
];

/** `running.needsInput` is the place in a chart; people read `needs input`, and of what is final that it has ended. */
function work({ workload }: SessionView): string {
  const state = workload.split('.').at(-1) as string;
  return state === 'final' ? 'ended' : stateInWords(state);
}

/** An agent that has reported is ended by its guardian: the signal is how, and the report is what. */
function end({ result: view, structured, firstFailure }: SessionView): string | null {
  if (view === null) return null;
  if (firstFailure?.cause === 'result') return 'bad result';
  if (structured !== null && firstFailure === null) return 'reported';
  return result(view).replace('killed by ', '');
}

/** How much, and in red where something of it is missing. */
function output({ capture: state, bytes, missing }: SessionView, style: Style): Cell {
  const isCut = state === 'incomplete' || missing !== null;
  return isCut ? { text: `${size(bytes)}, cut`, paint: style.red } : size(bytes);
}

/** `complete` says that all was read; where not all of it is stored, nobody should take the one for the other. */
function capture({ capture: state, bytes, missing }: SessionView, style: Style): Cell {
  const word = state === 'complete' && missing !== null ? 'read to the end' : spaced(state);
  const stored = `${word}, ${size(bytes)}`;
  return missing === null ? stored : { text: `${stored}, missing: ${spaced(missing)}`, paint: style.red };
}

const scope = ({ scope: state }: SessionView, style: Style): Cell =>
  state === 'unverified' ? { text: state, paint: style.red } : state === 'unsettled' ? 'not proved' : spaced(state);

/** Whoever stops a session wants its end, and nothing has failed. */
const endedBy = (failure: SessionView['firstFailure']): string =>
  failure?.cause === 'stop' ? 'ended by' : 'failed by';

const reasonOf = ({ cause, reason }: { readonly cause: string; readonly reason: string }): string =>
  cause === reason ? spaced(cause) : `${spaced(cause)}: ${spaced(reason)}`;
