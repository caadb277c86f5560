/**
 * The actors of a configuration, each as a number: a snapshot that stands for all that behave alike. What an event does to
 * a snapshot is worked out once, by the very functions that the daemon uses.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { canonicalJson } from '../../machines/canonical.ts';
import type { ActorDefinition } from '../../machines/definition.ts';
import { createdBy, type EventType } from '../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../machines/events/envelope.ts';
import { protocol } from '../../machines/protocol.ts';
import type { Relay } from '../../machines/relays.ts';
import { start, step } from '../../machines/step.ts';
import type { Charts } from './charts.ts';
import type { AnyConfiguration, Told } from './model.ts';

/** An event as one actor gets it. Equal events have one number. */
export interface Spelt {
  readonly number: number;
  readonly event: MachineEvent;
  /** Whether its id follows from the fact, so that a repeat is recognised. */
  readonly isKeyed: boolean;
}

export interface Reaction {
  readonly outcome: 'changed' | 'noop' | 'refused';
  readonly next: number;
  readonly relays: readonly Relay[];
  readonly effects: readonly string[];
}

export const absent = 0;

export class Actor {
  readonly id: string;
  readonly definition: ActorDefinition;
  readonly #relaysOf: Charts['relaysOf'];
  readonly #view: (context: never) => unknown;
  readonly #snapshots: Array<AnyMachineSnapshot | null> = [null];
  readonly #numbers = new Map<string, number>();
  /** By the number of the snapshot, then by that of the event. */
  readonly #reactions: Array<Map<number, Reaction>> = [];

  constructor(member: AnyConfiguration['cast'][number], charts: Charts, views: AnyConfiguration['views'] = {}) {
    this.id = member.id;
    this.definition = charts.definitions[member.kind];
    this.#relaysOf = charts.relaysOf;
    this.#view = views[member.kind] ?? ((context) => context);
  }

  at(number: number): AnyMachineSnapshot | null {
    return this.#snapshots[number] ?? null;
  }

  get count(): number {
    return this.#snapshots.length - 1;
  }

  react(from: number, spelt: Spelt): Reaction {
    this.#reactions[from] ??= new Map();
    const reactions = this.#reactions[from];
    const known = reactions.get(spelt.number);
    if (known !== undefined) return known;
    const reaction = this.#reaction(from, this.#dated(from, spelt.event));
    reactions.set(spelt.number, reaction);
    return reaction;
  }

  /** A Goal counts an event once, by its id: what has no key of its own is another event each time. */
  #dated(from: number, event: MachineEvent): MachineEvent {
    const last = (this.at(from)?.context as { revisedBy?: unknown } | undefined)?.revisedBy;
    return last === event.eventId ? { ...event, eventId: `${event.eventId}'` } : event;
  }

  #reaction(from: number, event: MachineEvent): Reaction {
    const { machine, kind } = this.definition;
    const before = this.at(from);
    const refused: Reaction = { outcome: 'refused', next: from, relays: [], effects: [] };
    const creates = createdBy(event.type as EventType) === kind;
    if (creates !== (before === null)) return refused;
    const taken =
      before === null
        ? { ...start(machine, this.definition.inputOf(event)), change: 'changed' as const }
        : step(machine, before, event);
    if (taken.change === 'unmatched') return refused;
    const next = this.#numberOf(taken.snapshot);
    const change = { kind, id: this.id, before, after: taken.snapshot, event };
    return {
      outcome: taken.change,
      next,
      relays: taken.change === 'changed' ? this.#relaysOf(change) : [],
      effects: taken.effects.map(({ type, params }) => `${type} ${params.scopeId}`),
    };
  }

  #numberOf(snapshot: AnyMachineSnapshot): number {
    const key = canonicalJson([snapshot.value, this.#view(snapshot.context as never)]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#snapshots.push(snapshot) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** What a word or a relay says to one actor. */
export type Sayable = Omit<Told, 'to'> & { readonly eventId?: string };

const validatedOfAType = 200;

/** Numbers events, and lets none pass that the host would not take. */
export class Spelling {
  readonly #numbers = new Map<string, Spelt>();
  readonly #known = new WeakMap<object, Map<string, Spelt>>();
  readonly #validated = new Map<string, number>();

  /** Words and relays are the same objects each time, so each is spelt once for an actor. */
  spell(actor: Actor, said: Sayable): Spelt {
    let known = this.#known.get(said);
    if (known === undefined) {
      known = new Map();
      this.#known.set(said, known);
    }
    const spelt = known.get(actor.id) ?? this.#spelt(actor, said);
    known.set(actor.id, spelt);
    return spelt;
  }

  /** A fact that is passed on keeps its id, others get the catalogue's key, and what has none is new each time (ruling 2). */
  #spelt(actor: Actor, said: Sayable): Spelt {
    const { type, payload, basis } = said;
    const key = said.eventId ?? protocol.catalogue[type].idempotencyKey(payload, actor.id);
    const eventId = key ?? `${type} of ${actor.id}`;
    const event = basis === undefined ? { ...payload, type, eventId } : { ...payload, basis, type, eventId };
    const text = canonicalJson([actor.id, event]);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#validate(actor, said);
    const spelt = { number: this.#numbers.size, event, isKeyed: key !== undefined };
    this.#numbers.set(text, spelt);
    return spelt;
  }

  /** Payloads that differ in a number alone have the same shape; asking about each would take longer than the rest. */
  #validate(actor: Actor, { type, payload }: Sayable): void {
    const asked = this.#validated.get(type) ?? 0;
    if (asked >= validatedOfAType) return;
    this.#validated.set(type, asked + 1);
    const { payload: schema, actors } = protocol.catalogue[type];
    if (!actors.includes(actor.definition.kind)) throw new Error(`${actor.id} does not take ${type}`);
    const verdict = schema.safeParse(payload);
    if (!verdict.success) throw new Error(`the payload of ${type} would not be taken: ${verdict.error.message}`);
  }
}
