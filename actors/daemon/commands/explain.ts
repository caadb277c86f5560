/** Why an actor stands where it stands. */
import { resolveAnyId } from '../../runtime/actorAccess.ts';
import { notFound } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import { untrustedExit } from '../api/explanationViews.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';

/** Throws `not_found` (exit 3) and `ambiguous_id`; a record that cannot be trusted is explained as that, with exit 9. */
export async function explainActor(
  context: DaemonContext,
  { id }: ParsedArguments<'explain'>,
): Promise<Answer<CallResults['explain']>> {
  const actor = resolveAnyId(context.store, id);
  const data = await context.explainer(context, actor);
  if (data === undefined) throw notFound(actor.kind, id);
  return { data, exitCode: data.fault === null ? 0 : untrustedExit };
}
