/** What speaks against assuming the end of a scope: a guardian that answers, a process that is seen, a proof to hope for. */
import { join } from 'node:path';
import { assessOwnership, holdsOthersUp } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import { controlClient } from '../../../pty/launch/control.ts';
import { ControlError } from '../../../pty/launch/controlError.ts';
import { type Recorded, recordedProcesses } from '../../observe/recorded.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { lastResort } from '../../runtime/lastResort.ts';
import type { DaemonContext } from '../context.ts';
import { lookAround } from './census.ts';

/** One recorded process, and what a look at it showed just now. */
export interface Seen {
  readonly who: Recorded['who'];
  readonly pid: number;
  readonly result: 'alive' | 'ended' | 'unknown';
  readonly reason: string;
}

export interface AssumptionBlocker {
  readonly code:
    | 'not_unverified'
    | 'may_still_be_proved'
    | 'already_assumed'
    | 'guardian_answers'
    | 'process_alive'
    | 'process_found'
    | 'generation_in_use'
    | 'not_controller';
  readonly detail: string;
  readonly pid?: number;
  readonly scopeId?: string;
}

/** A look at every process that was ever recorded of it. */
export function seenOf({ adapter }: Pick<DaemonContext, 'adapter'>, { context }: ScopeSnapshot): readonly Seen[] {
  return recordedProcesses(context).map(({ who, identity }) => {
    const { result, reason } = adapter.observe(identity);
    return { who, pid: identity.pid, result, reason };
  });
}

export async function assumptionBlockers(
  context: DaemonContext,
  scope: ScopeSnapshot,
  seen: readonly Seen[],
): Promise<readonly AssumptionBlocker[]> {
  const answering = await guardianBlockers(context, scope.context.scopeId);
  return [
    ...stateBlockers(scope),
    ...answering,
    ...processBlockers(seen),
    ...escapeeBlockers(context, scope, seen),
    ...generationBlockers(context, scope),
  ];
}

function stateBlockers(scope: ScopeSnapshot): readonly AssumptionBlocker[] {
  const { scopeId, controller } = scope.context;
  if (controller !== null)
    return [{ code: 'not_controller', detail: `${scopeId} was launched by ${controller}, which answers for it` }];
  const assessment = assessOwnership(scope);
  if (assessment.state !== 'unverified') {
    const state = assessment.state === 'live' ? 'live' : 'proved to be gone';
    return [{ code: 'not_unverified', detail: `${scopeId} is ${state}` }];
  }
  if (assessment.assumed !== undefined)
    return [
      { code: 'already_assumed', detail: `${assessment.assumed.by} has assumed it: ${assessment.assumed.because}` },
    ];
  if (lastResort(scopeId, assessment).length > 0) return [];
  return [
    {
      code: 'may_still_be_proved',
      detail: `${scopeId} is unverified for now (${assessment.reason}); it may be proved yet`,
    },
  ];
}

/** Silence is no absence: a guardian that is stopped takes connections and says nothing (ruling 9). */
async function guardianBlockers(
  { places, config }: DaemonContext,
  scopeId: string,
): Promise<readonly AssumptionBlocker[]> {
  try {
    const client = await controlClient(join(places.scopesDir, scopeId), { timeoutMs: config.responseMs });
    await client.hello().finally(() => client.close());
    return [{ code: 'guardian_answers', detail: `the guardian of ${scopeId} answers` }];
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    if (error.code === 'guardian_unreachable') return [];
    return [
      { code: 'guardian_answers', detail: `somebody listens where the guardian of ${scopeId} should (${error.code})` },
    ];
  }
}

const processBlockers = (seen: readonly Seen[]): readonly AssumptionBlocker[] =>
  seen
    .filter(({ result }) => result === 'alive')
    .map(({ who, pid, reason }) => ({
      code: 'process_alive',
      pid,
      detail: `its ${who}, pid ${pid}, is alive (${reason})`,
    }));

/** Nobody recorded these; but who bears its mark or stands in its worktree is not gone, whatever somebody answers for. */
function escapeeBlockers(
  context: DaemonContext,
  { context: { scopeId, generationId } }: ScopeSnapshot,
  seen: readonly Seen[],
): readonly AssumptionBlocker[] {
  const recorded = new Set(seen.map(({ pid }) => pid));
  return lookAround(context)
    .escapees.filter(({ pid }) => !recorded.has(pid))
    .flatMap(({ pid, name = 'a process', ...found }) => {
      const isMarked = found.scopeId === scopeId;
      const standsThere = generationId !== null && found.generationId === generationId;
      if (!isMarked && !standsThere) return [];
      const how = isMarked ? `was started in ${scopeId}` : `stands in its worktree ${generationId}`;
      return [{ code: 'process_found' as const, pid, detail: `${name}, pid ${pid}, is alive and ${how}` }];
    });
}

/** Whoever else works in the worktree would lose the ground; and only who controls a worktree may move it. */
function generationBlockers({ host }: DaemonContext, { context }: ScopeSnapshot): readonly AssumptionBlocker[] {
  const { generationId } = context;
  if (generationId === null) return [];
  const generation = intact(host, 'worktreeGeneration', generationId);
  if (generation === 'corrupt' || generation === undefined || generation.matches({ authority: 'observe' }))
    return [{ code: 'not_controller', detail: `${generationId} is not controlled by this installation` }];
  const blockers: AssumptionBlocker[] = [];
  const link = { name: 'generationId', value: generationId };
  for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false, link })) {
    const assessment = assessOwnership(snapshot);
    if (id === context.scopeId || !holdsOthersUp(assessment) || lastResort(id, assessment).length > 0) continue;
    blockers.push({ code: 'generation_in_use', scopeId: id, detail: `scope ${id} still works in ${generationId}` });
  }
  return blockers;
}
