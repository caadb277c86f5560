/**
 * One submitted call: its events in order in one savepoint, each followed by its relays. A rejected event rolls the whole
 * call back; a rejected relay is recorded and nothing else (ruling 3).
 */
import { type Envelope, machineEvent } from '../../machines/events/envelope.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { Relay } from '../../machines/relays.ts';
import type { Moment } from '../../persistence/clock.ts';
import { StoreError } from '../../persistence/errors.ts';
import type { Store } from '../../persistence/store.ts';
import { type DeliveryTools, deliver } from './delivery.ts';
import type { CommitRecord, Draft, Outcome } from './outcome.ts';
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

/** Runs inside the open write transaction. Throws when the whole transaction has to fail. */
export function applyCall(tools: CallTools, set: WorkingSet, call: Call): CallResult {
  const mark = set.mark();
  let outcomes: readonly Outcome[];
  try {
    outcomes = tools.store.savepoint(() => applyEvents(tools, set, call));
  } catch (thrown) {
    set.rollBack(mark);
    if (thrown instanceof StoreError && thrown.code !== 'store_corrupt') throw thrown;
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
    const { outcome, record } = deliver(tools, set, event);
    const relays = record ? deliverRelays(tools, set, { record, at, depth: 1, budget }) : [];
    outcomes.push({ ...outcome, relays });
    if (outcome.outcome === 'rejected') throw new RolledBack(outcomes);
  }
  return outcomes;
}

interface RelayContext {
  readonly record: CommitRecord;
  readonly at: Moment;
  readonly depth: number;
  readonly budget: { relays: number };
}

function deliverRelays(tools: CallTools, set: WorkingSet, context: RelayContext): Outcome[] {
  const { record, at, depth, budget } = context;
  const outcomes: Outcome[] = [];
  for (const relay of relaysOf(tools, record)) {
    for (const actor of addressees(tools, relay.to)) {
      const event = prepareRelay(tools, { relay, actor, record, at });
      if (depth > tools.relayDepth || budget.relays <= 0) {
        outcomes.push({ ...nameOf(event), outcome: 'rejected', version: 0, reason: 'relay_limit', relays: [] });
        continue;
      }
      budget.relays -= 1;
      const delivered = deliver(tools, set, event);
      const next = delivered.record;
      const relays = next ? deliverRelays(tools, set, { record: next, at, depth: depth + 1, budget }) : [];
      outcomes.push({ ...delivered.outcome, relays });
    }
  }
  return outcomes;
}

/** Only a change has consequences; the fact behind a noop has been passed on before. */
function relaysOf({ protocol }: CallTools, record: CommitRecord): readonly Relay[] {
  if (record.outcome !== 'changed') return [];
  const { actor, before, after, envelope } = record;
  const event = machineEvent(envelope as Pick<Envelope, 'type' | 'eventId' | 'payload' | 'basis'>);
  return protocol.relaysOf({ kind: actor.kind as ActorKind, id: actor.id, before: before ?? null, after, event });
}

/** A link names every actor that carries it and is not released; the others have nothing left to do. */
function addressees({ store }: CallTools, to: Relay['to']): ReadonlyArray<{ kind: string; id: string }> {
  if ('id' in to) return [{ kind: to.kind, id: to.id }];
  const link = { kind: to.kind, name: to.link, value: to.value };
  const found: Array<{ kind: string; id: string }> = [];
  for (let after = 0; ; ) {
    const page = store.links.find(link, { released: false, after, limit: 1_000 });
    found.push(...page.map(({ kind, id }) => ({ kind, id })));
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.key;
  }
}

interface RelayedEvent {
  readonly relay: Relay;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly record: CommitRecord;
  readonly at: Moment;
}

/** A fact that is passed on keeps its id (ruling 2); a fact of its own gets the catalogue's key. */
function prepareRelay({ preparation }: CallTools, { relay, actor, record, at }: RelayedEvent): Prepared | Invalid {
  const cause = record.envelope;
  const { type, payload } = relay;
  const draft: Draft = {
    type,
    actor,
    producer: record.actor,
    payload,
    eventId: relay.eventId ?? relayedEventId(preparation, { relay, actorId: actor.id, causeId: cause.eventId }),
    causationId: cause.eventId,
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
  for (const { actor, eventId, type, outcome, reason, guards, detail, relays } of outcomes) {
    if ((outcome === 'rejected' && reason !== 'call_rolled_back') || outcome === 'ignored_terminal') {
      const names = [...(guards ?? []), ...(detail ?? [])].slice(0, 16);
      store.rejections.insert({ wallMs, actor, eventId, type, outcome, reason: reason ?? outcome, detail: names });
    }
    recordRefusals(store, wallMs, relays);
  }
}
