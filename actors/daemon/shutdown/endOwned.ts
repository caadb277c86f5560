/** The drain that a stop, a restart and `custody drain` share: all of it, with proof, or a list of what is in the way. */
import { type Assessment, assessOwnership, holdsOthersUp } from '../../../machines/assessment.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import { drainAll, type OwnedWork } from '../../drain/drainAll.ts';
import { livingRegistered } from '../../drain/registered.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { lastResort } from '../../runtime/lastResort.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { draft } from '../../runtime/submission.ts';
import type { RequestKey } from '../commands/requestIds.ts';
import { awaitScopes } from '../commands/waiting.ts';
import type { DaemonContext } from '../context.ts';

export interface EndOrder {
  readonly key: RequestKey;
  /** Absent: what each scope was launched with. */
  readonly graceMs?: number | undefined;
  readonly waitMs: number;
  /** Told once what was owned at the beginning is settled, and what came since is looked for. */
  readonly onSettled?: () => void;
}

export interface Ended {
  readonly settled: readonly string[];
  /** Of those that have no guardian nobody is left whom anybody has registered; nothing proves that nobody is (SHUT-07). */
  readonly unverified: readonly string[];
  readonly blocked: readonly string[];
  /** Somebody answers for these; nobody could end them any more. */
  readonly assumed: readonly string[];
}

/** Throws what keeps the ends from being asked for, and `daemon_leaving`. */
export async function endOwned(context: DaemonContext, order: EndOrder): Promise<Ended> {
  const { clock, pendingLaunches, leaving } = context;
  const untilMonoMs = clock.monoMs() + order.waitMs;
  // Admission is closed by now. What it let pass before is waited for: until it is committed nobody could find it.
  await pendingLaunches.reserved();
  const work: OwnedWork = {
    owned: () => ownedScopes(context),
    order: (scopeId) => askForEnd(context, scopeId, order),
    settled: (scopeIds, until) => awaitScopes(context, readable(context, scopeIds), until - clock.monoMs()),
    ...(order.onSettled === undefined ? {} : { onSettled: order.onSettled }),
  };
  const { settled, left } = await drainAll(work, { untilMonoMs, clock });
  leaving.throwIfAborted();
  const unverified = left.filter((scopeId) => isNobodyLeftToEnd(context, scopeId));
  const blocked = left.filter((scopeId) => !unverified.includes(scopeId));
  return { settled, unverified, blocked, assumed: assumedScopes(context) };
}

type Assessed = readonly { readonly id: string; readonly assessment: Assessment }[];

const assessed = ({ host }: Pick<DaemonContext, 'host'>): Assessed =>
  [...everyActor(host, 'executionScope', { released: false })].map(({ id, snapshot }) => ({
    id,
    assessment: assessOwnership(snapshot),
  }));

export const ownedScopes = (context: Pick<DaemonContext, 'host'>): string[] =>
  assessed(context).flatMap(({ id, assessment }) => (holdsOthersUp(assessment) ? [id] : []));

const assumedScopes = (context: DaemonContext): string[] =>
  assessed(context).flatMap(({ id, assessment }) => (holdsOthersUp(assessment) ? [] : [id]));

/** What is left to do about those that stay in the way for ever. */
const lastResorts = (context: Pick<DaemonContext, 'host'>): readonly string[] =>
  assessed(context).flatMap(({ id, assessment }) => lastResort(id, assessment));

async function askForEnd(
  { host, drains, config }: DaemonContext,
  scopeId: string,
  { key, graceMs }: EndOrder,
): Promise<void> {
  const payload = {
    cause: 'shutdown' as const,
    requestId: key.requestId,
    ...(graceMs === undefined ? {} : { graceMs }),
  };
  const to = ['executionScope', scopeId] as const;
  const eventId = `${key.eventId}:${scopeId}`;
  const [outcome] = await host.submit([draft('drain.requested', { to, payload, by: 'shutdown', eventId })]);
  // One that is being ended already takes a shorter grace all the same.
  if (graceMs !== undefined && outcome?.outcome === 'noop')
    await drains.shorten({ scopeId: scopeId as ScopeId, graceMs, budgetMs: config.drainBudgetMs });
}

/** A scope whose record is damaged is ordered in vain and never settles: there is nothing to wait for. */
const readable = ({ host }: DaemonContext, scopeIds: readonly string[]): string[] =>
  scopeIds.filter((scopeId) => intact(host, 'executionScope', scopeId) !== 'corrupt');

function isNobodyLeftToEnd(context: DaemonContext, scopeId: string): boolean {
  const scope = intact(context.host, 'executionScope', scopeId);
  if (scope === undefined || scope === 'corrupt' || scope.context.kind !== 'external') return false;
  return livingRegistered(context, scope).length === 0;
}

export function drainBlocked(
  context: Pick<DaemonContext, 'host'>,
  { settled, unverified, blocked, assumed }: Ended,
  { what, waysOut = [] }: { readonly what: string; readonly waysOut?: readonly string[] },
): OperatingError {
  const cause = blocked.length === 0 ? 'the store took nothing meanwhile' : `${blocked.length} scope(s) are not proved`;
  return new OperatingError({
    code: 'drain_blocked',
    message: `${what}: ${cause}${blocked.length === 0 ? '' : ' to be gone'}`,
    exitCode: 6,
    retryable: true,
    next: ['custody processes --all', ...waysOut, ...lastResorts(context)],
    details: { settled, unverified, blocked, assumed },
  });
}
