/**
 * A journal as it was really written, replayed through the shipped machines: each event once more does what it is recorded to
 * have done, and the invariants hold of what follows. Whatever cannot be replayed, because a checkpoint has removed a part
 * of it or a row is damaged, is counted and not judged. So the journal is read twice: an actor of which something is missing
 * later on says nothing about the others before that either.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { createdBy, type EventType, isEventType, typesWithBasis } from '../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../machines/events/envelope.ts';
import { type ActorKind, actorKinds } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { start, step } from '../../machines/step.ts';
import { commitInvariants, eventInvariants } from './journalInvariants.ts';
import type { Delivery, Invariant, Records, Step } from './model.ts';

export interface JournaledEvent {
  readonly position: number;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly eventId: string;
  readonly type: string;
  readonly outcome: 'changed' | 'noop';
  readonly version: number;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Null where there was none; undefined where the source does not tell. */
  readonly basis?: unknown;
  readonly causationId?: string | undefined;
  /** Equal for the events of one commit, and perhaps for those of the next. */
  readonly instant: string;
}

export interface JournalFinding {
  readonly position: number;
  readonly actor: string;
  readonly type: string;
  readonly invariant: string;
  readonly detail: string;
}

export interface JournalReport {
  readonly format: 'custody-verify-journal/1';
  readonly events: number;
  readonly replayed: number;
  readonly actors: number;
  /** Events of actors whose history is not whole, or whose row is damaged. */
  readonly unreplayable: number;
  /** Rows that do not match their digest. */
  readonly damaged: number;
  readonly commits: number;
  readonly invariants: ReadonlyArray<{ readonly id: string; readonly title: string }>;
  readonly findings: readonly JournalFinding[];
}

/** The first reading: of whom everything is there. */
export class Wholeness {
  readonly #versions = new Map<string, number>();
  readonly #cut = new Set<string>();

  damaged(actor: JournaledEvent['actor']): void {
    this.#cut.add(keyOf(actor));
  }

  note({ actor, version, outcome }: Pick<JournaledEvent, 'actor' | 'version' | 'outcome'>): void {
    const key = keyOf(actor);
    const expected = (this.#versions.get(key) ?? 0) + (outcome === 'changed' ? 1 : 0);
    if (version !== expected) this.#cut.add(key);
    this.#versions.set(key, version);
  }

  has(key: string): boolean {
    return !this.#cut.has(key);
  }
}

const keyOf = ({ kind, id }: JournaledEvent['actor']): string => `${kind} ${id}`;

interface Held {
  readonly kind: ActorKind;
  readonly id: string;
  snapshot: AnyMachineSnapshot;
  version: number;
}

const mostFindings = 100;

export class JournalCheck {
  readonly #whole: Pick<Wholeness, 'has'>;
  readonly #actors = new Map<string, Held>();
  /** Ids by what they link to, so that who belongs together is found. */
  readonly #linkedTo = new Map<string, Set<string>>();
  readonly #lost = new Set<string>();
  readonly #findings: JournalFinding[] = [];
  readonly #before = new Map<string, AnyMachineSnapshot | null>();
  #deliveries: Delivery[] = [];
  #effects: string[] = [];
  #instant = '';
  #last: JournaledEvent | undefined;
  #events = 0;
  #replayed = 0;
  #unreplayable = 0;
  #commits = 0;
  #damaged = 0;

  constructor(whole: Pick<Wholeness, 'has'>) {
    this.#whole = whole;
  }

  /** A row that cannot be read: of its actor nothing more can be said. */
  damaged(actor: JournaledEvent['actor']): void {
    this.#events += 1;
    this.#damaged += 1;
    this.#lose(keyOf(actor));
  }

  take(event: JournaledEvent): void {
    if (event.instant !== this.#instant && event.causationId === undefined) this.#commit();
    this.#instant = event.instant;
    this.#events += 1;
    this.#last = event;
    const { kind } = event.actor;
    const key = keyOf(event.actor);
    const isKnown = (actorKinds as readonly string[]).includes(kind) && isEventType(event.type);
    const held = this.#actors.get(key);
    const creates = isKnown && createdBy(event.type as EventType) === kind;
    if (
      !isKnown ||
      isCutShort(event) ||
      this.#lost.has(key) ||
      (held === undefined && !creates) ||
      isAhead(held, event)
    ) {
      this.#lose(key);
      return;
    }
    this.#replay(key, event, held);
  }

  end(): JournalReport {
    this.#commit();
    const invariants = [...commitInvariants, ...eventInvariants].map(({ id, title }) => ({ id, title }));
    return {
      ...{ format: 'custody-verify-journal/1', events: this.#events, replayed: this.#replayed },
      ...{ actors: this.#actors.size, unreplayable: this.#unreplayable, damaged: this.#damaged },
      commits: this.#commits,
      ...{ invariants: [replayLaw, ...invariants], findings: this.#findings },
    };
  }

  #lose(key: string): void {
    this.#unreplayable += 1;
    this.#lost.add(key);
    this.#actors.delete(key);
  }

  #replay(key: string, event: JournaledEvent, held: Held | undefined): void {
    const { kind, id } = event.actor;
    const definition = definitions[kind as ActorKind];
    const said = {
      ...event.payload,
      ...(event.basis ? { basis: event.basis } : {}),
      type: event.type,
      eventId: event.eventId,
    };
    const before = held?.snapshot ?? null;
    let change: string;
    let effects: ReadonlyArray<{ readonly type: string; readonly params: { readonly scopeId: string } }>;
    let after: AnyMachineSnapshot;
    try {
      const taken =
        before === null
          ? { ...start(definition.machine, definition.inputOf(said)), change: 'changed' as const }
          : step(definition.machine, before, said);
      ({ effects, change, snapshot: after } = taken);
    } catch (thrown) {
      this.#find(event, replayLaw, thrown instanceof Error ? thrown.message : String(thrown));
      this.#lose(key);
      return;
    }
    this.#replayed += 1;
    const version = (held?.version ?? 0) + (change === 'changed' ? 1 : 0);
    if (change !== event.outcome || version !== event.version) {
      const recorded = `${event.outcome}, version ${event.version}`;
      this.#find(event, replayLaw, `recorded as ${recorded}; the chart says ${change}, version ${version}`);
      this.#lose(key);
      return;
    }
    if (!this.#before.has(id)) this.#before.set(id, before);
    if (held === undefined) this.#actors.set(key, { kind: kind as ActorKind, id, snapshot: after, version });
    else Object.assign(held, { snapshot: after, version });
    for (const target of Object.values(definition.links(after))) this.#link(target, key);
    this.#judgeEvent(event, {
      before,
      after,
      effects: effects.map(({ type, params }) => `${type} ${params.scopeId}`),
      said,
    });
  }

  #link(target: string, key: string): void {
    const keys = this.#linkedTo.get(target) ?? new Set<string>();
    keys.add(key);
    this.#linkedTo.set(target, keys);
  }

  #judgeEvent(event: JournaledEvent, done: Done): void {
    const { id } = event.actor;
    const delivery: Delivery = {
      ...{ to: id, event: done.said, outcome: event.outcome },
      from: event.causationId === undefined ? null : 'relay',
    };
    this.#deliveries.push(delivery);
    this.#effects.push(...done.effects);
    const lone = (snapshot: AnyMachineSnapshot | null): Records => ({ actors: { [id]: snapshot }, outbox: new Set() });
    const own: Step = {
      ...{ before: lone(done.before), after: lone(done.after), name: event.type, isClock: isClock(event.type) },
      ...{ deliveries: [delivery], effects: done.effects },
    };
    for (const invariant of eventInvariants)
      if (invariant.keeps?.(own) === false) this.#find(event, invariant, `broken by ${event.type}`);
  }

  /** What several actors have to know of each other is asked once their commit is complete. */
  #commit(): void {
    if (this.#before.size === 0) return;
    this.#commits += 1;
    const near = this.#neighbourhood();
    const after: Records = {
      actors: Object.fromEntries(near.map((held) => [held.id, held.snapshot])),
      outbox: new Set(),
    };
    const actors = Object.fromEntries(
      near.map((held) => [held.id, this.#before.has(held.id) ? (this.#before.get(held.id) ?? null) : held.snapshot]),
    );
    const joint: Step = {
      ...{ before: { actors, outbox: new Set<string>() }, after, name: '', isClock: false },
      ...{ deliveries: this.#deliveries, effects: this.#effects },
    };
    for (const invariant of commitInvariants) {
      const isKept = invariant.holds?.(after) !== false && invariant.keeps?.(joint) !== false;
      if (!isKept && this.#last !== undefined) this.#find(this.#last, invariant, 'broken after this commit');
    }
    this.#before.clear();
    this.#deliveries = [];
    this.#effects = [];
  }

  #neighbourhood(): readonly Held[] {
    const keys = new Set<string>();
    for (const held of this.#actors.values()) if (this.#before.has(held.id)) keys.add(`${held.kind} ${held.id}`);
    const targets = [...keys].flatMap((key) => {
      const held = this.#actors.get(key);
      return held === undefined ? [] : [held.id, ...Object.values(definitions[held.kind].links(held.snapshot))];
    });
    for (const target of targets) {
      for (const key of this.#linkedTo.get(target) ?? []) keys.add(key);
      for (const kind of actorKinds) keys.add(`${kind} ${target}`);
    }
    return [...keys].filter((key) => this.#whole.has(key)).flatMap((key) => this.#actors.get(key) ?? []);
  }

  #find(
    { position, actor, type }: JournaledEvent,
    { id, title }: Pick<Invariant<never>, 'id' | 'title'>,
    detail: string,
  ): void {
    if (this.#findings.length >= mostFindings) return;
    this.#findings.push({
      position,
      actor: `${actor.kind} ${actor.id}`,
      type,
      invariant: id,
      detail: `${title}: ${detail}`,
    });
  }
}

interface Done {
  readonly before: AnyMachineSnapshot | null;
  readonly after: AnyMachineSnapshot;
  readonly effects: readonly string[];
  readonly said: MachineEvent;
}

const replayLaw = { id: 'JRN-05', title: 'an event does once more what it is recorded to have done' };

/** A listing leaves out what a worker believed, and without that its event means nothing (OCC-02). */
const isCutShort = ({ type, basis }: JournaledEvent): boolean =>
  basis === undefined && typesWithBasis.has(type as EventType);

/** Events of its own are missing between the one that was replayed last and this one. */
const isAhead = (held: Held | undefined, event: JournaledEvent): boolean =>
  event.version > (held?.version ?? 0) + 1 || (held !== undefined && event.version < held.version);

const isClock = (type: string): boolean => type === 'deadline.reached' || type === 'drain.budgetExhausted';
