/**
 * The rules of the host, in memory: a call is all or nothing, relays follow their change at once, depth first, and one that
 * is refused changes nothing else (ruling 3). The records of a configuration are a tuple of numbers, and the tuple has one.
 */
import { canonicalJson } from '../../machines/canonical.ts';
import type { Relay } from '../../machines/relays.ts';
import { Actor, absent, type Sayable, Spelling, type Spelt } from './actors.ts';
import type { Charts } from './charts.ts';
import type { AnyConfiguration, Delivery, Records, Told } from './model.ts';

export interface Called {
  /** Number of the records afterwards; the same where the call was refused. */
  readonly next: number;
  readonly isRefused: boolean;
  readonly deliveries: readonly Delivery[];
  readonly effects: readonly string[];
}

interface Draft {
  readonly tuple: number[];
  readonly applied: Map<string, number>;
  readonly deliveries: Delivery[];
  readonly effects: string[];
}

/** A set of texts as a number. */
class Sets {
  readonly #sets: ReadonlyArray<readonly [string, number]>[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(entries: Iterable<readonly [string, number]>): number {
    const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
    const text = canonicalJson(sorted);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#sets.length);
    return this.#sets.push(sorted) - 1;
  }

  at(number: number): ReadonlyArray<readonly [string, number]> {
    return this.#sets[number] ?? [];
  }
}

export class System {
  readonly actors: readonly Actor[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #spelling = new Spelling();
  readonly #outboxes = new Sets();
  readonly #ledgers = new Sets();
  readonly #remembersIds: boolean;
  /** Each: the numbers of the actors, of the outbox and of the ids that were applied. */
  readonly #tuples: number[][] = [];
  readonly #numbers = new Map<string, number>();
  readonly #records: Array<Records | undefined> = [];
  readonly first: number;

  constructor({ cast, views, words, prologue = [], remembersIds = false }: AnyConfiguration, charts: Charts) {
    this.actors = cast.map((member) => new Actor(member, charts, views));
    this.#places = new Map(cast.map(({ id }, index) => [id, index]));
    this.#remembersIds = remembersIds;
    const empty = [...cast.map(() => absent), this.#outboxes.numberOf([]), this.#ledgers.numberOf([])];
    const creations = cast.flatMap(({ id, kind, input }) =>
      input === undefined ? [] : [{ to: id, type: creatorOf(kind), payload: input }],
    );
    const created = this.call(this.#numberOf(empty), creations);
    if (created.isRefused) throw new Error('the cast cannot be created');
    this.first = prologue.reduce((record, name) => {
      const events = words.find((word) => word.name === name)?.call(this.records(record)) ?? [];
      return this.call(record, events).next;
    }, created.next);
  }

  get count(): number {
    return this.#tuples.length;
  }

  records(number: number): Records {
    const known = this.#records[number];
    if (known !== undefined) return known;
    const tuple = this.#tuples[number] ?? [];
    const actors = Object.fromEntries(this.actors.map((actor, index) => [actor.id, actor.at(tuple[index] ?? absent)]));
    const outbox = new Set(this.#outboxes.at(tuple[this.actors.length] ?? 0).map(([effect]) => effect));
    const records = { actors, outbox };
    this.#records[number] = records;
    return records;
  }

  call(from: number, events: readonly Told[]): Called {
    const known = this.#tuples[from] as number[];
    if (!this.#remembersIds && events[0] !== undefined && this.#isRefusedAtOnce(known, events[0])) return refusal(from);
    const count = this.actors.length;
    const draft: Draft = {
      tuple: [...known],
      applied: new Map(this.#remembersIds ? this.#ledgers.at(known[count + 1] ?? 0) : []),
      deliveries: [],
      effects: [],
    };
    for (const told of events) {
      const actor = this.#actor(told.to);
      const outcome = this.#deliver(draft, actor, { spelt: this.#spelling.spell(actor, told), from: null });
      if (outcome === 'refused') return { ...refusal(from), deliveries: draft.deliveries };
    }
    if (draft.effects.length > 0) {
      const outbox = new Set([...this.#outboxes.at(known[count] ?? 0).map(([effect]) => effect), ...draft.effects]);
      draft.tuple[count] = this.#outboxes.numberOf([...outbox].map((effect) => [effect, 1]));
    }
    if (this.#remembersIds) draft.tuple[count + 1] = this.#ledgers.numberOf(draft.applied);
    return {
      next: this.#numberOf(draft.tuple),
      isRefused: false,
      deliveries: draft.deliveries,
      effects: draft.effects,
    };
  }

  /** Most of what is said is refused, so that is found out before anything is prepared for more. */
  #isRefusedAtOnce(tuple: readonly number[], told: Told): boolean {
    const place = this.#places.get(told.to) ?? -1;
    const actor = this.#actor(told.to);
    return actor.react(tuple[place] ?? absent, this.#spelling.spell(actor, told)).outcome === 'refused';
  }

  #actor(id: string): Actor {
    const actor = this.actors[this.#places.get(id) ?? -1];
    if (actor === undefined) throw new Error(`there is no actor ${id} in the cast`);
    return actor;
  }

  #deliver(draft: Draft, actor: Actor, said: { spelt: Spelt; from: string | null }): Delivery['outcome'] {
    const { spelt, from } = said;
    const outcome = this.#apply(draft, actor, spelt);
    draft.deliveries.push({ to: actor.id, event: spelt.event, outcome: outcome.is, from });
    for (const relay of outcome.relays) {
      for (const addressee of this.#addressees(draft, relay)) {
        const relayed = this.#spelling.spell(addressee, relay as Sayable);
        this.#deliver(draft, addressee, { spelt: relayed, from: actor.id });
      }
    }
    return outcome.is;
  }

  #apply(draft: Draft, actor: Actor, spelt: Spelt): { is: Delivery['outcome']; relays: readonly Relay[] } {
    const place = this.#places.get(actor.id) ?? -1;
    const id = `${actor.id} ${spelt.event.eventId}`;
    const applied = this.#remembersIds && spelt.isKeyed ? draft.applied.get(id) : undefined;
    if (applied !== undefined) return { is: applied === spelt.number ? 'duplicate' : 'refused', relays: [] };
    const { outcome, next, relays, effects } = actor.react(draft.tuple[place] ?? absent, spelt);
    if (outcome === 'refused') return { is: outcome, relays: [] };
    draft.tuple[place] = next;
    if (this.#remembersIds && spelt.isKeyed) draft.applied.set(id, spelt.number);
    draft.effects.push(...effects);
    return { is: outcome, relays };
  }

  /** A link names every actor that carries it and is not released, unless the relay is for those as well. */
  #addressees({ tuple }: Draft, { to }: Relay): readonly Actor[] {
    if ('id' in to) {
      const place = this.#places.get(to.id);
      return place === undefined ? [] : [this.actors[place] as Actor];
    }
    return this.actors.filter((actor, index) => {
      const { definition } = actor;
      const snapshot = actor.at(tuple[index] ?? absent);
      if (definition.kind !== to.kind || snapshot === null) return false;
      if (definition.links(snapshot)[to.link] !== to.value) return false;
      return to.alsoReleased === true || !definition.isReleased(snapshot);
    });
  }

  #numberOf(tuple: number[]): number {
    const key = tuple.join(',');
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#tuples.length);
    return this.#tuples.push(tuple) - 1;
  }
}

const refusal = (from: number): Called => ({ next: from, isRefused: true, deliveries: [], effects: [] });

const creators = {
  goal: 'goal.created',
  run: 'run.reserved',
  worktreeGeneration: 'generation.registered',
  executionScope: 'scope.requested',
  ptySession: 'session.opened',
  workerIncarnation: 'worker.requested',
  recoveryFence: 'fence.established',
} as const;
const creatorOf = (kind: keyof typeof creators) => creators[kind];
