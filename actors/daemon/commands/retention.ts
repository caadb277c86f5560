/** Removing for good at an operator's word: rows of the journal, event ids, files. */
import { horizonOf } from '../../../persistence/checkpoint/eventIds.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';

const hourMs = 3_600_000;

/** Rejects with StoreError; what was removed until then is on record, and the next checkpoint goes on behind it. */
export async function checkpointJournal(
  { retention, store }: DaemonContext,
  { dryRun }: ParsedArguments<'journal.checkpoint'>,
): Promise<Answer<CallResults['journal.checkpoint']>> {
  const before = store.space.measure();
  const report = await retention.checkpoint({ dryRun });
  const space = { before, after: store.space.measure() };
  const last = store.journal.lastPosition();
  return { data: { ...report, space, lastPosition: last, eventIdHorizon: horizonOf(store) ?? null } };
}

export async function forgetEventIds(
  { retention }: DaemonContext,
  { keepStarts, dryRun }: ParsedArguments<'journal.forgetIds'>,
): Promise<Answer<CallResults['journal.forgetIds']>> {
  return { data: { dryRun, ...(await retention.forgetEventIds({ keepStarts, dryRun })) } };
}

export async function retireArtifacts(
  { retention }: DaemonContext,
  { dryRun, ageHours }: ParsedArguments<'artifacts.retire'>,
): Promise<Answer<CallResults['artifacts.retire']>> {
  const age = ageHours === undefined ? {} : { ageMs: ageHours * hourMs };
  return { data: await retention.retire({ dryRun, ...age }) };
}
