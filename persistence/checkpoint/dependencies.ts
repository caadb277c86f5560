/**
 * What the snapshots say that a checkpoint may not touch: the texts in them, which may cite an event, and the actors that
 * something live or unverified depends on (RET-02). All snapshots are read once, in slices; whoever changes afterwards is
 * read again before anything else is removed.
 */
import type { Store } from '../store.ts';
import { TextSet, textsIn } from './textSet.ts';

type Tables = Pick<Store, 'actors' | 'journal' | 'links' | 'bindings'>;
type Row = ReturnType<Store['actors']['inspect']>[number];

/** How many texts of its own a snapshot has, roughly; it only decides on the size of the set. */
const textsPerActor = 24;
const parents = 64;

export class Dependencies {
  readonly #store: Tables;
  readonly #cited: TextSet;
  readonly #needed = new Set<number>();
  readonly #damaged = new Set<number>();
  #key = 0;
  #isComplete = false;
  #known: number;

  constructor(store: Tables) {
    this.#store = store;
    this.#cited = new TextSet(store.actors.lastKey() * textsPerActor);
    this.#known = store.journal.lastPosition();
  }

  /** Reads at most so many snapshots more; false once all have been read. */
  readOn(limit: number): boolean {
    if (this.#isComplete) return false;
    const rows = this.#store.actors.inspect(this.#key, limit);
    for (const row of rows) this.#learn(row);
    this.#key = rows.at(-1)?.key ?? this.#key;
    if (rows.length === 0) {
      for (const eventId of this.#store.bindings.eventIds()) this.#cited.add(eventId);
      this.#isComplete = true;
    }
    return !this.#isComplete;
  }

  /**
   * Reads again who has changed, at most so many events; belongs into the transaction that removes. False while there is
   * more: nothing may be removed then.
   */
  catchUp(limit: number): boolean {
    const changed = this.#store.journal.changedSince(this.#known, limit);
    for (const key of new Set(changed.map(({ actorKey }) => actorKey))) {
      for (const row of this.#store.actors.inspect(key - 1, 1)) if (row.key === key) this.#learn(row);
    }
    this.#known = changed.at(-1)?.position ?? this.#known;
    return changed.length < limit;
  }

  mayCite(text: string): boolean {
    return this.#cited.has(text);
  }

  /** Why the whole history of this actor stays, if it does. */
  reasonFor(actorKey: number): 'damaged' | 'needed' | undefined {
    if (this.#damaged.has(actorKey)) return 'damaged';
    return this.#needed.has(actorKey) ? 'needed' : undefined;
  }

  #learn(row: Row): void {
    for (const text of textsIn(row.snapshot)) this.#cited.add(text);
    // Nothing that a damaged row says about being over can be trusted (ruling 27).
    if (!row.intact) this.#damaged.add(row.key);
    if (row.intact && row.settled && row.released) return;
    this.#needed.add(row.key);
    for (const [name, value] of Object.entries(this.#store.links.of(row.key))) this.#need(name, value);
    if (row.kind === 'executionScope') this.#needScope(row.id);
  }

  #need(link: string, id: string): void {
    if (link === 'scopeId' || link === 'parentScopeId') this.#needScope(id);
    for (const kind of kindsOf(link)) this.#add(kind, id);
  }

  /** A scope with its run, session and worker, and the scopes around it: one of them may have to prove its end. */
  #needScope(scopeId: string): void {
    let id: string | undefined = scopeId;
    for (let depth = 0; id !== undefined && depth < parents; depth += 1) {
      this.#add('executionScope', id);
      for (const kind of ['run', 'ptySession', 'workerIncarnation']) {
        for (const { key } of this.#store.links.find({ kind, name: 'scopeId', value: id }, { limit: 1_000 }))
          this.#needed.add(key);
      }
      const key = this.#store.actors.keyOf({ kind: 'executionScope', id });
      const links: Readonly<Record<string, string>> = key === undefined ? {} : this.#store.links.of(key);
      for (const name of ['runId', 'generationId', 'goalId']) {
        const value = links[name];
        if (value !== undefined) for (const kind of kindsOf(name)) this.#add(kind, value);
      }
      id = links.parentScopeId;
    }
  }

  #add(kind: string, id: string): void {
    const key = this.#store.actors.keyOf({ kind, id });
    if (key !== undefined) this.#needed.add(key);
  }
}

const kindByLink: Readonly<Record<string, string>> = {
  runId: 'run',
  generationId: 'worktreeGeneration',
  goalId: 'goal',
  sessionId: 'ptySession',
  incarnationId: 'workerIncarnation',
};

const kindsOf = (link: string): readonly string[] => {
  const kind = kindByLink[link];
  return kind === undefined ? [] : [kind];
};
