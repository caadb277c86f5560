/**
 * The end of a worktree (WT-05, WT-07): a sealed one gets a ticket for an executor, and is retired by the receipt that the
 * executor brings. That a directory is gone is noted, and retires nothing.
 */
import type { GenerationId } from '../../../machines/ids.ts';
import { type GenerationSnapshot, writerBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { required, resolveId } from '../../runtime/actorAccess.ts';
import { observationOf, placeOf } from '../../runtime/generations.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { TicketView, WorktreeView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { assertInPlace } from '../git/worktreeIdentity.ts';
import { type Issued, issue, issuedBefore } from '../tickets/issue.ts';
import { spendTickets } from '../tickets/revocation.ts';
import { verifyReceipt } from '../tickets/verification.ts';
import { statePath } from '../views/scopeView.ts';
import { worktreeView } from '../views/worktreeView.ts';
import { writersBeside } from '../views/writers.ts';
import { assertController } from './controlling.ts';
import { requestKey, reusedRequest, wasApplied } from './requestIds.ts';

const by = 'operator';

/** Two tickets for one seal would each find the other superseded, or neither. */
const perGeneration = new Serial();

/**
 * Throws `not_controller` (exit 4), `not_sealed`, `seal_in_doubt`, `generation_missing`, `main_worktree`, `executor_at_work`
 * (exit 13).
 */
export function issueTicket(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.ticket'>,
): Promise<Answer<CallResults['worktrees.ticket']>> {
  const id = resolveId(context.store, 'worktreeGeneration', args.id);
  return perGeneration.run(id, () => issued(context, id, args));
}

async function issued(
  context: DaemonContext,
  id: string,
  { executor, expiresMs, requestId }: ParsedArguments<'worktrees.ticket'>,
): Promise<Answer<TicketView>> {
  const key = requestKey(context.store.installationId, 'worktrees.ticket', requestId);
  const ticketId = key.idOf('X', 'ticket');
  const before = requestId === undefined ? undefined : issuedBefore(context, ticketId);
  if (before !== undefined) {
    const isSame = before.ticket.generationId === id && before.ticket.executor === executor;
    if (!isSame) throw reusedRequest(key.requestId);
    return { data: viewOf(before) };
  }
  const generation = required(context.host, 'worktreeGeneration', id);
  assertController(generation);
  assertSealed(generation);
  assertUndisturbed(context, generation);
  await observePlace(context, generation);
  assertInPlace(generation);
  return { data: viewOf(issue(context, generation, { ticketId, executor, expiresMs })) };
}

const viewOf = ({ ticket, file, superseded }: Issued): TicketView => {
  const { ticketId, generationId, sealEpoch, authorityEpoch, executor } = ticket;
  return { ticketId, generationId, sealEpoch, authorityEpoch, executor, file, superseded, ticket };
};

function assertSealed(generation: GenerationSnapshot): void {
  if (generation.matches({ lifecycle: 'sealed', authority: 'managed' })) return;
  const { generationId } = generation.context;
  const lifecycle = statePath(generation.value.lifecycle);
  const isLeaving = generation.matches({ authority: 'quiescing' });
  const isOver = generation.matches({ lifecycle: 'retired' });
  throw new OperatingError({
    code: 'not_sealed',
    message: isLeaving ? `control of ${generationId} is on its way out` : `${generationId} is ${lifecycle}, not sealed`,
    exitCode: 13,
    next: isLeaving
      ? [`custody worktrees authority ${generationId} abandon`]
      : isOver
        ? [`custody worktrees show ${generationId}`]
        : [`custody worktrees close ${generationId}`, `custody worktrees seal ${generationId}`],
    details: { generationId, lifecycle },
  });
}

/** A seal says that nobody was left; who came in afterwards without asking would lose what is written there. */
function assertUndisturbed({ host }: DaemonContext, generation: GenerationSnapshot): void {
  const blockers = [...writerBlockersOf(generation), ...writersBeside(host, generation)];
  const [first] = blockers;
  if (first === undefined) return;
  const { generationId } = generation.context;
  throw new OperatingError({
    code: 'seal_in_doubt',
    message: `${generationId} was sealed, and somebody may write there since: ${first.detail}`,
    exitCode: 13,
    next: [`custody worktrees show ${generationId}`, 'custody coverage'],
    details: { blockers },
  });
}

/** What is found at the path is recorded when it is not what it was: as an observation, which moves nothing (WT-05). */
async function observePlace({ host }: DaemonContext, generation: GenerationSnapshot): Promise<void> {
  const result = placeOf(generation);
  const { generationId, pathObservation } = generation.context;
  if (result === (pathObservation ?? 'same')) return;
  await host.submit([observationOf(generationId, result, by)]);
}

/** Throws `not_controller` (exit 4), `not_sealed`, `receipt_refused` (exit 13). */
export function retireWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.retire'>,
): Promise<Answer<WorktreeView>> {
  const id = resolveId(context.store, 'worktreeGeneration', args.id);
  return perGeneration.run(id, () => retired(context, id, args));
}

async function retired(
  context: DaemonContext,
  id: string,
  { receipt: text, requestId }: ParsedArguments<'worktrees.retire'>,
): Promise<Answer<WorktreeView>> {
  const { host, store } = context;
  const key = requestKey(store.installationId, 'worktrees.retire', requestId);
  const generation = required(host, 'worktreeGeneration', id);
  if (wasApplied(host, key, ['worktreeGeneration', id])) return { data: worktreeView(context, id) };
  assertController(generation);
  assertSealed(generation);
  await observePlace(context, generation);
  const { receipt, digest } = verifyReceipt(context, generation, text);
  const payload = {
    executor: receipt.executor,
    generationId: id as GenerationId,
    sealEpoch: receipt.sealEpoch,
    receiptDigest: digest,
    verified: true,
  };
  const to = ['worktreeGeneration', id] as const;
  const { eventId } = key;
  assertAccepted(
    await host.submit([draft('retirement.receiptVerified', { to, payload, by: 'receipt-verifier', eventId })]),
  );
  spendTickets(context);
  return { data: worktreeView(context, id) };
}
