/**
 * Break-glass: somebody answers for the end of a scope that nothing can prove any more. Everything that could still say
 * otherwise is asked first, the worktree is put aside before anything is recorded, and what is recorded proves nothing.
 */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { GenerationId, ScopeId } from '../../../machines/ids.ts';
import type { Draft } from '../../host/outcome.ts';
import { required, resolveId } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { type PutAside, putAside } from '../quarantine/aside.ts';
import { assumptionBlockers, type Seen, seenOf } from './assumptionBlockers.ts';
import { type RequestKey, requestKey, wasApplied } from './requestIds.ts';

const by = 'operator';

/** Two of them would look for the same free name, and one would put aside what the other has put aside. */
const oneAtATime = new Serial();

/** To be typed word for word; a habit types `yes`. */
export const assumptionWords = 'assume ended';

type Result = Answer<CallResults['recover.assumeEnded']>;

/** Throws `recover_refused` or `confirmation_required` (both exit 13), `quarantine_failed` (exit 10). */
export function assumeEnded(context: DaemonContext, args: ParsedArguments<'recover.assumeEnded'>): Promise<Result> {
  return oneAtATime.run('', () => assumed(context, args));
}

async function assumed(context: DaemonContext, args: ParsedArguments<'recover.assumeEnded'>): Promise<Result> {
  const { host, store } = context;
  const scopeId = resolveId(store, 'executionScope', args.scopeId) as ScopeId;
  const key = requestKey(store.installationId, 'recover.assumeEnded', args.requestId);
  if (wasApplied(host, key, ['executionScope', scopeId])) return answer(context, scopeId, null);
  const scope = required(host, 'executionScope', scopeId);
  const seen = seenOf(context, scope);
  const blockers = await assumptionBlockers(context, scope, seen);
  if (blockers.length > 0) throw refused(scopeId, blockers);
  assertConfirmed(scope, seen, args.confirm);
  const generationId = generationToPutAside(context, scope);
  if (generationId === undefined) {
    assertAccepted(await host.submit([assumption(context, scope, { key, seen, because: args.because })]));
    return answer(context, scopeId, null);
  }
  const aside = await puttingAside(context, generationId);
  try {
    const drafts = [
      quarantine(context, generationId, { key, scopeId, aside }),
      assumption(context, scope, { key, seen, because: args.because }),
    ];
    assertAccepted(await host.submit(drafts));
  } catch (error) {
    await takenBack(context, key, aside);
    throw error;
  }
  await aside.done();
  return answer(context, scopeId, aside);
}

function refused(scopeId: string, blockers: Awaited<ReturnType<typeof assumptionBlockers>>): OperatingError {
  return new OperatingError({
    code: 'recover_refused',
    message: `the end of ${scopeId} cannot be assumed: ${blockers[0]!.detail}${blockers.length > 1 ? ` (and ${blockers.length - 1} more)` : ''}`,
    exitCode: 13,
    next: ['custody processes --all', 'custody doctor'],
    details: { scopeId, blockers },
  });
}

/** What is about to happen is shown before it is asked for; whoever cannot be asked has to bring both answers. */
function assertConfirmed(
  scope: ScopeSnapshot,
  seen: readonly Seen[],
  confirm: ParsedArguments<'recover.assumeEnded'>['confirm'],
): void {
  const { scopeId, generationId } = scope.context;
  if (confirm?.scopeId === scopeId && confirm.text === assumptionWords) return;
  throw new OperatingError({
    code: 'confirmation_required',
    message: `to assume the end of ${scopeId} takes its whole id and the words ${JSON.stringify(assumptionWords)}`,
    exitCode: 13,
    next: [
      `custody recover --assume-ended ${scopeId} --because TEXT --confirm-scope ${scopeId} --confirm-text '${assumptionWords}'`,
    ],
    details: { scopeId, generationId, assessment: assessOwnership(scope), observed: seen, words: assumptionWords },
  });
}

/** None where it wrote in no worktree of ours, or where that was put aside for another scope of it. */
function generationToPutAside({ host }: DaemonContext, { context }: ScopeSnapshot): GenerationId | undefined {
  if (context.generationId === null) return undefined;
  const generation = required(host, 'worktreeGeneration', context.generationId);
  const isOurs = generation.matches({ lifecycle: 'open' }) || generation.matches({ lifecycle: 'closing' });
  return isOurs ? context.generationId : undefined;
}

async function puttingAside({ host, places }: DaemonContext, generationId: GenerationId): Promise<PutAside> {
  const { path, fsIdentity } = required(host, 'worktreeGeneration', generationId).context;
  try {
    return await putAside(places.quarantineDir, { generationId, path, fsIdentity });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatingError(
      {
        code: 'quarantine_failed',
        message: `the worktree ${JSON.stringify(path)} cannot be put aside (${code}); nothing was recorded`,
        exitCode: 10,
        retryable: true,
        next: ['see who may write in the directories above it', 'custody doctor'],
        details: { generationId, path },
      },
      error,
    );
  }
}

/** Never throws: what kept the commit from taking place is what the caller has to hear. The next start looks at the note. */
async function takenBack({ host, log }: DaemonContext, key: RequestKey, aside: PutAside): Promise<void> {
  try {
    // A commit of which nobody can tell whether it took place is looked up at the next start as well.
    if (host.applied(key.eventId).length === 0) await aside.undo();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.error({ from: aside.from, to: aside.to, code }, 'a worktree that was put aside could not be taken back');
  }
}

interface Assuming {
  readonly key: RequestKey;
  readonly seen: readonly Seen[];
  readonly because: string;
}

function assumption({ clock }: DaemonContext, { context }: ScopeSnapshot, { key, seen, because }: Assuming): Draft {
  const observed = seen.slice(0, 256) as Payload<'end.assumed'>['observed'];
  const payload = { requestId: key.requestId, actor: by, because, atWallMs: clock.now().wallMs, observed };
  return draft('end.assumed', { to: ['executionScope', context.scopeId], payload, by, eventId: key.eventId });
}

interface Quarantining {
  readonly key: RequestKey;
  readonly scopeId: ScopeId;
  readonly aside: PutAside;
}

function quarantine(
  { clock }: DaemonContext,
  generationId: GenerationId,
  { key, scopeId, aside: { from, to, gitMetadata } }: Quarantining,
): Draft {
  const { requestId } = key;
  const payload = { requestId, actor: by, scopeId, from, to, gitMetadata, atWallMs: clock.now().wallMs };
  const eventId = `${key.eventId}:quarantine`;
  return draft('quarantine.recorded', { to: ['worktreeGeneration', generationId], payload, by, eventId });
}

/** Exit 5: it is done, and ownership stays unverified. */
function answer({ host }: DaemonContext, scopeId: string, aside: PutAside | null): Result {
  const scope = required(host, 'executionScope', scopeId);
  const { generationId, goalId } = scope.context;
  const quarantined =
    generationId === null ? null : required(host, 'worktreeGeneration', generationId).context.quarantine;
  const warnings =
    aside?.gitMetadata === 'left' ? [`git still looks for the worktree at ${JSON.stringify(aside.from)}`] : [];
  const quarantine = quarantined && {
    generationId: generationId!,
    from: quarantined.from,
    to: quarantined.to,
    gitMetadata: quarantined.gitMetadata,
  };
  return { data: { scopeId, goalId, assessment: assessOwnership(scope), quarantine }, warnings, exitCode: 5 };
}
