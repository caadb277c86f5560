/**
 * Applies one prepared event to one actor inside the open transaction (K2). Everything that can refuse the event is asked
 * before the first row is written; what only the tables can refuse (a stale version, a binding that may not be) comes
 * before everything else.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { type Effect, effectPolicies } from '../../machines/effects.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { whyRejected } from '../../machines/rejection.ts';
import type { ActorChange } from '../../machines/relays.ts';
import { start, step, toPersisted } from '../../machines/step.ts';
import { isExpired } from '../../persistence/checkpoint/eventIds.ts';
import type { Store } from '../../persistence/store.ts';
import { BindingConflictError } from '../../persistence/tables/bindings.ts';
import type { NewEffectRow } from '../../persistence/tables/outbox.ts';
import type { Failpoint } from './failpoint.ts';
import { type Fault, HostError } from './hostError.ts';
import type { Loaded } from './loader.ts';
import type { HostReason, Outcome } from './outcome.ts';
import type { Invalid, Prepared } from './prepare.ts';
import type { HostedDefinition, Protocol } from './protocol.ts';
import type { WorkingSet } from './workingSet.ts';

export interface DeliveryTools {
  readonly store: Store;
  readonly protocol: Protocol;
  readonly onFault: (fault: Fault) => void;
  readonly failpoint: (point: Failpoint, type?: string) => void;
}

/** What became of the event, and the change that relays follow from, if there was one. */
export interface Delivered {
  readonly outcome: Outcome & { readonly relays: Outcome[] };
  readonly change?: ActorChange | undefined;
}

interface Target {
  readonly prepared: Prepared;
  readonly definition: HostedDefinition;
  readonly before: Loaded | undefined;
}

interface Proposal {
  readonly outcome: 'changed' | 'noop';
  readonly snapshot: AnyMachineSnapshot;
  readonly version: number;
  readonly effects: readonly Effect[];
}

interface Refusal {
  readonly outcome: 'rejected' | 'duplicate' | 'ignored_terminal';
  readonly fields: Partial<Pick<Outcome, 'reason' | 'guards' | 'stored' | 'position' | 'version'>>;
}

export function deliver(tools: DeliveryTools, set: WorkingSet, prepared: Prepared | Invalid): Delivered {
  if (!prepared.valid) {
    const { actor, eventId, type, detail } = prepared;
    const reason = 'invalid_event';
    return { outcome: { actor, eventId, type, version: 0, outcome: 'rejected', reason, detail, relays: [] } };
  }
  const { actor, eventId, type } = prepared.envelope;
  const definition = tools.protocol.definitions[actor.kind];
  let before: Loaded | undefined;
  const refused = ({ outcome, fields }: Refusal): Delivered => ({
    outcome: { actor, eventId, type, version: before?.version ?? 0, outcome, ...fields, relays: [] },
  });
  if (definition === undefined) return refused(rejected('unknown_actor'));
  try {
    before = set.load(definition, actor.id);
  } catch (thrown) {
    if (thrown instanceof HostError) return refused(rejected(thrown.code as HostReason));
    throw thrown;
  }
  const target: Target = { prepared, definition, before };
  const verdict = decide(tools, target);
  if ('fields' in verdict) return refused(verdict);
  try {
    return write(tools, set, { target, proposal: verdict });
  } catch (thrown) {
    if (thrown instanceof BindingConflictError) return refused(rejected('binding_conflict'));
    if (!(thrown instanceof VersionConflict)) throw thrown;
    // Somebody else has written the row: what is in memory is worth nothing.
    set.forget(actor);
    return refused(rejected('version_conflict'));
  }
}

const rejected = (reason: HostReason, fields: Refusal['fields'] = {}): Refusal => ({
  outcome: 'rejected',
  fields: { ...fields, reason },
});

/** Everything that needs no write. */
function decide(tools: DeliveryTools, target: Target): Proposal | Refusal {
  const { prepared, definition, before } = target;
  const { envelope, payloadDigest } = prepared;
  if (before !== undefined) {
    const known = tools.store.dedup.find(envelope.eventId, before.key);
    if (known !== undefined) {
      const { version, position, outcome: stored } = known;
      if (known.payloadDigest !== payloadDigest) return rejected('event_id_conflict', { position });
      return { outcome: 'duplicate', fields: { version, position, stored } };
    }
  }
  // Nobody knows any more whether it was applied, and it cannot be new (RET-03).
  if (isExpired(tools.store, envelope.eventId)) return rejected('expired_event_id');
  const creates = prepared.creates === definition.kind;
  if (creates && before !== undefined) return rejected('actor_exists');
  if (!creates && before === undefined) return rejected('unknown_actor');
  const { expectedVersion, payload } = envelope;
  if (expectedVersion !== undefined && expectedVersion !== (before?.version ?? 0)) {
    // A sample that was taken against another version authorises nothing (CONC-03).
    return rejected('basisVersion' in payload ? 'stale_sample' : 'version_conflict');
  }
  try {
    return propose(target);
  } catch (error) {
    const { actor, type } = envelope;
    tools.onFault({ code: 'machine_threw', actor, type, error });
    return rejected('machine_threw');
  }
}

function propose({ prepared: { event }, definition, before }: Target): Proposal | Refusal {
  if (before === undefined) {
    return { outcome: 'changed', version: 1, ...start(definition.machine, definition.inputOf(event)) };
  }
  const { snapshot, version } = before;
  // XState's pure transition still runs the root's handlers of a finished machine (JRN-12).
  if (snapshot.status !== 'active') return { outcome: 'ignored_terminal', fields: { reason: 'terminal' } };
  const result = step(definition.machine, snapshot, event);
  if (result.change === 'unmatched') {
    return { outcome: 'rejected', fields: whyRejected(definition.machine, snapshot, event) };
  }
  if (result.change === 'noop') return { outcome: 'noop', snapshot, version, effects: [] };
  return { outcome: 'changed', snapshot: result.snapshot, version: version + 1, effects: result.effects };
}

class VersionConflict extends Error {}

interface Accepted {
  readonly target: Target;
  readonly proposal: Proposal;
}

interface Changed extends Accepted {
  readonly change: ActorChange;
}

function write(tools: DeliveryTools, set: WorkingSet, accepted: Accepted): Delivered {
  const { store, failpoint } = tools;
  const { before, prepared } = accepted.target;
  const { outcome, version, snapshot, effects } = accepted.proposal;
  const { envelope, text, payloadDigest } = prepared;
  const { actor, eventId, type } = envelope;
  const change = outcome === 'changed' ? changeOf(accepted) : undefined;
  const loaded = change === undefined ? (before as Loaded) : writeActor(tools, set, { ...accepted, change });
  const position = set.nextPosition();
  store.journal.insert({ position, actorKey: loaded.key, eventId, type, outcome, version, envelope: text });
  failpoint('after_journal_insert', type);
  if (isOver(loaded.traits) && !(before !== undefined && isOver(before.traits))) {
    store.endings.record(loaded.key, position);
  }
  store.dedup.insert(eventId, loaded.key, { payloadDigest, outcome, version, position });
  if (effects.length > 0) {
    for (const row of effectRows(store, { position, actorKey: loaded.key, effects })) {
      store.outbox.insert(row);
      set.addEffect(row, actor);
    }
  }
  if (change !== undefined) {
    writeLinks(store, loaded, before?.links ?? {});
    set.put(loaded);
  }
  set.addRecord({ position, actor, envelope, outcome, version, before: before?.snapshot, after: snapshot });
  return { outcome: { actor, eventId, type, outcome, version, position, relays: [] }, change };
}

const isOver = ({ settled, released }: Loaded['traits']): boolean => settled && released;

function writeActor({ store, protocol }: DeliveryTools, set: WorkingSet, changed: Changed): Loaded {
  const { definition, before, prepared } = changed.target;
  const { snapshot, version } = changed.proposal;
  const { kind, id } = prepared.envelope.actor;
  const traits = {
    definitionVersion: definition.version,
    structuralHash: definition.structuralHash,
    settled: definition.isSettled(snapshot),
    released: definition.isReleased(snapshot),
  };
  const row = { kind, id, version, snapshot: JSON.stringify(toPersisted(definition, snapshot)), ...traits };
  const binding = protocol.bindingOf?.(changed.change);
  const writeRows = (): number => {
    if (before === undefined) return inserted(store.actors.insert(row, set.keysFor(row)));
    if (!store.actors.update({ ...row, key: before.key }, before.traits)) throw new VersionConflict();
    if (binding !== undefined) bind(store, before.key, { ...binding, eventId: prepared.envelope.eventId });
    return before.key;
  };
  // Two writes that may be refused: a relay that fails between them must not leave the first behind.
  const key = binding === undefined ? writeRows() : store.savepoint(writeRows);
  return { kind, id, key, version, snapshot, links: definition.links(snapshot), traits };
}

/** There is a row already, of which nothing was known here. */
function inserted(key: number | undefined): number {
  if (key === undefined) throw new VersionConflict();
  return key;
}

function changeOf({ target: { definition, before, prepared }, proposal: { snapshot } }: Accepted): ActorChange {
  const { id } = prepared.envelope.actor;
  return {
    kind: definition.kind as ActorKind,
    id,
    before: before?.snapshot ?? null,
    after: snapshot,
    event: prepared.event,
  };
}

/** A generation's binding to a run that the same call may have reserved a moment ago (BIND-01). */
function bind(store: Store, generationKey: number, binding: { runId: string; epoch: number; eventId: string }): void {
  const { runId, epoch, eventId } = binding;
  const runKey = store.actors.keyOf({ kind: 'run', id: runId });
  if (runKey === undefined) throw new BindingConflictError(`there is no run ${runId} to bind`);
  store.bindings.insert({ runKey, generationKey, epoch, eventId });
}

function writeLinks(store: Store, { kind, key, links }: Loaded, before: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(before)) {
    if (links[name] !== value) store.links.remove({ kind, name, value }, key);
  }
  for (const [name, value] of Object.entries(links)) {
    if (before[name] !== value) store.links.add({ kind, name, value }, key);
  }
}

interface EffectsOfEvent {
  readonly position: number;
  readonly actorKey: number;
  readonly effects: readonly Effect[];
}

function effectRows(store: Store, { position, actorKey, effects }: EffectsOfEvent): NewEffectRow[] {
  const { epoch, startNumber } = store;
  return effects.map(({ type, params }, ordinal) => ({
    position,
    ordinal,
    // The epoch keeps ids of a restored store apart from those that the lost part of its history used.
    effectId: `${store.installationId}:effect:${epoch}.${position}.${ordinal}`,
    actorKey,
    type,
    policy: effectPolicies[type],
    // No commit of its own marks the attempt: it follows this one, and a later start never repeats what it finds.
    state: effectPolicies[type] === 'once' ? 'attempted' : 'pending',
    params: JSON.stringify(params),
    epoch,
    startNumber,
  }));
}
