/**
 * One submitted call: its events in order, all of them or none, each followed by its relays. A rejected event rolls the
 * whole call back; a rejected relay is recorded and nothing else (ruling 3).
 */
import type { ActorChange, Relay } from '../../machines/relays.ts';
import type { Moment } from '../../persistence/clock.ts';
import { StoreError } from '../../persistence/errors.ts';
import type { Store } from '../../persistence/store.ts';
import { type DeliveryTools, deliver } from './delivery.ts';
import type { Draft, Outcome } from './outcome.ts';
import { entryOf, type Invalid, keyedEventId, type Preparation, type Prepared, prepare } from './prepare.ts';
import type { WorkingSet } from './workingSet.ts';

export interface CallTools extends DeliveryTools {
  readonly preparation: Preparation;
  readonly relayDepth: number;
  readonly relaysPerCall: number;
}

export interface Call {
  readonly at: Moment;
  readonly events: ReadonlyArray<Prepared | Invalid>;
}

/** What to tell the caller: outcomes, or what only this call ran into: damaged pages, or a bug. */
export type CallResult = { readonly outcomes: readonly Outcome[] } | { readonly error: unknown };

class RolledBack extends Error {
  readonly outcomes: readonly Outcome[];

  constructor(outcomes: readonly Outcome[]) {
    super('a call was rolled back');
    this.outcomes = outcomes;
  }
}

/**
 * A call has to be taken back in part: the transaction is run again, with a savepoint for every call. A savepoint keeps a
 * copy of every page that is written in it, which costs more than the writing, and hardly any call needs it.
 */
export class SavepointNeeded extends Error {}

/** Runs inside the open write transaction. Throws when the whole transaction has to fail or to be run again. */
export function applyCall(tools: CallTools, set: WorkingSet, call: Call): CallResult {
  const mark = set.mark();
  let outcomes: readonly Outcome[];
  try {
    const apply = () => applyEvents(tools, set, call);
    outcomes = set.isCareful ? tools.store.savepoint(apply) : apply();
  } catch (thrown) {
    const hasWritten = set.mark().position > mark.position;
    set.rollBack(mark);
    if (thrown instanceof StoreError && thrown.code !== 'store_corrupt') throw thrown;
    // A refusal comes before the first row of its event; anything else may have left a part behind.
    if (!set.isCareful && (hasWritten || !(thrown instanceof RolledBack))) throw new SavepointNeeded();
    // Damage in one place, or a bug in one chart, must not keep everybody else from working (ruling 27).
    if (!(thrown instanceof RolledBack)) return failed(tools, thrown);
    outcomes = rolledBack(tools, set, { ...call, reached: thrown.outcomes });
  }
  recordRefusals(tools.store, call.at.wallMs, outcomes);
  return { outcomes };
}

function failed({ onFault }: CallTools, error: unknown): CallResult {
  if (!(error instanceof StoreError)) onFault({ code: 'machine_threw', error });
  return { error };
}

function applyEvents(tools: CallTools, set: WorkingSet, { at, events }: Call): Outcome[] {
  const outcomes: Outcome[] = [];
  const budget = { relays: tools.relaysPerCall };
  for (const event of events) {
    const { outcome, change } = deliver(tools, set, event);
    outcomes.push(outcome);
    if (change) deliverRelays(tools, set, { change, at, depth: 1, budget, outcomes: outcome.relays });
    if (outcome.outcome === 'rejected') throw new RolledBack(outcomes);
  }
  return outcomes;
}

interface RelayContext {
  readonly change: ActorChange;
  readonly at: Moment;
  readonly depth: number;
  readonly budget: { relays: number };
  /** Where the outcomes go. */
  readonly outcomes: Outcome[];
}

/** Only a change has consequences; the fact behind a noop has been passed on before. */
function deliverRelays(tools: CallTools, set: WorkingSet, context: RelayContext): void {
  const { change, at, depth, budget, outcomes } = context;
  for (const relay of tools.protocol.relaysOf(change)) {
    for (const actor of addressees(tools, relay.to)) {
      const event = prepareRelay(tools, { relay, actor, cause: change, at });
      if (depth > tools.relayDepth || budget.relays <= 0) {
        outcomes.push({ ...nameOf(event), outcome: 'rejected', version: 0, reason: 'relay_limit', relays: [] });
        continue;
      }
      budget.relays -= 1;
      const { outcome, change: next } = deliver(tools, set, event);
      outcomes.push(outcome);
      if (next) {
        deliverRelays(tools, set, { change: next, at, depth: depth + 1, budget, outcomes: outcome.relays });
      }
    }
  }
}

/** A link names every actor that carries it; those that are released have nothing left to do, unless the relay says so. */
function addressees({ store }: CallTools, to: Relay['to']): ReadonlyArray<{ kind: string; id: string }> {
  if ('id' in to) return [{ kind: to.kind, id: to.id }];
  const link = { kind: to.kind, name: to.link, value: to.value };
  const filter = to.alsoReleased ? {} : { released: false };
  const found: Array<{ kind: string; id: string }> = [];
  for (let after = 0; ; ) {
    const page = store.links.find(link, { ...filter, after, limit: 1_000 });
    found.push(...page.map(({ kind, id }) => ({ kind, id })));
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.key;
  }
}

interface RelayedEvent {
  readonly relay: Relay;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly cause: ActorChange;
  readonly at: Moment;
}

/** A fact that is passed on keeps its id (ruling 2); a fact of its own gets the catalogue's key. */
function prepareRelay({ preparation }: CallTools, { relay, actor, cause, at }: RelayedEvent): Prepared | Invalid {
  const causeId = cause.event.eventId;
  const { type, payload } = relay;
  const draft: Draft = {
    type,
    actor,
    producer: { kind: cause.kind, id: cause.id },
    payload,
    eventId: relay.eventId ?? relayedEventId(preparation, { relay, actorId: actor.id, causeId }),
    causationId: causeId,
  };
  return prepare(draft, at, preparation);
}

function relayedEventId(
  preparation: Preparation,
  { relay: { type, payload }, actorId, causeId }: { relay: Relay; actorId: string; causeId: string },
): string {
  const { installationId } = preparation;
  const entry = entryOf(preparation, type);
  return (entry && keyedEventId({ type, entry, payload, actorId, installationId })) ?? `${causeId}>${type}`.slice(-256);
}

const nameOf = (event: Prepared | Invalid): Pick<Outcome, 'actor' | 'eventId' | 'type'> => {
  const { actor, eventId, type } = event.valid ? event.envelope : event;
  return { actor, eventId, type };
};

/** What the call would have done did not happen; what had happened before it (duplicates) still has. */
function rolledBack(tools: CallTools, set: WorkingSet, call: Call & { reached: readonly Outcome[] }): Outcome[] {
  const { events, reached } = call;
  return events.map((event, index) => {
    const outcome = reached[index];
    if (outcome !== undefined && outcome.outcome !== 'changed' && outcome.outcome !== 'noop') return outcome;
    const name = nameOf(event);
    return {
      ...name,
      outcome: 'rejected',
      version: versionOf(tools, set, name),
      reason: 'call_rolled_back',
      relays: [],
    };
  });
}

function versionOf({ protocol }: CallTools, set: WorkingSet, { actor }: Pick<Outcome, 'actor'>): number {
  const definition = protocol.definitions[actor.kind];
  try {
    return (definition && set.load(definition, actor.id)?.version) ?? 0;
  } catch {
    return 0;
  }
}

function recordRefusals(store: Store, wallMs: number, outcomes: readonly Outcome[]): void {
  for (const one of outcomes) {
    const { outcome, relays } = one;
    if (outcome === 'rejected' || outcome === 'ignored_terminal') recordRefusal(store, wallMs, { ...one, outcome });
    if (relays.length > 0) recordRefusals(store, wallMs, relays);
  }
}

type Refused = Outcome & { readonly outcome: 'rejected' | 'ignored_terminal' };

function recordRefusal(store: Store, wallMs: number, refused: Refused): void {
  const { actor, eventId, type, outcome, reason = outcome, guards = [], detail = [] } = refused;
  if (reason === 'call_rolled_back') return;
  const names = [...guards, ...detail].slice(0, 16);
  store.rejections.insert({ wallMs, actor, eventId, type, outcome, reason, detail: names });
}
