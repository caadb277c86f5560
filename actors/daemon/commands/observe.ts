/** Observing through the daemon that has the store: what `custody observe` does by itself where there is none. */
import type { GenerationId } from '../../../machines/ids.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { tellGeneration } from '../contract/record.ts';

type Context = Pick<DaemonContext, 'observer'>;
type ImportContext = Pick<DaemonContext, 'observer' | 'host' | 'store'>;

export const observeProgress = async (
  { observer }: Context,
  name: ParsedArguments<'observe.progress'>,
): Promise<Answer<CallResults['observe.progress']>> => ({ data: await observer.sink.progress(name) });

export const observeTake = async (
  { observer }: Context,
  { notes }: ParsedArguments<'observe.take'>,
): Promise<Answer<CallResults['observe.take']>> => ({ data: { outcomes: await observer.sink.take(notes) } });

export const observeAccount = async (
  { observer }: Context,
  account: ParsedArguments<'observe.account'>,
): Promise<Answer<CallResults['observe.account']>> => ({ data: { lost: await observer.sink.account(account) } });

/** A worktree that is new is told at once what holds on this host, as one that is registered by hand is. */
export async function observeImport(
  context: ImportContext,
  request: ParsedArguments<'observe.import'>,
): Promise<Answer<CallResults['observe.import']>> {
  const answers = await context.observer.importLegacy(request);
  for (const [at, { outcome, id }] of answers.entries()) {
    const isNew = outcome === 'imported' && request.records[at]?.kind === 'worktree' && !request.dryRun;
    if (isNew && id !== null) await tellGeneration(context, id as GenerationId);
  }
  return { data: { answers } };
}

export const observeSpool = async (
  { observer }: Context,
  { maxCount }: ParsedArguments<'observe.takeSpool'>,
): Promise<Answer<CallResults['observe.takeSpool']>> => ({ data: await observer.takeSpool(maxCount) });

export const observeReconcile = async (
  { observer }: Context,
  bounds: ParsedArguments<'observe.reconcile'>,
): Promise<Answer<CallResults['observe.reconcile']>> => ({ data: await observer.reconcile(bounds) });

export const observeStatusNow = async ({ observer }: Context): Promise<Answer<CallResults['observe.status']>> => ({
  data: observer.status(),
});

export const observeMetrics = async (
  { observer }: Context,
  request: ParsedArguments<'observe.metrics'>,
): Promise<Answer<CallResults['observe.metrics']>> => ({ data: observer.metrics.report(request) });

export const observeExposition = async ({ observer }: Context): Promise<Answer<CallResults['observe.exposition']>> => ({
  data: { text: observer.metrics.exposition() },
});

export const observeCoverage = async (
  { observer }: Context,
  request: ParsedArguments<'observe.coverage'>,
): Promise<Answer<CallResults['observe.coverage']>> => ({ data: observer.coverage(request) });
