/**
 * Scopes whose record is gone although others still count on them (OWN-03, I-41): each gets a record again, as one that
 * nobody can account for. What the journal still has of its launch goes in with it, so that its own receipts can speak for
 * it as for any other, by inode, nonce and both identities; nothing else restores it (REPL-01). A record that is there and
 * cannot be read is left as it is.
 */
import type { EventType, Payload } from '../../machines/events/catalogue.ts';
import type { GenerationId, RunId, ScopeId } from '../../machines/ids.ts';
import type { Draft, HostedEnvelope } from '../host/outcome.ts';
import { everyActor, intact } from '../runtime/actorAccess.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { assertAccepted, draft } from '../runtime/submission.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'config' | 'log'>;

/** Who is on record as counting on a scope. */
interface Registration {
  readonly scopeId: ScopeId;
  readonly runId: RunId | null;
  readonly generationId: GenerationId | null;
}

const by = 'ownership-recovery';

/** To be called before anything new is recorded: a new actor may get the number that the journal knows the lost one by. */
export async function rebuildMissingScopes(parts: Parts): Promise<void> {
  const missing = [...registrations(parts)].filter(
    ({ scopeId }) => intact(parts.host, 'executionScope', scopeId) === undefined,
  );
  const rebuilt = missing.map((registration) => [registration.scopeId, draftsFor(parts, registration)] as const);
  for (const [scopeId, drafts] of rebuilt) await rebuild(parts, scopeId, drafts);
}

/** Whatever is wrong with one of them keeps nobody from starting (OWN-10). */
async function rebuild({ host, log }: Parts, scopeId: ScopeId, drafts: readonly Draft[]): Promise<void> {
  try {
    assertAccepted(await host.submit(drafts));
    log.warn({ scopeId }, 'the record of a scope was gone; it is unverified until its own receipts speak for it');
  } catch (error) {
    log.error(
      { scopeId, code: (error as { code?: unknown })?.code },
      'the record of a scope is gone and cannot be rebuilt',
    );
  }
}

function* registrations({ host }: Parts): Generator<Registration> {
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot === 'corrupt') continue;
    const { generationId, admitted } = snapshot.context;
    for (const [runId, { scopes }] of Object.entries(admitted)) {
      for (const [scopeId, state] of Object.entries(scopes)) {
        if (state === 'pending') yield { scopeId: scopeId as ScopeId, runId: runId as RunId, generationId };
      }
    }
  }
  for (const { snapshot } of everyActor(host, 'workerIncarnation', { released: false })) {
    if (snapshot !== 'corrupt') yield { scopeId: snapshot.context.scopeId, runId: null, generationId: null };
  }
}

/** The steps of a launch that say how its receipts are known, in their order. */
const launchSteps = ['scope.requested', 'launch.prepared', 'guardian.attached', 'launch.releaseCommitted'] as const;

function draftsFor(parts: Parts, registration: Registration): Draft[] {
  const { scopeId } = registration;
  const to = ['executionScope', scopeId] as const;
  const journaled = journaledSteps(parts, registration);
  if (journaled.length === 0) {
    const payload = { ...registration, ...unknownLaunch(parts, registration) };
    return [
      draft('scope.requested', { to, payload, by, eventId: `rebuilt:${scopeId}` }),
      draft('scope.registeredExternally', { to, payload: { reason: 'legacy' }, by }),
    ];
  }
  return [...journaled, draft('coverage.gap', { to, payload: { reason: 'record_lost' }, by })];
}

/** Up to the first one that is missing or damaged; all of them under ids of their own, because they count anew. */
function journaledSteps({ store }: Parts, { scopeId, runId, generationId }: Registration): Draft[] {
  const entries = store.journal.orphans({ kind: 'executionScope', id: scopeId });
  const drafts: Draft[] = [];
  for (const type of launchSteps) {
    const entry = entries.find((one) => one.intact && one.type === type);
    if (!entry?.intact) break;
    const { payload } = entry.envelope as HostedEnvelope;
    if (type === 'scope.requested' && (payload.runId !== runId || payload.generationId !== generationId)) break;
    const to = ['executionScope', scopeId] as const;
    drafts.push(draft(type as EventType, { to, payload: payload as never, by, eventId: `rebuilt:${entry.eventId}` }));
  }
  return drafts.length >= 2 ? drafts : [];
}

/** Nothing of it can ever be shown to be authentic, so it is as one that others have launched (GRD-11). */
function unknownLaunch(
  { host, config }: Parts,
  { runId }: Registration,
): Omit<Payload<'scope.requested'>, keyof Registration> {
  const run = runId === null ? undefined : intact(host, 'run', runId);
  const goalRef = run === undefined || run === 'corrupt' ? null : run.context.goalRef;
  return {
    parentScopeId: null,
    kind: 'external',
    goalId: goalRef?.goalId ?? null,
    occurrence: goalRef?.occurrence ?? null,
    nodeId: goalRef?.nodeId ?? null,
    recipeDigest: '0'.repeat(64),
    onRootExit: 'wait',
    graceMs: config.graceMs,
    budgetMs: config.drainBudgetMs,
    purpose: null,
  };
}
