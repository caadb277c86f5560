/** An actor as one line among ten thousand, from its own record alone. */
import type { ActorKind } from '../../../machines/ids.ts';
import type { ActorRow } from '../contract.ts';
import { isUnproved, outcomeOf } from './outcome.ts';
import { leafPaths, waitOf } from './paths.ts';

export interface RowSource {
  readonly kind: ActorKind;
  readonly id: string;
  readonly version: number;
  readonly position: number;
  readonly settled: boolean;
  readonly released: boolean;
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Nobody reads more of it in a list. */
const longestLabel = 200;

export function rowOf({ value, context, settled, released, ...source }: RowSource): ActorRow {
  const { kind, id, position, version } = source;
  const state = leafPaths(value);
  return {
    kind,
    id,
    state,
    status: released && settled ? 'released' : settled ? 'settled' : 'active',
    label: labelOf(kind, context),
    goalId: goalOf(kind, id, context),
    scopeId: scopeOf(kind, context),
    outcome: outcomeOf(kind, context),
    unproved: isUnproved(kind, state),
    internal: kind === 'executionScope' && context.kind === 'effect',
    position,
    version,
    waits: released && settled ? null : waitOf(kind, state),
  };
}

type Untrusted = Pick<RowSource, 'kind' | 'id' | 'version' | 'position'>;

/** A record of which nothing is shown but that it is there, and `why`. */
export const untrustedRow = ({ kind, id, version, position }: Untrusted, why: string): ActorRow => ({
  ...{ kind, id, version, position },
  ...{
    state: [],
    status: 'corrupt',
    label: null,
    goalId: null,
    scopeId: null,
    outcome: null,
    unproved: false,
    internal: false,
  },
  waits: `${why}; nothing is concluded from it.`,
});

/** The field of the record that people know it by. */
const labels: Readonly<Record<ActorKind, string>> = {
  goal: 'title',
  run: 'label',
  worktreeGeneration: 'path',
  executionScope: 'purpose',
  ptySession: 'runId',
  workerIncarnation: 'incarnationId',
  recoveryFence: 'reason',
};

function labelOf(kind: ActorKind, context: Readonly<Record<string, unknown>>): string | null {
  const label = context[labels[kind]];
  return typeof label === 'string' && label !== '' ? label.slice(0, longestLabel) : null;
}

function scopeOf(kind: ActorKind, { rootScopeId, scopeId }: Readonly<Record<string, unknown>>): string | null {
  const id = kind === 'run' ? rootScopeId : kind === 'ptySession' ? scopeId : null;
  return typeof id === 'string' ? id : null;
}

function goalOf(kind: ActorKind, id: string, context: Readonly<Record<string, unknown>>): string | null {
  if (kind === 'goal') return id;
  const { goalRef } = context as { readonly goalRef?: { readonly goalId?: unknown } | null };
  const goalId = kind === 'run' ? goalRef?.goalId : context.goalId;
  return typeof goalId === 'string' ? goalId : null;
}
