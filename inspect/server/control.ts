/** The few things that a page may change, through the API and under the operator's authority, each under its own request id. */
import { z } from 'zod';
import type { InspectedDaemon, PageGrant } from '../../actors/daemon/inspector/port.ts';
import { Refusal } from './access/refusal.ts';
import { type ControlAnswer, type ControlRequest, refusals } from './contract.ts';

const id = z.string().min(1).max(64);
const requestId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

export const controlSchema = z.discriminatedUnion('verb', [
  z.strictObject({ verb: z.literal('run.stop'), requestId, runId: id }),
  z.strictObject({ verb: z.literal('goal.cancel'), requestId, goalId: id }),
  z.strictObject({ verb: z.literal('worktree.close'), requestId, generationId: id }),
]) satisfies z.ZodType<ControlRequest>;

/** Throws `read_only`, and what the API refuses. */
export async function control(
  daemon: InspectedDaemon,
  {
    grant,
    request,
    signal,
  }: { readonly grant: PageGrant; readonly request: ControlRequest; readonly signal: AbortSignal },
): Promise<ControlAnswer> {
  if (!grant.control) {
    const message = 'this page was opened to look, and changes nothing';
    throw new Refusal(refusals.readOnly, message, ['custody inspect --control']);
  }
  const { verb, requestId } = request;
  const { data, warnings, journalPosition } = await carriedOut(daemon, request, signal);
  return { verb, requestId, data, warnings, position: journalPosition };
}

function carriedOut({ call }: InspectedDaemon, request: ControlRequest, signal: AbortSignal) {
  const { requestId } = request;
  switch (request.verb) {
    case 'run.stop':
      // The page sees what comes of it as it sees everything else.
      return call('runs.stop', { id: request.runId, waitMs: 0, requestId }, signal);
    case 'goal.cancel':
      return call('goals.cancel', { id: request.goalId, requestId }, signal);
    case 'worktree.close':
      return call('worktrees.close', { id: request.generationId, requestId }, signal);
  }
}
