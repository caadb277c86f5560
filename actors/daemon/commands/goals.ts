/** Goals: what an operator decides about them, and how they stand. */
import { join } from 'node:path';
import { assessOwnership } from '../../../machines/assessment.ts';
import type { GoalId, NodeId, RepoId } from '../../../machines/ids.ts';
import type { Host } from '../../host/api.ts';
import type { Outcome } from '../../host/outcome.ts';
import { everyActor, intact, required, resolveId, warningsOf } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults, DecisionResult } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { goalDetailView, goalView } from '../views/goalView.ts';
import { referToPrivateText, textDigest } from './privateText.ts';
import { registerRepository } from './repositories.ts';
import { firstCommitted, type RequestKey, requestKey, reusedRequest, wasApplied } from './requestIds.ts';
import { awaitScopes } from './waiting.ts';

const by = 'operator';

const addWithRequest = 'custody goals add TITLE --request FILE --queue';

export async function addGoal(
  context: DaemonContext,
  args: ParsedArguments<'goals.add'>,
): Promise<Answer<CallResults['goals.add']>> {
  const { host, store } = context;
  const { repoId } = registerRepository(context, args.repo);
  const key = requestKey(store.installationId, 'goals.add', args.requestId);
  const goalId = key.idOf<GoalId>('G');
  const round = args.request === undefined ? undefined : roundOf(args.request);
  if (args.queue && round === undefined) {
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: 'only a Goal with a request can be queued',
      exitCode: 13,
      next: [addWithRequest],
    });
  }
  const to = ['goal', goalId] as const;
  const queueEventId = `${key.eventId}:queue`;
  if (wasApplied(host, key, to) && host.applied(queueEventId).length > 0 !== args.queue)
    throw reusedRequest(key.requestId);
  const payload = {
    goalId,
    title: args.title,
    nodeId: (args.nodeId ?? store.nodeId) as NodeId,
    priority: args.priority,
    repoId: repoId as RepoId,
    ...(round === undefined ? {} : { round }),
  };
  const drafts = [draft('goal.created', { to, payload, by, eventId: key.eventId })];
  if (args.queue) {
    // A new Goal is at its first revision, and a repeat of the request is a duplicate before anybody looks at it.
    drafts.push(draft('goal.queued', { to, payload: { expectedRevision: 1, actor: by }, by, eventId: queueEventId }));
  }
  const commit = async () => assertAccepted(await host.submit(drafts));
  if (args.request === undefined || round === undefined) await commit();
  else {
    // The text lives in this file and nowhere else, complete before anything refers to it (PRIV-01, ruling 12).
    const path = join(context.places.requestsDir, round.requestDigest);
    await referToPrivateText(path, args.request, { commit, isCommitted: () => mayAsk(host, goalId, round) });
  }
  return { data: goalView(context, goalId) };
}

interface Round {
  readonly requestDigest: string;
  readonly requestRef: string;
}

/** A Goal that cannot be read may ask for anything. */
function mayAsk(host: Host, goalId: GoalId, { requestDigest }: Round): boolean {
  const goal = intact(host, 'goal', goalId);
  return goal === 'corrupt' || goal?.context.rounds.some((round) => round.requestDigest === requestDigest) === true;
}

/** The file of a request is named by its digest. */
function roundOf(text: string): Round {
  if (text.trim() === '')
    throw new OperatingError({
      code: 'invalid_event',
      message: 'the request is empty',
      exitCode: 2,
      next: ['custody goals add TITLE --request FILE'],
    });
  const requestDigest = textDigest(text);
  return { requestDigest, requestRef: `requests/${requestDigest}` };
}

export async function listGoals(
  context: DaemonContext,
  args: ParsedArguments<'goals.list'>,
): Promise<Answer<CallResults['goals.list']>> {
  const goals = [];
  const corrupt: string[] = [];
  for (const { id, snapshot } of everyActor(context.host, 'goal')) {
    if (snapshot === 'corrupt') {
      corrupt.push(id);
      continue;
    }
    const view = goalView(context, id);
    const isWanted =
      (args.status === undefined || view.status === args.status) &&
      (args.nodeId === undefined || view.nodeId === args.nodeId) &&
      (args.blocked === undefined || view.eligible !== args.blocked);
    if (isWanted) goals.push(view);
  }
  return { data: { goals }, warnings: warningsOf('goal', corrupt) };
}

export async function showGoal(
  context: DaemonContext,
  args: ParsedArguments<'goals.show'>,
): Promise<Answer<CallResults['goals.show']>> {
  return { data: goalDetailView(context, resolveId(context.store, 'goal', args.id), args) };
}

function decision({ host }: DaemonContext, goalId: string, outcome: string): DecisionResult {
  const { context } = required(host, 'goal', goalId);
  return {
    goalId,
    outcome,
    status: context.status,
    occurrence: context.occurrence.n,
    boundary: context.occurrence.boundary,
    revision: context.revision,
  };
}

export async function queueGoal(
  context: DaemonContext,
  args: ParsedArguments<'goals.queue'>,
): Promise<Answer<DecisionResult>> {
  const { host, store } = context;
  const goalId = resolveId(store, 'goal', args.id);
  const key = requestKey(store.installationId, 'goals.queue', args.requestId);
  const isRepeat = wasApplied(host, key, ['goal', goalId]);
  const expectedRevision =
    args.expectRevision ??
    (isRepeat ? revisionOfFirst(context, key) : undefined) ??
    required(host, 'goal', goalId).context.revision;
  const payload = { expectedRevision, actor: by };
  const [outcome] = await host.submit([
    draft('goal.queued', { to: ['goal', goalId], payload, by, eventId: key.eventId }),
  ]);
  if (outcome!.reason === 'not_in_state') throw notInBacklog(required(host, 'goal', goalId).context);
  const isEmpty = outcome!.guards?.includes('hasAuthoredRound') ?? false;
  assertAccepted([outcome!], [isEmpty ? addWithRequest : `custody goals show ${goalId}`]);
  return { data: decision(context, goalId, firstOutcome(outcome!)) };
}

/** What has failed, too, stays what it is: the work is asked for again, in a Goal of its own. */
const notInBacklog = ({ goalId, status }: { readonly goalId: string; readonly status: string }): OperatingError =>
  new OperatingError({
    code: 'preconditions_unmet',
    message: `${goalId} cannot be queued: its status is ${status}, and not backlog`,
    exitCode: 13,
    next: [`custody goals show ${goalId}`, 'custody goals add TITLE --request FILE --queue'],
  });

/** A repeat that names no revision means the one that the first request found; undefined when that was another decision. */
function revisionOfFirst(context: DaemonContext, key: RequestKey): number | undefined {
  const first = firstCommitted(context, key);
  return first?.type === 'goal.queued' ? (first.payload.expectedRevision as number) : undefined;
}

/** A repeat is answered as the first request was (STOP-08). */
const firstOutcome = ({ outcome, stored }: Outcome): string => stored ?? outcome;

async function commitCancel(
  { host }: DaemonContext,
  goalId: string,
  { key, args }: { readonly key: RequestKey; readonly args: ParsedArguments<'goals.cancel'> },
): Promise<string> {
  const payload = { requestId: key.requestId, actor: by, reason: args.reason };
  const to = ['goal', goalId] as const;
  const [outcome] = await host.submit([draft('goal.cancelled', { to, payload, by, eventId: key.eventId })]);
  assertAccepted([outcome!], [`custody goals show ${goalId}`]);
  return firstOutcome(outcome!);
}

/** A Goal that is cancelled stays so; what of it could not be ended is asked for once more (D10). */
async function drainAgain({ host }: DaemonContext, open: readonly string[], key: RequestKey): Promise<string> {
  for (const scopeId of open) {
    const payload = { cause: 'cancelled' as const, requestId: key.requestId };
    const eventId = `${key.eventId}:${scopeId}`;
    await host.submit([draft('drain.requested', { to: ['executionScope', scopeId], payload, by, eventId })]);
  }
  return 'noop';
}

/** Terminal intent first, then the end of what works on the Goal here; that some of it does not end undoes nothing (STOP-04). */
export async function cancelGoal(
  context: DaemonContext,
  args: ParsedArguments<'goals.cancel'>,
): Promise<Answer<CallResults['goals.cancel']>> {
  const { host, store } = context;
  const goalId = resolveId(store, 'goal', args.id);
  const key = requestKey(store.installationId, 'goals.cancel', args.requestId);
  const isSameRequest = wasApplied(host, key, ['goal', goalId]);
  const link = { name: 'goalId', value: goalId };
  const open = [...everyActor(host, 'executionScope', { released: false, link })].map(({ id }) => id);
  const isOver = required(host, 'goal', goalId).context.status === 'cancelled';
  const outcome =
    isOver && !isSameRequest
      ? await drainAgain(context, open, key)
      : await commitCancel(context, goalId, { key, args });
  await awaitScopes(context, open, args.waitMs ?? 0);
  const scopes = open.map((scopeId) => ({
    scopeId,
    assessment: assessOwnership(required(host, 'executionScope', scopeId)),
  }));
  const isUnsettled = args.waitMs !== undefined && scopes.some(({ assessment }) => assessment.state !== 'exited');
  return { data: { ...decision(context, goalId, outcome), scopes }, exitCode: isUnsettled ? 5 : 0 };
}
