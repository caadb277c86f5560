/**
 * What an agent says of its own work, from inside its session. Its token is for this session alone: it speaks for no other
 * Goal and operates nothing (ruling 24). A result is a claim until the status of the agent is known (PTY-03).
 */
import { boundarySchema } from '../../../machines/events/goal.ts';
import type { SessionSnapshot } from '../../../machines/ptySession.ts';
import { committed, intact, required } from '../../runtime/actorAccess.ts';
import { grantsOf, operatorKey } from '../../runtime/credentials.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { assertAccepted, draft, wasAccepted } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { GoalDetailView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { statePath } from '../views/scopeView.ts';
import { showGoal } from './goals.ts';
import { referToPrivateText, textDigest } from './privateText.ts';
import { resultFile } from './resultFiles.ts';
import { problemOf } from './resultSchema.ts';

interface Speaker {
  readonly sessionId: string;
  readonly token: string;
}

/** Throws `not_controller` (exit 4) for a token that is not this session's. */
function speakerOf({ host, places }: DaemonContext, { sessionId, token }: Speaker): SessionSnapshot {
  const session = committed(host, 'ptySession', sessionId);
  if (session !== undefined && grantsOf(operatorKey(places), sessionId, token) !== undefined) return session;
  throw new OperatingError({
    code: 'not_controller',
    message: `the token does not speak for session ${sessionId}`,
    exitCode: 4,
    next: ['call it from inside the session that it is about'],
  });
}

export async function reportResult(
  context: DaemonContext,
  { session, result }: ParsedArguments<'agent.result'>,
): Promise<Answer<CallResults['agent.result']>> {
  const { sessionId } = speakerOf(context, session).context;
  const digest = textDigest(result);
  const problem = await problemOf(context, sessionId, result);
  const path = resultFile(context, sessionId, digest);
  const judged = problem === undefined ? { valid: true } : { valid: false, reasonCode: problem.reasonCode };
  const payload = { resultDigest: digest, ...judged };
  const reported = draft('result.reported', { to: ['ptySession', sessionId], payload, by: 'agent' });
  let isAccepted = false; // also what does not fit is kept: it is what the session failed by
  const outcomes = await referToPrivateText(path, result, {
    async commit() {
      const answers = await context.host.submit([reported]);
      isAccepted = answers.every(wasAccepted);
      return answers;
    },
    isCommitted: () => isAccepted || mayCount(context, sessionId, digest),
  });
  if (outcomes.some(({ reason }) => reason === 'event_id_conflict')) throw alreadyReported(sessionId);
  assertAccepted(outcomes, [`custody sessions show ${sessionId}`]);
  if (problem === undefined) return { data: { sessionId, digest } };
  throw new OperatingError({
    code: 'result_invalid',
    message: `the result is not accepted: ${problem.message}`,
    exitCode: 13,
    details: { sessionId, reasonCode: problem.reasonCode },
  });
}

/** A session reports once; the same result again is the same report. */
const alreadyReported = (sessionId: string): OperatingError =>
  new OperatingError({
    code: 'preconditions_unmet',
    message: `${sessionId} has reported another result before, and the first one stands`,
    exitCode: 13,
    next: [`custody sessions show ${sessionId}`],
  });

/** A session that cannot be read may have taken anything. */
function mayCount({ host }: DaemonContext, sessionId: string, digest: string): boolean {
  const session = intact(host, 'ptySession', sessionId);
  return session === 'corrupt' || session?.context.structured === digest;
}

export async function needInput(
  context: DaemonContext,
  { session, reason }: ParsedArguments<'agent.needInput'>,
): Promise<Answer<CallResults['agent.needInput']>> {
  const { sessionId } = speakerOf(context, session).context;
  // What it has said so far comes before the question, or it would count as the answer to it.
  await context.sessions.journalActivity(sessionId);
  const seq = context.sessions.latestActivity(sessionId)?.activitySeq ?? 0;
  const outcomes = await context.host.submit([
    draft('session.inputNeeded', {
      to: ['ptySession', sessionId],
      payload: { seq: seq + 1, reasonCode: asCode(reason) },
      by: 'agent',
    }),
  ]);
  assertAccepted(outcomes, [`custody sessions show ${sessionId}`]);
  const after = required(context.host, 'ptySession', sessionId);
  return { data: { sessionId, state: statePath(after.value.workload) } };
}

/** Names in the journal are short and plain; what an agent wants to say at length stands in its terminal. */
const asCode = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 64) || 'question';

/** Whether the Goal is still where it was when the session was launched; exit 12 when a decision has moved it on. */
export async function passBoundary(
  context: DaemonContext,
  { session, name }: ParsedArguments<'agent.boundary'>,
): Promise<Answer<CallResults['agent.boundary']>> {
  const { runId } = speakerOf(context, session).context;
  const boundary = boundarySchema.safeParse(name);
  if (!boundary.success) {
    const message = `there is no boundary ${JSON.stringify(name)}; it is one of ${boundarySchema.options.join(', ')}`;
    throw new OperatingError({ code: 'usage', message, exitCode: 2 });
  }
  const { goalRef } = required(context.host, 'run', runId).context;
  const goal = goalRef === null ? undefined : committed(context.host, 'goal', goalRef.goalId);
  if (goal === undefined || goalRef === null) throw superseded(runId);
  const { goalId, status, occurrence, round, nodeId } = goal.context;
  const isCurrent =
    !goal.hasTag('terminal') &&
    occurrence.n === goalRef.occurrence &&
    round === goalRef.round &&
    nodeId === goalRef.nodeId;
  if (!isCurrent) throw superseded(goalId);
  return { data: { goalId, status, occurrence: occurrence.n, round, boundary: boundary.data } };
}

const superseded = (goalId: string): OperatingError =>
  new OperatingError({
    code: 'superseded',
    message: `${goalId} has moved on since this session was launched; nothing further of it counts`,
    exitCode: 12,
    next: ['end the work', `custody goals show ${goalId}`],
  });

export async function ownGoal(
  context: DaemonContext,
  { session }: ParsedArguments<'agent.goal'>,
): Promise<Answer<GoalDetailView>> {
  const { runId } = speakerOf(context, session).context;
  const { goalRef } = required(context.host, 'run', runId).context;
  if (goalRef === null) throw superseded(runId);
  return showGoal(context, { id: goalRef.goalId });
}
