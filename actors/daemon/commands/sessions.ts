/** Terminals, as people and agents drive them. Watching and typing change no ownership, deadline or Goal (PTY-08). */
import { isCaptureOver, isWorkloadOver, type SessionSnapshot } from '../../../machines/ptySession.ts';
import type { Ask } from '../../../pty/wire/hostClient.ts';
import { HostError } from '../../../pty/wire/hostError.ts';
import { inputDigest } from '../../../pty/wire/inputDigest.ts';
import type { SessionReport, WaitCondition } from '../../../pty/wire/messages.ts';
import { everyActor, required, resolveId, warningsOf } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { ScreenTextView, SessionView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { sessionView } from '../views/sessionView.ts';
import { firstCommitted, type RequestKey, requestKey, reusedRequest, wasApplied } from './requestIds.ts';
import { reached } from './waiting.ts';

export async function listSessions(
  context: DaemonContext,
  { all = false, goalId }: ParsedArguments<'sessions.list'>,
): Promise<Answer<CallResults['sessions.list']>> {
  const live = await reports(context);
  const sessions: SessionView[] = [];
  const corrupt: string[] = [];
  for (const { id, snapshot } of everyActor(context.host, 'ptySession', all ? {} : { settled: false })) {
    if (snapshot === 'corrupt') corrupt.push(id);
    else sessions.push(sessionView(context, snapshot, live.get(id)));
  }
  const wanted = goalId === undefined ? undefined : resolveId(context.store, 'goal', goalId);
  const shown = wanted === undefined ? sessions : sessions.filter((session) => session.goalId === wanted);
  return { data: { sessions: shown }, warnings: warningsOf('ptySession', corrupt) };
}

export async function showSession(
  context: DaemonContext,
  { id }: ParsedArguments<'sessions.show'>,
): Promise<Answer<SessionView>> {
  const session = sessionOf(context, id);
  const live = (await reports(context)).get(session.context.sessionId);
  return { data: sessionView(context, session, live) };
}

/** A request that is repeated while the first is still being typed waits for it. */
const perRequest = new Serial();

/** Acknowledged when the terminal has the last byte. Journals how much it was, and never what. */
export function sendToSession(
  context: DaemonContext,
  args: ParsedArguments<'sessions.send'>,
): Promise<Answer<CallResults['sessions.send']>> {
  const { sessionId } = sessionOf(context, args.id).context;
  const key = requestKey(context.store.installationId, 'sessions.send', args.requestId);
  return perRequest.run(key.eventId, () => typed(context, { sessionId, key, args }));
}

interface Typing {
  readonly sessionId: string;
  readonly key: RequestKey;
  readonly args: ParsedArguments<'sessions.send'>;
}

const repeated = 'this request was carried out before';

interface SentAnswer {
  readonly bytes: number;
  readonly bracketed: boolean;
  /** Absent in the answer of a host of protocol 1, which remembers nothing. */
  readonly isRepeated?: boolean;
}

async function typed(
  context: DaemonContext,
  { sessionId, key, args }: Typing,
): Promise<Answer<CallResults['sessions.send']>> {
  const former = formerOf(context, { sessionId, key, type: 'session.inputSent' });
  if (former !== undefined) {
    // Typing it again is what a repeated request must not do. What the first was only its holder knows, while it remembers.
    const { digest, bracketed = false } = (await context.sessions.remembered(sessionId, key.eventId)) ?? {};
    if (digest !== undefined && digest !== inputDigest(args)) throw reusedRequest(key.requestId);
    return { data: { sessionId, bytes: Number(former.bytes ?? 0), bracketed }, warnings: [repeated] };
  }
  const { bytes: text, applicationBytes, paste, enter } = args;
  const { eventId: inputId, requestId } = key;
  const request = { do: 'send', sessionId, bytes: text, applicationBytes, paste, enter, inputId } as const;
  const sent = await asked<SentAnswer>(context, request, sendMs).catch((error: unknown) => {
    throw error instanceof OperatingError && error.code === 'input_id_reused' ? reusedRequest(requestId) : error;
  });
  const { bytes, bracketed, isRepeated = false } = sent;
  await context.sessions.journalTyped(sessionId, { inputId, bytes });
  const data = { sessionId, bytes, bracketed };
  return isRepeated ? { data, warnings: [repeated] } : { data };
}

interface Asked {
  readonly sessionId: string;
  readonly key: RequestKey;
  readonly type: 'session.inputSent' | 'session.resized';
}

/**
 * What the journal says of the first request with this id, if there was one; nothing where its row is damaged. Throws
 * `event_id_conflict` (exit 11) for one that was about something else.
 */
function formerOf(
  context: DaemonContext,
  { sessionId, key, type }: Asked,
): Readonly<Record<string, unknown>> | undefined {
  if (!wasApplied(context.host, key, ['ptySession', sessionId])) return undefined;
  const first = firstCommitted(context, key);
  if (first !== undefined && first.type !== type) throw reusedRequest(key.requestId);
  return first?.payload ?? {};
}

/** How long a program may leave what is sent to it unread before the sender is told. */
const sendMs = 30_000;

/** The holder gives up earlier, and says why. */
const screenMs = 35_000;

export async function resizeSession(
  context: DaemonContext,
  { id, cols, rows, requestId }: ParsedArguments<'sessions.resize'>,
): Promise<Answer<CallResults['sessions.resize']>> {
  const { sessionId } = sessionOf(context, id).context;
  const key = requestKey(context.store.installationId, 'sessions.resize', requestId);
  const former = formerOf(context, { sessionId, key, type: 'session.resized' });
  if (former !== undefined) {
    // It may have got another size since, which a repetition of an earlier request must not undo.
    const isSame = (former.cols ?? cols) === cols && (former.rows ?? rows) === rows;
    if (!isSame) throw reusedRequest(key.requestId);
    return { data: { sessionId, cols, rows }, warnings: [repeated] };
  }
  await asked(context, { do: 'resize', sessionId, cols, rows });
  const payload = { cols, rows, actor: 'operator' };
  const said = { to: ['ptySession', sessionId], payload, by: 'sessions-resize', eventId: key.eventId } as const;
  await context.host.submit([draft('session.resized', said)]);
  return { data: { sessionId, cols, rows } };
}

export async function screenOfSession(
  context: DaemonContext,
  { id }: ParsedArguments<'sessions.screen'>,
): Promise<Answer<ScreenTextView>> {
  const { sessionId } = sessionOf(context, id).context;
  const screen = await asked<ScreenTextView>(context, { do: 'screen', sessionId }, screenMs);
  const { offset, cols, rows, lines, cursor, title } = screen;
  return { data: { sessionId, offset, cols, rows, lines, cursor, title } };
}

export async function waitForSession(
  context: DaemonContext,
  { id, until, waitMs = 86_400_000 }: ParsedArguments<'sessions.wait'>,
  signal: AbortSignal,
): Promise<Answer<SessionView>> {
  const { sessionId } = sessionOf(context, id).context;
  const isMet =
    until.kind === 'exit'
      ? await reached(context, ['ptySession', sessionId], { waitMs, signal, isReached: isOver })
      : await shown(context, { sessionId, until, waitMs, signal });
  if (isMet) return showSession(context, { id: sessionId });
  context.leaving.throwIfAborted();
  throw new OperatingError({
    code: 'wait_timed_out',
    message: `what was waited for did not come to pass in ${sessionId} within ${waitMs} ms`,
    exitCode: 14,
    retryable: true,
    next: [`custody sessions screen ${sessionId}`],
    details: { sessionId },
  });
}

interface ScreenWait {
  readonly sessionId: string;
  readonly until: WaitCondition;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** How long a host goes on looking for somebody who has left. */
const pieceMs = 15_000;

/**
 * What is waited for is asked for piece by piece, so that a wait which nobody is left to hear of ends in the host as well;
 * here it ends at once, also when the daemon leaves.
 */
async function shown(context: DaemonContext, { sessionId, until, waitMs, signal }: ScreenWait): Promise<boolean> {
  const over = AbortSignal.any([signal, context.leaving]);
  const deadline = context.clock.monoMs() + waitMs;
  for (;;) {
    const left = deadline - context.clock.monoMs();
    if (left <= 0 || over.aborted) return false;
    const withinMs = Math.ceil(Math.min(left, pieceMs));
    const answer = asked<{ met: boolean }>(context, { do: 'wait', sessionId, until, withinMs }, withinMs + sendMs);
    answer.catch(() => {}); // heard of in the race, unless nobody waits for it any more
    const told = await Promise.race([answer, aborted(over)]);
    if (told === undefined || told.met) return told !== undefined;
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));

/** Its end is known, and everything that it said is recorded or given up. */
const isOver = (session: SessionSnapshot): boolean => isWorkloadOver(session) && isCaptureOver(session);

function sessionOf({ host, store }: DaemonContext, typed: string): SessionSnapshot {
  return required(host, 'ptySession', resolveId(store, 'ptySession', typed));
}

/** What is committed can be shown without a host that takes longer. */
const listMs = 2_000;

/** What the host says of its sessions now; nothing when there is no host. */
async function reports({ ptyHostLink, sessions, log }: DaemonContext): Promise<Map<string, SessionReport>> {
  if (!sessions.holdsAny) return new Map();
  try {
    const client = await ptyHostLink.adopt();
    const held = await client?.sessions({ withinMs: listMs });
    return new Map(held?.map((report) => [report.sessionId, report]));
  } catch (error) {
    log.warn({ code: (error as { code?: unknown }).code }, 'the PTY host does not say what it holds');
    return new Map();
  }
}

async function asked<Result>(context: DaemonContext, request: Ask & { sessionId: string }, withinMs?: number) {
  const client = context.sessions.mayHold(request.sessionId) ? await context.ptyHostLink.adopt() : undefined;
  if (client === undefined) throw ended(request.sessionId);
  try {
    return (await client.ask(request, withinMs)) as Result;
  } catch (error) {
    throw error instanceof HostError ? refusal(error, request.sessionId) : error;
  }
}

const ended = (sessionId: string): OperatingError =>
  new OperatingError({
    code: 'session_ended',
    message: `the terminal of ${sessionId} is gone`,
    exitCode: 13,
    next: [`custody sessions show ${sessionId}`, `custody sessions export ${sessionId}`],
    details: { sessionId },
  });

const exitCodes: Readonly<Record<string, number>> = {
  input_full: 10,
  unresponsive: 10,
  host_gone: 10,
  screen_unavailable: 10,
  pattern_invalid: 2,
  pattern_too_slow: 2,
};

function refusal(error: HostError, sessionId: string): OperatingError {
  if (error.code === 'session_unknown' || error.code === 'session_ended') return ended(sessionId);
  const exitCode = exitCodes[error.code] ?? 1;
  return new OperatingError(
    {
      code: error.code,
      message: error.message,
      exitCode,
      retryable: exitCode === 10,
      next: [exitCode === 2 ? 'custody sessions wait --help' : `custody sessions screen ${sessionId}`],
      details: { sessionId },
    },
    error,
  );
}
