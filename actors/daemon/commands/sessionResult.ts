/** The structured result of a session, as its agent gave it, once it counts (PTY-03, I-33). */
import { readFile } from 'node:fs/promises';
import { acceptableResult, isWorkloadOver, type SessionSnapshot } from '../../../machines/ptySession.ts';
import { required, resolveId } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { eventViews } from '../views/eventView.ts';
import { statePath } from '../views/scopeView.ts';
import { textDigest } from './privateText.ts';
import { resultFile } from './resultFiles.ts';
import { problemOf } from './resultSchema.ts';

/**
 * Throws, each with exit 13: `result_missing` when nothing was reported, `result_pending` while the status of the agent is
 * not known, `result_invalid` for one that did not fit, `result_not_counted` when something else came first. Throws
 * `result_unreadable` (exit 9) when the file is not what was reported.
 */
export async function sessionResult(
  context: DaemonContext,
  { id }: ParsedArguments<'sessions.result'>,
): Promise<Answer<CallResults['sessions.result']>> {
  const session = required(context.host, 'ptySession', resolveId(context.store, 'ptySession', id));
  const digest = acceptableResult(session);
  if (digest === null) throw refusalOf(session, await reasonAgainst(context, session));
  const { sessionId } = session.context;
  const text = await readFile(resultFile(context, sessionId, digest), 'utf8').catch(() => undefined);
  const isRetired = text === undefined && context.store.retiredArtifacts.has({ kind: 'ptySession', id: sessionId });
  if (isRetired) throw retired(sessionId, digest);
  if (text === undefined || textDigest(text) !== digest) throw unreadable(sessionId, digest);
  return { data: { sessionId, digest, text } };
}

/** What the result that the session failed by was refused for: only its code is recorded, so it is judged once more. */
async function reasonAgainst(context: DaemonContext, { context: session }: SessionSnapshot): Promise<string> {
  const { firstFailure, sessionId } = session;
  if (firstFailure?.cause !== 'result') return '';
  const actor = { kind: 'ptySession' as const, id: sessionId };
  const reports = eventViews(context.store.journal.page({ actor, type: 'result.reported' }));
  const digest = reports.find(({ eventId }) => eventId === firstFailure.eventId)?.payload.resultDigest;
  const text = await readFile(resultFile(context, sessionId, String(digest)), 'utf8').catch(() => undefined);
  const problem = text === undefined ? undefined : await problemOf(context, sessionId, text);
  return problem?.message ?? firstFailure.reason;
}

function refusalOf(session: SessionSnapshot, why: string): OperatingError {
  const { firstFailure, structured, sessionId } = session.context;
  if (firstFailure?.cause === 'result')
    return refusal(session, 'result_invalid', `the result that was reported does not count: ${why}`);
  if (structured !== null && !isWorkloadOver(session))
    return refusal(session, 'result_pending', `${sessionId} has reported a result, and its work has not ended yet`);
  if (structured !== null)
    return refusal(session, 'result_not_counted', 'a result was reported, but nobody recorded how its agent ended');
  if (firstFailure !== null) {
    const { cause, reason } = firstFailure;
    const how = cause === reason ? cause : `${cause}, ${reason}`;
    return refusal(session, 'result_missing', `${sessionId} reported none before it failed: ${how}`);
  }
  const when = isWorkloadOver(session) ? 'ended without reporting one' : 'has not reported one yet';
  return refusal(session, 'result_missing', `${sessionId} ${when}`);
}

function refusal(session: SessionSnapshot, code: string, message: string): OperatingError {
  const { sessionId, firstFailure } = session.context;
  const isOpen = !isWorkloadOver(session);
  return new OperatingError({
    code,
    message,
    exitCode: 13,
    next: [...(isOpen ? [`custody sessions wait ${sessionId} --exit`] : []), `custody sessions show ${sessionId}`],
    details: {
      sessionId,
      workload: statePath(session.value.workload),
      ...(firstFailure ? { firstFailure: { cause: firstFailure.cause, reason: firstFailure.reason } } : {}),
    },
  });
}

const unreadable = (sessionId: string, digest: string): OperatingError =>
  new OperatingError({
    code: 'result_unreadable',
    message: `the file of ${sessionId}'s result is gone or was changed`,
    exitCode: 9,
    next: ['custody doctor'],
    details: { sessionId, digest },
  });

const retired = (sessionId: string, digest: string): OperatingError =>
  new OperatingError({
    code: 'artifacts_retired',
    message: `the file of ${sessionId}'s result was removed after its proof, by retention; its digest is ${digest}`,
    exitCode: 3,
    next: [`custody sessions show ${sessionId}`],
    details: { sessionId, digest },
  });
