/**
 * An actor as it was: its events are put through its machine again, from its creation on. A checkpoint of the journal may
 * have taken events of an actor that is over; behind the first of them nothing is known but the newest snapshot, and that is
 * what is said.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnyMachineSnapshot } from 'xstate';
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import { sameJson } from '../../../machines/canonical.ts';
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
  readonly stopped: { readonly position: number; readonly reason: string } | undefined;
  /** Events that the newest version counts and the journal has no more. */
  readonly missing: number;
  /** Whether the last moment is exactly what the store holds. */
  readonly isProved: boolean;
}

/** Events of one slice: each takes some 20 µs. */
const sliceEvents = 200;
/** What lies behind is not replayed: no actor of this program comes near it. */
const mostEvents = 20_000;

type Row = NewJournalRow & { readonly intact: boolean };
type Head = { readonly version: number; readonly snapshot: AnyMachineSnapshot };

export interface ReplayParts {
  readonly store: Pick<Store, 'actors' | 'journal'>;
  readonly headOf: (kind: ActorKind, id: string) => Head | undefined;
}

/** Undefined where there is no such actor. */
export async function replay(parts: ReplayParts, kind: ActorKind, id: string): Promise<Replay | undefined> {
  const { store } = parts;
  const key = store.actors.keyOf({ kind, id });
  if (key === undefined) return undefined;
  const course = new Course(kind);
  for (let after = 0; ; ) {
    const rows = store.journal.rowsOf(key, after, sliceEvents);
    for (const row of rows) course.take(row);
    const last = rows.at(-1);
    if (last === undefined || course.moments.length >= mostEvents) break;
    after = last.position;
    await nextTurn();
  }
  const head = parts.headOf(kind, id);
  return { kind, id, ...course.result(head) };
}

/** One actor's events, one after the other. */
class Course {
  readonly moments: Moment[] = [];
  readonly #kind: ActorKind;
  #stopped: Replay['stopped'];
  /** Changes that are in the journal, whether they could be replayed or not. */
  #changes = 0;

  constructor(kind: ActorKind) {
    this.#kind = kind;
  }

  take(row: Row): void {
    if (row.outcome === 'changed') this.#changes += 1;
    if (this.#stopped !== undefined) return;
    const { position } = row;
    if (!row.intact) {
      this.#stopped = { position, reason: 'the row of this event does not match its digest' };
      return;
    }
    const envelope = JSON.parse(row.envelope) as HostedEnvelope;
    const before = this.moments.at(-1);
    const expected = (before?.version ?? 0) + (row.outcome === 'changed' ? 1 : 0);
    if (row.version !== expected) {
      const gone = row.version - expected;
      this.#stopped = { position, reason: `a checkpoint of the journal has removed ${gone} event(s) before this one` };
      return;
    }
    const moved = this.#moved(before?.snapshot, envelope);
    if ('reason' in moved) this.#stopped = { position, reason: moved.reason };
    else {
      const { outcome, version } = row;
      this.moments.push({ position, version, outcome, envelope, snapshot: moved.snapshot, before: before?.snapshot });
    }
  }

  result(head: Head | undefined): Omit<Replay, 'kind' | 'id'> {
    const last = this.moments.at(-1);
    const isProved =
      this.#stopped === undefined &&
      head !== undefined &&
      last?.version === head.version &&
      isSame(this.#kind, last.snapshot, head.snapshot);
    const missing = head === undefined ? 0 : Math.max(0, head.version - this.#changes);
    return { moments: this.moments, stopped: this.#stopped, missing, isProved };
  }

  #moved(
    before: AnyMachineSnapshot | undefined,
    envelope: HostedEnvelope,
  ): { readonly snapshot: AnyMachineSnapshot } | { readonly reason: string } {
    const definition = protocol.definitions[this.#kind];
    const event: MachineEvent = machineEvent(envelope as Parameters<typeof machineEvent>[0]);
    try {
      if (before === undefined) return { snapshot: start(definition.machine, definition.inputOf(event)).snapshot };
      // What was journaled was accepted while the actor was active.
      const { change, snapshot } = step(definition.machine, before, event);
      return change === 'unmatched'
        ? { reason: 'the chart of this version takes no such event in that state: it was written by an older one' }
        : { snapshot };
    } catch {
      return { reason: 'the chart of this version cannot take this event: it was written by an older one' };
    }
  }
}

function isSame(kind: ActorKind, one: AnyMachineSnapshot, other: AnyMachineSnapshot): boolean {
  const definition = protocol.definitions[kind];
  const [a, b] = [one, other].map((snapshot) => JSON.parse(JSON.stringify(toPersisted(definition, snapshot))));
  return sameJson(a, b);
}
