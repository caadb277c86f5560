/** A managed launch for a Goal: reserved, admitted, scoped and bound in one commit, then carried out behind a gate (C.11-3). */
import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { canonicalDigest } from '../../../machines/canonical.ts';
import type { GoalSnapshot } from '../../../machines/goal.ts';
import type { RunId, ScopeId, SessionId } from '../../../machines/ids.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { Draft } from '../../host/outcome.ts';
import { committed, everyActor, required, resolveId } from '../../runtime/actorAccess.ts';
import { operatorKey, sessionToken } from '../../runtime/credentials.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { draft } from '../../runtime/submission.ts';
import { assertMemory } from '../../runtime/unrecorded.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { assertInPlace } from '../git/worktreeIdentity.ts';
import { assertAdmitted } from '../launch/admission.ts';
import { delegatorsIn } from '../launch/delegators.ts';
import type { PendingLaunch } from '../launch/pendingLaunches.ts';
import { type Recipe, recipeDigest, type TerminalRecipe } from '../launch/recipe.ts';
import { goalRefOf, reservationDrafts, workOrder } from '../launch/reservation.ts';
import { admissionOf } from '../root.ts';
import { statePath } from '../views/scopeView.ts';
import { assertController } from './controlling.ts';
import { launchAnswer, recordedOutcome } from './launchAnswer.ts';
import { textDigest } from './privateText.ts';
import { type RequestKey, requestKey, reusedRequest, wasApplied } from './requestIds.ts';
import { dropResultSchema, keepResultSchema } from './resultSchema.ts';

type Arguments = ParsedArguments<'runs.exec'>;
type Result = Answer<CallResults['runs.exec']>;

const by = 'operator';

interface Identity {
  readonly key: RequestKey;
  readonly runId: RunId;
  readonly scopeId: ScopeId;
  readonly sessionId: SessionId;
  /** Of what the caller asked for; what the job is told besides may differ from one moment to the next. */
  readonly digest: string;
}

interface Plan extends Identity {
  readonly goal: GoalSnapshot;
  readonly generation: GenerationSnapshot;
  readonly recipe: Recipe;
}

/** A request that is repeated while the first is still on its way waits for it. */
const perRun = new Serial();

export function execRun(context: DaemonContext, args: Arguments): Promise<Result> {
  const identity = identityOf(context, args);
  return perRun.run(identity.runId, async () =>
    wasApplied(context.host, identity.key, ['run', identity.runId])
      ? repeated(context, identity, args)
      : launched(context, identity, args),
  );
}

/** The schema is on the disk before the launch is admitted: nothing may be waited for between admission and reservation. */
async function launched(context: DaemonContext, identity: Identity, args: Arguments): Promise<Result> {
  const schema = args.terminal?.resultSchema;
  if (schema === undefined) return admitted(context, identity, args);
  const { sessionId } = identity;
  await keepResultSchema(context, sessionId, JSON.stringify(schema));
  try {
    return await admitted(context, identity, args);
  } finally {
    if (committed(context.host, 'ptySession', sessionId) === undefined) await dropResultSchema(context, sessionId);
  }
}

async function admitted(context: DaemonContext, identity: Identity, args: Arguments): Promise<Result> {
  const started = process.hrtime.bigint();
  const plan = planOf(context, identity, args);
  assertAdmitted({ ...context, admission: () => admissionOf(context.root) }, plan.goal.context.goalId);
  const { timeoutMs, terminal } = args;
  // A session has its deadlines itself, so that what it failed by is told with it.
  const ms = terminal === undefined ? timeoutMs : undefined;
  const deadline = ms === undefined ? undefined : context.deadlines.record(plan.scopeId, ms);
  const pending = await requested(context, plan, args);
  if (deadline !== undefined) context.deadlines.arm(deadline);
  await endIfGoalIsOver(context, plan);
  const outcome = await pending.outcome;
  pending.steps.push({ step: 'total', ms: Number(process.hrtime.bigint() - started) / 1e6 });
  return launchAnswer(context, { ...plan, outcome, steps: pending.steps });
}

async function requested(context: DaemonContext, plan: Plan, args: Arguments): Promise<PendingLaunch> {
  const { scopeId, recipe, goal } = plan;
  const { admitted } = context.pendingLaunches;
  admitted.add(scopeId);
  try {
    const drafts = reservation(context, plan, args);
    return await context.launches.request({
      scopeId,
      recipe,
      drafts,
      next: [`custody goals show ${goal.context.goalId}`],
    });
  } catch (error) {
    context.deadlines.disarm(scopeId);
    throw error;
  } finally {
    admitted.delete(scopeId);
  }
}

/**
 * The Goal may have been cancelled between the look at it and the reservation, whose scope the cancellation could not
 * reach (STOP-04). Asked for in the turn of the reservation, so it is committed before any release can be.
 */
async function endIfGoalIsOver({ host }: DaemonContext, { goal, scopeId }: Plan): Promise<void> {
  const { goalId } = goal.context;
  if (!required(host, 'goal', goalId).hasTag('terminal')) return;
  const payload = { cause: 'cancelled' as const, requestId: `late:${goalId}` };
  await host.submit([draft('drain.requested', { to: ['executionScope', scopeId], payload, by: 'admission' })]);
}

function identityOf({ store }: DaemonContext, args: Arguments): Identity {
  const key = requestKey(store.installationId, 'runs.exec', args.requestId);
  const asked = { ...args, cwd: args.cwd ?? '', stdin: stdinOf(args) };
  return {
    key,
    runId: key.idOf<RunId>('R'),
    scopeId: key.idOf<ScopeId>('S'),
    sessionId: key.idOf<SessionId>('P'),
    digest: recipeDigest({
      ...asked,
      terminal: terminalOf({ ...args, recorded: args.terminal?.recorded ?? true }, ''),
    }),
  };
}

type Asked = Pick<Arguments, 'terminal'> & { readonly recorded: boolean };

const isRecorded = ({ config }: DaemonContext, { terminal }: Arguments): boolean =>
  terminal?.recorded ?? config.transcripts === 'keep';

function terminalOf({ terminal, recorded }: Asked, sessionId: string): TerminalRecipe | undefined {
  if (terminal === undefined) return undefined;
  const { cols, rows, term, grants = [], resultSchema } = terminal;
  const schemaDigest = resultSchema && textDigest(JSON.stringify(resultSchema));
  return { sessionId, cols, rows, term, grants: [...new Set(grants)].sort(), recorded, schemaDigest };
}

const stdinOf = ({ stdin }: Arguments): Buffer | null => (stdin === undefined ? null : Buffer.from(stdin, 'base64'));

function planOf(context: DaemonContext, identity: Identity, args: Arguments): Plan {
  const { host, store } = context;
  const goalId = resolveId(store, 'goal', args.goalId);
  const goal = required(host, 'goal', goalId);
  if (goal.hasTag('terminal')) throw unmet(`${goalId} is ${goal.context.status}`, [`custody goals show ${goalId}`]);
  const generation = generationFor(context, goalId, args.generationId);
  assertInPlace(generation);
  const terminal = terminalOf({ ...args, recorded: isRecorded(context, args) }, identity.sessionId);
  if (terminal?.recorded === false) assertMemory();
  const recipe: Recipe = {
    argv: args.argv,
    env: {
      ...args.env,
      ...workOrder(context, { ...identity, goal, generation, goalRef: goalRefOf(goal) }),
      ...(terminal ? sessionEnvironment(context, terminal) : {}),
    },
    cwd: directoryIn(generation.context.path, args.cwd),
    umask: args.umask,
    stdin: stdinOf(args),
    terminal,
  };
  return { ...identity, goal, generation, recipe };
}

/** With what an agent speaks for its own session (ruling 24); the state directory tells it where the daemon listens. */
function sessionEnvironment(
  { places }: DaemonContext,
  { sessionId, term, grants }: TerminalRecipe,
): Record<string, string> {
  return {
    TERM: term,
    CUSTODY_SESSION: sessionId,
    CUSTODY_SESSION_TOKEN: sessionToken(operatorKey(places), sessionId, grants),
    CUSTODY_HOME: places.stateDir,
  };
}

/** The named generation, or the newest open one that this program controls. */
function generationFor({ host, store }: DaemonContext, goalId: string, typed: string | undefined): GenerationSnapshot {
  if (typed !== undefined) {
    const generation = required(host, 'worktreeGeneration', resolveId(store, 'worktreeGeneration', typed));
    assertController(generation);
    if (generation.context.goalId === goalId) return assertOpen(generation);
    throw unmet(`${generation.context.generationId} belongs to another Goal`, ['custody worktrees list']);
  }
  let newest: GenerationSnapshot | undefined;
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', {
    settled: false,
    link: { name: 'goalId', value: goalId },
  })) {
    if (snapshot !== 'corrupt' && snapshot.matches({ lifecycle: 'open', authority: 'managed' })) newest = snapshot;
  }
  if (newest === undefined) throw unmet(`${goalId} has no open worktree`, [`custody worktrees add ${goalId}`]);
  return newest;
}

function assertOpen(generation: GenerationSnapshot): GenerationSnapshot {
  if (generation.matches({ lifecycle: 'open' })) return generation;
  const { generationId, goalId } = generation.context;
  const state = statePath(generation.value.lifecycle);
  throw unmet(`${generationId} is ${state}: no further run is admitted`, [`custody worktrees add ${goalId}`]);
}

function directoryIn(worktree: string, relative: string | undefined): string {
  const root = realpathSync.native(worktree);
  if (relative === undefined) return root;
  let path: string;
  try {
    path = realpathSync.native(resolve(root, relative));
  } catch {
    throw unmet(`there is no directory ${JSON.stringify(relative)} in the worktree`, [`ls ${root}`]);
  }
  if (path === root || path.startsWith(root + sep)) return path;
  throw new OperatingError({
    code: 'usage',
    message: 'the working directory has to lie inside the worktree',
    exitCode: 2,
    next: ['--cwd with a path relative to the worktree'],
  });
}

const unmet = (message: string, next: readonly string[]): OperatingError =>
  new OperatingError({ code: 'preconditions_unmet', message, exitCode: 13, next });

function reservation(context: DaemonContext, plan: Plan, args: Arguments): Draft[] {
  const { runId, scopeId, generation, digest, key } = plan;
  const { config } = context;
  const reservation = {
    runId,
    scopeId,
    parentScopeId: null,
    generation,
    goalRef: goalRefOf(plan.goal),
    recipeDigest: digest,
    label: args.label ?? null,
    delegators: delegatorsIn(args),
    residents: args.residents ?? [],
    onRootExit: policyOf(context, args),
    graceMs: args.graceMs ?? config.graceMs,
    budgetMs: args.budgetMs ?? config.drainBudgetMs,
    by,
    eventId: key.eventId,
  };
  return reservationDrafts(context, reservation, opening(context, plan, args));
}

/** Residents stay where everybody else is waited for: a drain of the tree would take them along. */
function policyOf({ config }: DaemonContext, { onRootExit, residents = [] }: Arguments): 'terminate' | 'wait' {
  if (residents.length === 0) return onRootExit ?? (config.onRootExit as 'terminate' | 'wait');
  if (onRootExit !== 'terminate') return 'wait';
  throw new OperatingError({
    code: 'usage',
    message: 'a tree that is ended with its root leaves no residents',
    exitCode: 2,
    next: ['leave --on-root-exit out, or say wait'],
  });
}

function opening({ clock }: DaemonContext, { sessionId, runId, scopeId, recipe }: Plan, args: Arguments): Draft[] {
  const { terminal, timeoutMs: hardMs } = args;
  if (terminal === undefined) return [];
  const { cols, rows, idleMs, startupMs } = terminal;
  const { monoMs, bootId } = clock.now();
  const deadlines = {
    ...(hardMs === undefined ? {} : { hardMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
    ...(startupMs === undefined ? {} : { startupMs }),
  };
  const openedAt = { monoMs: Math.floor(monoMs), bootId };
  const recorded = recipe.terminal?.recorded === false ? { recorded: false } : {};
  const payload = { sessionId, runId, scopeId, cols, rows, deadlines, openedAt, ...recorded };
  return [draft('session.opened', { to: ['ptySession', sessionId], payload, by: 'session-manager' })];
}

/** The first result, whatever has become of the Goal since, if it was the same request; nothing is launched again. */
async function repeated(context: DaemonContext, identity: Identity, args: Arguments): Promise<Result> {
  const { runId, scopeId, key } = identity;
  if (!isSameRequest(context, identity, args)) throw reusedRequest(key.requestId);
  const outcome = (await context.pendingLaunches.get(scopeId)?.outcome) ?? (await recordedOutcome(context, scopeId));
  return launchAnswer(context, { runId, scopeId, outcome, steps: [] });
}

function isSameRequest({ host, store }: DaemonContext, { runId, scopeId, digest }: Identity, args: Arguments): boolean {
  const run = required(host, 'run', runId).context;
  const scope = required(host, 'executionScope', scopeId).context;
  return (
    scope.recipeDigest === digest &&
    run.goalRef?.goalId === resolveId(store, 'goal', args.goalId) &&
    run.label === (args.label ?? null) &&
    (args.generationId === undefined ||
      run.generationId === resolveId(store, 'worktreeGeneration', args.generationId)) &&
    canonicalDigest(scope.residents) === canonicalDigest(args.residents ?? []) &&
    (args.onRootExit === undefined || scope.onRootExit === args.onRootExit)
  );
}
