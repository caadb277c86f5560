/** Who else an actor has to do with: whom its record names, and whose records name it. */
import type { Host } from '../../../actors/host/api.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import type { ActorLink } from '../contract.ts';

interface Relation {
  readonly relation: string;
  readonly kind: ActorKind;
}

/** Fields of a context that name another actor. */
const outward: Readonly<Record<string, Relation>> = {
  goalId: { relation: 'goal', kind: 'goal' },
  runId: { relation: 'run', kind: 'run' },
  generationId: { relation: 'worktree', kind: 'worktreeGeneration' },
  scopeId: { relation: 'scope', kind: 'executionScope' },
  rootScopeId: { relation: 'root scope', kind: 'executionScope' },
  parentScopeId: { relation: 'parent scope', kind: 'executionScope' },
  retryOf: { relation: 'retry of', kind: 'run' },
};

interface Naming {
  /** Of those that name the actor. */
  readonly kind: ActorKind;
  readonly link: string;
  readonly relation: string;
}

/** Links under which others are found from an actor of a kind. */
const inward: Readonly<Record<ActorKind, readonly Naming[]>> = {
  goal: [
    { kind: 'run', link: 'goalId', relation: 'run' },
    { kind: 'worktreeGeneration', link: 'goalId', relation: 'worktree' },
    { kind: 'executionScope', link: 'goalId', relation: 'scope' },
  ],
  run: [
    { kind: 'ptySession', link: 'runId', relation: 'session' },
    { kind: 'executionScope', link: 'runId', relation: 'scope' },
  ],
  worktreeGeneration: [
    { kind: 'run', link: 'generationId', relation: 'run' },
    { kind: 'executionScope', link: 'generationId', relation: 'scope' },
  ],
  executionScope: [
    { kind: 'run', link: 'scopeId', relation: 'run' },
    { kind: 'ptySession', link: 'scopeId', relation: 'session' },
    { kind: 'executionScope', link: 'parentScopeId', relation: 'nested scope' },
    { kind: 'workerIncarnation', link: 'scopeId', relation: 'worker' },
  ],
  ptySession: [],
  workerIncarnation: [],
  recoveryFence: [],
};

const mostOfARelation = 200;

export function linksOf(
  host: Pick<Host, 'linked'>,
  { kind, id }: { readonly kind: ActorKind; readonly id: string },
  context: Readonly<Record<string, unknown>>,
): readonly ActorLink[] {
  const found = new Map<string, ActorLink>();
  const add = (link: ActorLink) => {
    const key = `${link.kind}/${link.id}`;
    if (key !== `${kind}/${id}` && !found.has(key)) found.set(key, link);
  };
  const { goalRef } = context as { readonly goalRef?: { readonly goalId?: unknown } | null };
  for (const [field, value] of Object.entries({ ...context, goalId: goalRef?.goalId ?? context.goalId })) {
    const relation = Object.hasOwn(outward, field) ? outward[field] : undefined;
    if (relation !== undefined && typeof value === 'string') add({ ...relation, id: value });
  }
  for (const { kind: other, link, relation } of inward[kind])
    for (const otherId of host.linked(other, link, id).slice(0, mostOfARelation))
      add({ relation, kind: other, id: otherId });
  return [...found.values()];
}
