/** Committed snapshots with their types: the one place where a kind's name becomes a snapshot type. */
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { GoalSnapshot } from '../../machines/goal.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { SessionSnapshot } from '../../machines/ptySession.ts';
import type { FenceSnapshot } from '../../machines/recoveryFence.ts';
import type { RunSnapshot } from '../../machines/run.ts';
import type { WorkerSnapshot } from '../../machines/workerIncarnation.ts';
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import type { Store } from '../../persistence/store.ts';
import type { ActorSummary } from '../../persistence/tables/actors.ts';
import type { Host, ListFilter } from '../host/api.ts';
import { HostError } from '../host/hostError.ts';
import { ambiguousId, notFound, OperatingError } from './operatingError.ts';

export interface SnapshotOf {
  readonly goal: GoalSnapshot;
  readonly run: RunSnapshot;
  readonly worktreeGeneration: GenerationSnapshot;
  readonly executionScope: ScopeSnapshot;
  readonly ptySession: SessionSnapshot;
  readonly workerIncarnation: WorkerSnapshot;
  readonly recoveryFence: FenceSnapshot;
}

const words: Readonly<Record<ActorKind, string>> = {
  goal: 'goal',
  run: 'run',
  worktreeGeneration: 'worktree',
  executionScope: 'scope',
  ptySession: 'session',
  workerIncarnation: 'worker',
  recoveryFence: 'recovery fence',
};

/** Enough of a host to look at what is committed; a store that is only read can do that as well. */
export type Reading = Pick<Host, 'snapshotOf' | 'list'>;

export function committed<Kind extends ActorKind>(
  host: Pick<Reading, 'snapshotOf'>,
  kind: Kind,
  id: string,
): SnapshotOf[Kind] | undefined {
  return host.snapshotOf(kind, id) as SnapshotOf[Kind] | undefined;
}

/** As `committed`; a record that cannot be trusted is `corrupt` instead of an error, for those who look at many. */
export function intact<Kind extends ActorKind>(
  host: Pick<Reading, 'snapshotOf'>,
  kind: Kind,
  id: string,
): SnapshotOf[Kind] | 'corrupt' | undefined {
  try {
    return committed(host, kind, id);
  } catch (error) {
    if (error instanceof HostError) return 'corrupt';
    throw error;
  }
}

/** Throws `not_found`. */
export function required<Kind extends ActorKind>(
  host: Pick<Reading, 'snapshotOf'>,
  kind: Kind,
  id: string,
): SnapshotOf[Kind] {
  const snapshot = committed(host, kind, id);
  if (snapshot === undefined) throw notFound(words[kind], id);
  return snapshot;
}

export type Listed<Kind extends ActorKind> =
  | { readonly id: string; readonly snapshot: SnapshotOf[Kind] }
  /** The row cannot be trusted; it fails closed for itself and hides nobody else (OWN-10). */
  | { readonly id: string; readonly snapshot: 'corrupt' };

const pageSize = 500;

/** The row of every actor of a kind that passes the filter, oldest first, read page by page; also of those that are damaged. */
export function* everyRow(host: Pick<Host, 'list'>, kind: ActorKind, filter: ListFilter = {}): Generator<ActorSummary> {
  let after: number | undefined;
  for (;;) {
    const page = host.list(kind, { ...filter, limit: pageSize, ...(after === undefined ? {} : { after }) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.key;
  }
}

/** All actors of a kind that pass the filter, oldest first. */
export function* everyActor<Kind extends ActorKind>(
  host: Reading,
  kind: Kind,
  filter: ListFilter = {},
): Generator<Listed<Kind>> {
  for (const { id } of everyRow(host, kind, filter)) {
    const snapshot = intact(host, kind, id);
    if (snapshot !== undefined) yield { id, snapshot } as Listed<Kind>;
  }
}

/** What a list has to say of rows that it had to leave out (JRN-10). */
export function warningsOf(kind: ActorKind, corrupt: readonly string[]): string[] {
  if (corrupt.length === 0) return [];
  const shown = corrupt.slice(0, 8).join(', ');
  return [`left out, because their records are damaged: ${words[kind]} ${shown} (${corrupt.length}); custody doctor`];
}

interface IdIndex {
  readonly actors: Pick<Store['actors'], 'idsStartingWith'>;
}

const kindOfLetter: Readonly<Record<string, ActorKind>> = {
  G: 'goal',
  R: 'run',
  W: 'worktreeGeneration',
  S: 'executionScope',
  P: 'ptySession',
  K: 'workerIncarnation',
  X: 'recoveryFence',
};

/** The actor of any kind whose id is, or begins with, what was typed. Throws `not_found` or `ambiguous_id` (exit 2). */
export function resolveAnyId(store: IdIndex, typed: string): { readonly kind: ActorKind; readonly id: string } {
  const kind = kindOfLetter[typed.charAt(0)];
  if (kind === undefined)
    throw new OperatingError({
      code: 'not_found',
      message: `no actor has an id like ${JSON.stringify(typed)}`,
      exitCode: 3,
    });
  return { kind, id: resolveId(store, kind, typed) };
}

/** The one actor whose id is, or begins with, what was typed. Throws `not_found` or `ambiguous_id` (exit 2). */
export function resolveId(store: IdIndex, kind: ActorKind, typed: string): string {
  const matches = store.actors.idsStartingWith(kind, typed, 9);
  if (matches.includes(typed)) return typed;
  const [only, second] = matches;
  if (only === undefined) throw notFound(words[kind], typed);
  if (second === undefined) return only;
  throw ambiguousId(typed, matches);
}
