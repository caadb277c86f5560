/**
 * A line for every actor, kept up with every commit, so that ten thousand of them are an answer and not ten thousand reads.
 * It is read in once, in slices between which everybody else works; what was committed meanwhile is newer than what is read.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CommitRecord } from '../../../actors/host/outcome.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import type { Store } from '../../../persistence/store.ts';
import type { ActorRow as StoredRow } from '../../../persistence/tables/actors.ts';
import type { ActorRow } from '../contract.ts';
import { withRootScope } from './outcome.ts';
import { rowOf, untrustedRow } from './row.ts';

/** Rows of one slice: each is hashed and parsed, some 60 µs. */
const sliceRows = 64;
/** More than this are not shown at once; those that are over for longest are left out. */
export const mostRows = 50_000;
/** Those that are over are looked for in all rows, so not with each one that comes on top. */
const prunedAtOnce = 1_000;

export const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind}/${id}`;

type Committed = Pick<CommitRecord, 'actor' | 'position' | 'version' | 'after'>;
type Context = Readonly<Record<string, unknown>>;
type Tables = Pick<Store, 'actors' | 'journal'>;

export class Fleet {
  readonly #store: Tables;
  readonly #rows = new Map<string, ActorRow>();
  #isComplete = false;
  #isClosed = false;
  #omitted = 0;
  readonly #most: number;
  #pruneAt: number;
  readonly ready: Promise<void>;

  constructor(store: Tables, most = mostRows) {
    this.#store = store;
    this.#most = most;
    this.#pruneAt = most + prunedAtOnce;
    this.ready = this.#readIn();
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Actors that are over, and left out. */
  get omitted(): number {
    return this.#omitted;
  }

  get rows(): Iterable<ActorRow> {
    return this.#rows.values();
  }

  row(kind: string, id: string): ActorRow | undefined {
    return this.#rows.get(keyOf({ kind, id }));
  }

  /** The line of an actor as a commit has left it, for all who come, and that of the run which it says something of. */
  take(record: Committed): readonly ActorRow[] {
    const row = this.line(record);
    this.#rows.set(keyOf(record.actor), row);
    if (this.#rows.size > this.#pruneAt) this.#prune();
    const run = this.#runOf(row, record.after.context as Context);
    if (run === undefined) return [row];
    this.#rows.set(keyOf(run), run);
    return [row, run];
  }

  /** The same for one look: not every actor is in the fleet, least of all while it is being read in. */
  line({ actor, position, version, after }: Committed): ActorRow {
    const kind = actor.kind as ActorKind;
    const definition = definitions[kind];
    return this.#joined(
      rowOf({
        kind,
        id: actor.id,
        version,
        position,
        settled: definition.isSettled(after),
        released: definition.isReleased(after),
        value: after.value,
        context: after.context as Context,
      }),
      after.context as Context,
    );
  }

  close(): void {
    this.#isClosed = true;
  }

  /** The run whose root scope this is, where that changes what is known of it. */
  #runOf(scope: ActorRow, { runId }: Context): ActorRow | undefined {
    if (scope.kind !== 'executionScope' || typeof runId !== 'string') return undefined;
    const run = this.row('run', runId);
    if (run?.scopeId !== scope.id) return undefined;
    const known = withRootScope(run, scope);
    return known === run ? undefined : known;
  }

  /** A session names its run and the run names the Goal; how a run ended stands in its root scope. */
  #joined(row: ActorRow, { runId }: Context): ActorRow {
    if (row.kind === 'run' && row.scopeId !== null) return withRootScope(row, this.row('executionScope', row.scopeId));
    if (row.kind !== 'ptySession' || typeof runId !== 'string') return row;
    const run = this.row('run', runId);
    return run === undefined ? row : { ...row, goalId: run.goalId, label: run.label ?? row.label };
  }

  /** Leaves out those that are over, the ones that came first before the others. */
  #prune(): void {
    for (const [key, { status }] of this.#rows) {
      if (this.#rows.size <= this.#most) break;
      if (status !== 'released') continue;
      this.#rows.delete(key);
      this.#omitted += 1;
    }
    this.#pruneAt = Math.max(this.#most, this.#rows.size) + prunedAtOnce;
  }

  async #readIn(): Promise<void> {
    // The newest are what people look for; what is older than all of these and over is counted.
    const { actors } = this.#store;
    const skipTo = actors.lastKey() - this.#most;
    for (let after = 0; !this.#isClosed; ) {
      const slice = actors.inspect(after, sliceRows);
      for (const stored of slice) {
        if (stored.key <= skipTo && stored.settled && stored.released) this.#omitted += 1;
        else this.#read(stored);
      }
      const last = slice.at(-1);
      if (last === undefined) break;
      after = last.key;
      await nextTurn();
    }
    // Runs are read before their scopes.
    for (const [key, row] of this.#rows) if (row.kind === 'run') this.#rows.set(key, this.#joined(row, {}));
    this.#isComplete = true;
  }

  #read(stored: StoredRow & { readonly intact: boolean }): void {
    if (!Object.hasOwn(definitions, stored.kind)) return;
    const { key, id, version, settled, released, snapshot } = stored;
    const kind = stored.kind as ActorKind;
    const known = this.row(kind, id);
    if (known !== undefined && known.version >= version) return;
    const position = this.#store.journal.newestOf(key, 1);
    const fault = faultOf(stored);
    if (fault !== undefined) {
      this.#rows.set(keyOf(stored), untrustedRow({ kind, id, version, position }, fault));
      return;
    }
    const { value, context } = JSON.parse(snapshot);
    const row = rowOf({ kind, id, version, position, settled, released, value, context });
    this.#rows.set(keyOf(stored), this.#joined(row, context));
  }
}

/** Why nothing can be read out of a row. What the words of a newer chart mean, only the newer program knows (JRN-09). */
function faultOf({ intact, kind, definitionVersion }: StoredRow & { readonly intact: boolean }): string | undefined {
  if (!intact) return 'Its record does not match its digest';
  const { version } = definitions[kind as ActorKind];
  if (definitionVersion <= version) return undefined;
  return `Its record was written by version ${definitionVersion} of its chart, which is newer than this program's (${version})`;
}
