/**
 * Who controls a worktree generation (PROMO-01): each change is one event with an epoch of its own, and never a setting.
 * The repository is claimed before control is taken, so that two installations are never in control.
 */
import type { EventType, Payload } from '../../../machines/events/catalogue.ts';
import { type GenerationSnapshot, migrationBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { ownController } from '../../../machines/worktreeGenerationBlockers.ts';
import type { Draft } from '../../host/outcome.ts';
import { required, resolveId } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { WorktreeView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { assertInPlace } from '../git/worktreeIdentity.ts';
import { assertGrantable, migrationStageBlocker } from '../promotion/control.ts';
import { revokeTickets } from '../tickets/revocation.ts';
import { handoffView, worktreeView } from '../views/worktreeView.ts';
import { writersBeside } from '../views/writers.ts';
import { assertController } from './controlling.ts';
import { type RequestKey, requestKey, wasApplied } from './requestIds.ts';

const by = 'operator';

type Args = ParsedArguments<'worktrees.authority'>;

interface Change {
  readonly args: Args;
  readonly key: RequestKey;
  readonly generation: GenerationSnapshot;
}

/**
 * Throws `not_controller` (exit 4), `version_conflict` (exit 11), `grant_refused`, `migration_refused`, `executor_at_work` or
 * `preconditions_unmet` (exit 13). A handoff that waits for somebody is done with exit 5, and names whom it waits for.
 */
export async function changeAuthority(context: DaemonContext, args: Args): Promise<Answer<WorktreeView>> {
  const { host, store } = context;
  const id = resolveId(store, 'worktreeGeneration', args.id);
  const key = requestKey(store.installationId, 'worktrees.authority', args.requestId);
  const generation = required(host, 'worktreeGeneration', id);
  if (wasApplied(host, key, ['worktreeGeneration', id])) return answer(context, id);
  assertVersion(context, id, args.expectVersion);
  const { said: decision, undo } = preparations[args.change](context, { args, key, generation });
  try {
    assertAccepted(await host.submit([decision]), [`custody worktrees show ${id}`]);
  } catch (error) {
    // A commit of which nobody can tell whether it took place keeps the claim; the next start looks.
    if (error instanceof OperatingError) undo?.();
    throw error;
  }
  return answer(context, id);
}

/** Before anything is claimed or revoked for a decision that was made on another record; the host asks once more. */
function assertVersion({ host }: DaemonContext, id: string, expected: number | undefined): void {
  const version = host.versionOf('worktreeGeneration', id);
  if (expected === undefined || expected === version) return;
  throw new OperatingError({
    code: 'version_conflict',
    message: `${id}: the actor has changed meanwhile`,
    exitCode: 11,
    next: [`custody worktrees show ${id}`],
    details: { expected, version },
  });
}

interface Prepared {
  readonly said: Draft;
  /** Takes back what was done beforehand, when the decision is refused. */
  readonly undo?: () => void;
}

type Preparation = (context: DaemonContext, change: Change) => Prepared;

const preparations: Readonly<Record<Args['change'], Preparation>> = {
  grant(context, change) {
    const { generation, args } = change;
    assertObserved(generation);
    assertGrantable(context, generation, args.evidence);
    const undo = context.authority.claim(generation);
    const gateReport = args.evidence[0] ?? null;
    return { said: said('authority.granted', change, { ...asked(change), gateReport }), undo };
  },
  migrate(context, change) {
    assertObserved(change.generation);
    assertMigratable(context, change);
    assertInPlace(change.generation);
    const undo = context.authority.claim(change.generation);
    const payload = { ...asked(change), migrationVerified: true, evidenceRefs: change.args.evidence };
    return { said: said('authority.migrated', change, payload), undo };
  },
  handoff(context, change) {
    assertController(change.generation);
    const to = receiverOf(change.args);
    if (change.generation.matches({ authority: 'managed' })) revokeTickets(context, change.generation);
    return { said: said('authority.handoffRequested', change, { ...asked(change), to }) };
  },
  abandon(_, change) {
    assertController(change.generation);
    return { said: said('authority.handoffAbandoned', change, { requestId: change.key.requestId }) };
  },
};

const asked = ({ key }: Change) => ({ requestId: key.requestId, actor: by });

function said<Type extends EventType>(type: Type, change: Change, payload: Payload<Type>): Draft {
  const { generationId } = change.generation.context;
  const { expectVersion: expectedVersion } = change.args;
  const { eventId } = change.key;
  return draft(type, { to: ['worktreeGeneration', generationId], payload, by, eventId, expectedVersion });
}

function assertObserved(generation: GenerationSnapshot): void {
  if (generation.matches({ authority: 'observe' })) return;
  const { generationId } = generation.context;
  throw new OperatingError({
    code: 'preconditions_unmet',
    message: `${generationId} is under control of this installation already`,
    exitCode: 13,
    next: [`custody worktrees show ${generationId}`],
  });
}

/** What others started has to have ended, and what was missed to be accounted for, before anybody answers for it (INT-09). */
function assertMigratable(context: DaemonContext, { generation, args }: Change): void {
  const { generationId } = generation.context;
  const blockers: { code: string; detail: string; runId?: string }[] = [
    ...migrationStageBlocker(context, generation),
    ...migrationBlockersOf(generation),
    ...writersBeside(context.host, generation),
  ];
  if (args.evidence.length === 0)
    blockers.unshift({ code: 'no_evidence', detail: 'nothing says what the new contract rests on' });
  const [first] = blockers;
  if (first === undefined) return;
  const more = blockers.length > 1 ? ` (and ${blockers.length - 1} more)` : '';
  throw new OperatingError({
    code: 'migration_refused',
    message: `control of ${generationId} cannot be taken over: ${first.detail}${more}`,
    exitCode: 13,
    next: nextSteps(generationId, blockers),
    details: { blockers },
  });
}

function nextSteps(generationId: string, blockers: readonly { code: string; runId?: string }[]): string[] {
  const steps = new Set<string>();
  for (const { code, runId } of blockers) {
    if (code === 'no_evidence') steps.add(`custody worktrees authority ${generationId} migrate --evidence REF`);
    if (code === 'noted_run')
      steps.add(runId === undefined ? `custody worktrees show ${generationId}` : `custody runs show ${runId}`);
    if (code === 'contract_unverified') steps.add('custody contract verify');
    if (code === 'stage_too_early') steps.add('custody promote --repo PATH');
    if (code === 'coverage_gap') steps.add(`custody worktrees show ${generationId}`);
  }
  return [...steps];
}

function receiverOf({ to, id }: Args): string {
  if (to !== undefined && to !== ownController) return to;
  throw new OperatingError({
    code: 'usage',
    message: to === undefined ? 'a handoff names who is to be in control' : `${to} is in control already`,
    exitCode: 2,
    next: [`custody worktrees authority ${id} handoff --to CONTROLLER`],
  });
}

async function answer(context: DaemonContext, id: string): Promise<Answer<WorktreeView>> {
  const view = worktreeView(context, id);
  const handoff = await handoffView(context, required(context.host, 'worktreeGeneration', id));
  if (handoff === null) return { data: view };
  const warnings = handoff.waitsFor.map(({ detail }) => `control stays until this is settled: ${detail}`);
  return { data: { ...view, handoff }, warnings, exitCode: 5 };
}
