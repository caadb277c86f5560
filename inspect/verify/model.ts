/**
 * What a configuration of the checker is made of. Records are what the daemon has committed; the truth is what the kernel
 * would say. The truth moves by itself, and words are only ever sightings of it, or lies. A word may be said at any moment
 * at which its sender could say it, as often as it likes and long after: that is loss, duplication, reordering, a crash
 * between an act and its record, and a restarted daemon, all at once.
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { Basis } from '../../machines/basis.ts';
import type { EventType, Payload } from '../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../machines/events/envelope.ts';
import type { ActorKind } from '../../machines/ids.ts';

/** One event for one actor of the cast. */
export interface Told {
  /** Id of the actor. */
  readonly to: string;
  readonly type: EventType;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly basis?: Basis;
}

export interface Member {
  readonly id: string;
  readonly kind: ActorKind;
  /** Payload of the event that creates it, already said; absent where a word of the configuration has to create it. */
  readonly input?: Readonly<Record<string, unknown>>;
}

/** Every actor by its id, null before it exists, and the effects that were ever committed, such as `openGate S1`. */
export interface Records {
  readonly actors: Readonly<Record<string, AnyMachineSnapshot | null>>;
  readonly outbox: ReadonlySet<string>;
}

/** What the protocol owes a word where the records stand so: written from its tables, not from the charts' guards. */
export type Due = 'accepted' | 'refused' | 'any';

export interface Word<Truth> {
  readonly name: string;
  /** Who says it, as a participant of the diagram. */
  readonly by: string;
  /** One call of the host, all of it or nothing; undefined where nobody could say it. Payloads may fit the records. */
  readonly call: (records: Records) => readonly Told[] | undefined;
  /** Truthful senders speak only when it is so; absent for what may be said at any time. */
  readonly when?: (truth: Truth) => boolean;
  readonly due?: Due | ((records: Records) => Due);
  /** It says nothing but that time has passed (TIME-02). */
  readonly isClock?: true;
}

export interface Move<Truth> {
  readonly name: string;
  readonly by: string;
  /** What the records have to permit: a spawn needs its committed effect. */
  readonly needs?: (records: Records) => boolean;
  readonly when: (truth: Truth) => boolean;
  readonly next: (truth: Truth) => Truth;
}

export interface Delivery {
  readonly to: string;
  readonly event: MachineEvent;
  readonly outcome: 'changed' | 'noop' | 'refused' | 'duplicate';
  /** The actor whose change this follows from; null for the word itself. */
  readonly from: string | null;
}

/** One call that changed something. */
export interface Step {
  readonly before: Records;
  readonly after: Records;
  readonly name: string;
  readonly isClock: boolean;
  readonly deliveries: readonly Delivery[];
  /** Effects that this call committed. */
  readonly effects: readonly string[];
}

/**
 * One invariant. `holds` and `keeps` judge records alone; `claims` says when the records claim something about the world,
 * and `belied` when the world is otherwise: apart, so that each is asked once of each half and never of every pair.
 */
export interface Invariant<Truth> {
  /** Of section D of the contract, or a word for what the tables of section C demand. */
  readonly id: string;
  readonly title: string;
  readonly holds?: (records: Records) => boolean;
  readonly keeps?: (step: Step) => boolean;
  readonly claims?: (records: Records) => boolean;
  readonly belied?: (truth: Truth) => boolean;
}

/** From every state in which `from` holds a state in which `to` holds can be reached without the moves named. */
export interface Prospect<Truth> {
  readonly id: string;
  readonly title: string;
  readonly from: (records: Records, truth: Truth) => boolean;
  readonly to: (records: Records, truth: Truth) => boolean;
  /** What a fair world does not do: names of moves and words. */
  readonly without: readonly string[];
}

export interface Configuration<Truth> {
  readonly name: string;
  readonly title: string;
  /** What is left out, in sentences: a bound that nobody reads about proves nothing. */
  readonly bounds: readonly string[];
  readonly cast: readonly Member[];
  readonly truth: Truth;
  readonly moves: readonly Move<Truth>[];
  readonly words: readonly Word<Truth>[];
  readonly invariants: readonly Invariant<Truth>[];
  readonly prospects?: readonly Prospect<Truth>[];
  /** Names of the words that have been said already, where what comes before is explored elsewhere. */
  readonly prologue?: readonly string[];
  /** Whether event ids are remembered, as the host does; without, a repeat is applied again, which is worse. */
  readonly remembersIds?: boolean;
  /** Parts of a context that no guard and no invariant here asks about; what is left tells situations apart. */
  readonly views?: Readonly<Partial<Record<ActorKind, (context: never) => unknown>>>;
  /** Records that are not gone beyond, where numbers only grow. */
  readonly isBeyond?: (records: Records) => boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: every configuration has a truth of its own
export type AnyConfiguration = Configuration<any>;

export const say = <Type extends EventType>(to: string, type: Type, payload: Payload<Type> | object): Told => ({
  to,
  type,
  payload: payload as Readonly<Record<string, unknown>>,
});
