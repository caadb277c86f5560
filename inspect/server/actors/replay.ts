/**
 * An actor as it was: its events are put through its machine again, from its creation on. A checkpoint of the journal may
 * have taken events of an actor that is over; behind the last one before the first hole nothing is known but the newest
 * snapshot, and that is what is said. A replay goes on from where it stands when more is committed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyMachineSnapshot } from 'xstate';
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import { sameJson } from '../../../machines/canonical.ts';
import { isEventType } from '../../../machines/events/catalogue.ts';
import { type MachineEvent, machineEvent } from '../../../machines/events/envelope.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { protocol } from '../../../machines/protocol.ts';
import { start, step, toPersisted } from '../../../machines/step.ts';
import type { Store } from '../../../persistence/store.ts';
import type { NewJournalRow } from '../../../persistence/tables/journal.ts';

export interface Moment {
  readonly position: number;
  readonly version: number;
  readonly outcome: string;
  readonly envelope: HostedEnvelope;
  readonly snapshot: AnyMachineSnapshot;
  /** Before the event; undefined at the creation. */
  readonly before: AnyMachineSnapshot | undefined;
}

export interface Replay {
  readonly kind: ActorKind;
  readonly id: string;
  /** From the creation on, as far as nothing is missing. */
  readonly moments: readonly Moment[];
  /** Why the rest cannot be told; undefined where all of it can. */
  readonly stopped: Stop | undefined;
  /** The actor as the store holds it, undefined where that cannot be read; and its newest event. */
  readonly head: AnyMachineSnapshot | undefined;
  readonly newest: Instant | undefined;
  /** Events that the newest version counts and the journal has no more. */
  readonly missing: number;
  /** Whether the last moment is exactly what the store holds. */
  readonly isProved: boolean;
}

/** A place in the journal, and the wall time of the event there. */
export interface Instant {
  readonly position: number;
  readonly wallMs: number;
}

/** From this position on the actor is not known; the time is that from which on it is not. */
export interface Stop extends Instant {
  readonly reason: string;
}

/** Events of one slice: each takes some 20 µs. */
const sliceEvents = 200;
/** What lies behind is not replayed: no actor of this program comes near it. */
const mostEventsReplayed = 20_000;

type Row = NewJournalRow & { readonly intact: boolean };
type Head = { readonly version: number; readonly snapshot: AnyMachineSnapshot };

export interface ReplayParts {
  readonly store: Pick<Store, 'actors' | 'journal'>;
  /** Undefined where there is none, or where its record cannot be trusted or is of a newer chart. */
  readonly headOf: (kind: ActorKind, id: string) => Head | undefined;
  readonly mostEvents?: number;
}

/** One actor's events, one after the other. */
export class Course {
  readonly #parts: ReplayParts;
  readonly #kind: ActorKind;
  readonly #id: string;
  readonly #key: number;
  readonly #moments: Moment[] = [];
  #stopped: Stop | undefined;
  #newest: Instant | undefined;
  /** Changes that are in the journal, whether they could be replayed or not. */
  #changes = 0;

  constructor(
    parts: ReplayParts,
    { kind, id, key }: { readonly kind: ActorKind; readonly id: string; readonly key: number },
  ) {
    this.#parts = parts;
    this.#kind = kind;
    this.#id = id;
    this.#key = key;
  }

  /** Events that are held in memory. */
  get length(): number {
    return this.#moments.length;
  }

  /** Takes what was journaled since it was last asked. Not to be called again before it has resolved. */
  async goOn(): Promise<Replay> {
    const { store, headOf } = this.#parts;
    for (;;) {
      const rows = store.journal.rowsOf(this.#key, this.#newest?.position ?? 0, sliceEvents);
      for (const row of rows) this.#take(row);
      // In the turn in which the journal had no more: head and newest event belong together.
      if (rows.length === 0) return this.#result(headOf(this.#kind, this.#id));
      await nextTurn();
    }
  }

  #take(row: Row): void {
    const { position, outcome, version } = row;
    const envelope = row.intact ? (JSON.parse(row.envelope) as HostedEnvelope) : undefined;
    const before = this.#moments.at(-1);
    this.#newest = { position, wallMs: envelope?.at.wallMs ?? this.#newest?.wallMs ?? 0 };
    if (outcome === 'changed') this.#changes += 1;
    if (this.#stopped !== undefined) return;
    const expected = (before?.version ?? 0) + (outcome === 'changed' ? 1 : 0);
    // Whether something is missing before a damaged row is not known either: its version may be anything.
    if (envelope === undefined) this.#stopBehind(before, `the event at position ${position} does not match its digest`);
    else if (version === expected) this.#replay(row, envelope);
    else {
      const gone = `${version - expected} event(s) before position ${position} are not in the journal`;
      // Which of the two it is, only the whole of the journal tells.
      this.#stopBehind(before, `${gone}; what no checkpoint has removed is lost, which custody doctor tells`);
    }
  }

  #replay({ position, outcome, version }: Row, envelope: HostedEnvelope): void {
    const { mostEvents = mostEventsReplayed } = this.#parts;
    const before = this.#moments.at(-1)?.snapshot;
    const moved =
      this.#moments.length >= mostEvents
        ? { reason: `no more than ${mostEvents} events of an actor are replayed` }
        : this.#moved(before, envelope);
    if ('reason' in moved) this.#stopped = { position, wallMs: envelope.at.wallMs, reason: moved.reason };
    else this.#moments.push({ position, version, outcome, envelope, snapshot: moved.snapshot, before });
  }

  /** Retention leaves the first and the last event of an actor: what it took came right behind the last one that is known. */
  #stopBehind(last: Moment | undefined, reason: string): void {
    const { position, wallMs } = last === undefined ? { position: 0, wallMs: 0 } : instantOf(last);
    this.#stopped = { position: position + 1, wallMs, reason };
  }

  #result(head: Head | undefined): Replay {
    const moments = [...this.#moments];
    const last = moments.at(-1);
    const missing = head === undefined ? 0 : Math.max(0, head.version - this.#changes);
    const isProved =
      this.#stopped === undefined &&
      head !== undefined &&
      last?.version === head.version &&
      isSame(this.#kind, last.snapshot, head.snapshot);
    const result = { kind: this.#kind, id: this.#id, moments, missing, isProved };
    return { ...result, stopped: this.#stopped, head: head?.snapshot, newest: this.#newest };
  }

  #moved(
    before: AnyMachineSnapshot | undefined,
    envelope: HostedEnvelope,
  ): { readonly snapshot: AnyMachineSnapshot } | { readonly reason: string } {
    const definition = protocol.definitions[this.#kind];
    const event: MachineEvent = machineEvent(envelope as Parameters<typeof machineEvent>[0]);
    if (!isEventType(event.type))
      return { reason: `this program knows no event ${JSON.stringify(event.type)}: it was written by a newer one` };
    try {
      if (before === undefined) return { snapshot: start(definition.machine, definition.inputOf(event)).snapshot };
      // What was journaled was accepted while the actor was active.
      const { change, snapshot } = step(definition.machine, before, event);
      return change === 'unmatched'
        ? { reason: 'the chart of this version takes no such event in that state: it was written by another one' }
        : { snapshot };
    } catch {
      return { reason: 'the chart of this version cannot take this event: it was written by another one' };
    }
  }
}

export const instantOf = ({ position, envelope }: Pick<Moment, 'position' | 'envelope'>): Instant => ({
  position,
  wallMs: envelope.at.wallMs,
});

function isSame(kind: ActorKind, one: AnyMachineSnapshot, other: AnyMachineSnapshot): boolean {
  const definition = protocol.definitions[kind];
  const [a, b] = [one, other].map((snapshot) => JSON.parse(JSON.stringify(toPersisted(definition, snapshot))));
  return sameJson(a, b);
}
