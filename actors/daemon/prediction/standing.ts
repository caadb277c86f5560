/**
 * What the records say: the premises of a seal that are not met, and every scope that refers to the generation and is not
 * proved (WT-09), also of a run that its chart does not know.
 */
import { assessOwnership } from '../../../machines/assessment.ts';
import { type GenerationSnapshot, sealBlockersOf } from '../../../machines/worktreeGeneration.ts';
import type { SealBlocker } from '../../../machines/worktreeGenerationBlockers.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { DaemonContext } from '../context.ts';
import { writersBeside } from '../views/writers.ts';
import type { Fact } from './fact.ts';

export interface Standing {
  readonly facts: readonly Fact[];
  /** Decisions that would have to come first, in a worktree that somebody else controls (WT-06). */
  readonly steps: readonly Fact[];
}

export async function lookAtStanding(context: DaemonContext, generation: GenerationSnapshot): Promise<Standing> {
  const { lifecycle } = generation.value;
  const isObserved = generation.matches({ authority: 'observe' });
  // Closing is what a seal begins with: what is sealed has been closed, and what is observed is not ours to close.
  const isStep = ({ code }: SealBlocker) => isObserved && (code === 'not_closed' || code === 'not_managed');
  const isOver = ({ code }: SealBlocker) =>
    code === 'not_closed' && (lifecycle === 'sealed' || lifecycle === 'retired');
  const own = sealBlockersOf(generation).filter((blocker) => !isOver(blocker));
  const blockers = [...own, ...writersBeside(context.host, generation)];
  const facts: Fact[] = [];
  for (const blocker of blockers) if (!isStep(blocker)) facts.push(await factOf(context, generation, blocker));
  const named = new Set(facts.flatMap(({ scopeId }) => scopeId ?? []));
  return {
    facts: [...facts, ...(await unprovedScopes(context, generation, named))],
    steps: blockers.filter(isStep).map(({ code, detail }) => ({
      ...{ code, detail },
      evidenceIds: [generation.context.generationId],
    })),
  };
}

async function factOf(context: DaemonContext, { context: { generationId } }: GenerationSnapshot, blocker: SealBlocker) {
  const { code, detail, runId, scopeId, gapId } = blocker;
  const subjects = [runId, scopeId, gapId].filter((id) => id !== undefined);
  const fact: Fact = {
    ...{ code, detail },
    evidenceIds: subjects.length > 0 ? subjects : [generationId],
    ...(runId === undefined ? {} : { runId }),
    ...(scopeId === undefined ? {} : { scopeId }),
  };
  return scopeId === undefined ? fact : { ...fact, ...(await held(context, scopeId)) };
}

async function unprovedScopes(
  context: DaemonContext,
  { context: { generationId } }: GenerationSnapshot,
  named: ReadonlySet<string>,
): Promise<Fact[]> {
  const facts: Fact[] = [];
  const link = { name: 'generationId', value: generationId };
  for (const { id, snapshot } of everyActor(context.host, 'executionScope', { released: false, link })) {
    if (named.has(id)) continue;
    const state = snapshot === 'corrupt' ? 'damaged' : assessOwnership(snapshot).state;
    const detail = `scope ${id} refers to this worktree and is not proved to be empty (${state})`;
    facts.push({ code: 'scope_unproved', detail, evidenceIds: [id], scopeId: id, ...(await held(context, id)) });
  }
  return facts;
}

/** Who its guardian says is in it, or who guards it where it does not answer. */
async function held({ guardians }: DaemonContext, scopeId: string): Promise<Pick<Fact, 'holders'>> {
  const membership = await guardians.members(scopeId);
  return membership === undefined ? {} : { holders: membership.members };
}
