/**
 * The durable side of Custody: events in, committed transitions out (K2). Everything that moves a durable actor goes
 * through `submit`; everything that shows one shows what has been committed.
 */
import type { AnyEventObject } from 'xstate';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import { assertNoTransaction } from '../../persistence/transaction.ts';
import type { Host, HostOptions, Limits } from './api.ts';
import { type Batcher, createBatcher } from './batcher.ts';
import { applyCall, type Call, type CallResult, type CallTools } from './call.ts';
import { createEffects } from './effects.ts';
import { createFacades } from './facade.ts';
import { type Fault, HostError } from './hostError.ts';
import { createLoader, type Loaded } from './loader.ts';
import type { CommitRecord } from './outcome.ts';
import { createPreload } from './preload.ts';
import { prepare } from './prepare.ts';
import { createReadModel } from './readModel.ts';
import { createSnapshotCache } from './snapshotCache.ts';
import type { WorkingSet } from './workingSet.ts';

/** batchEvents is ruling 31, payloadBytes and the retries are section 0.2; the rest bounds memory. */
const defaultLimits: Limits = {
  batchEvents: 256,
  waitingCalls: 10_000,
  payloadBytes: 16_384,
  cachedSnapshots: 4_096,
  cachedActors: 256,
  relayDepth: 8,
  relaysPerCall: 4_096,
  runningEffects: 256,
  retryFirstMs: 1_000,
  retryLongestMs: 300_000,
};

export function createHost(options: HostOptions): Host {
  const { store, clock, definitions, catalogue, onFault = warn, failpoint = () => {} } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const load = createLoader(store);
  const cache = createSnapshotCache(limits.cachedSnapshots);
  const preparation = { catalogue, installationId: store.installationId, ...limits };
  const batcher = createBatcher({ store, cache, load, failpoint, committed, ...limits });
  const { write } = batcher;
  const effects = createEffects({ store, write, onFault, failpoint, running: limits.runningEffects, ...limits });
  const listeners = new Set<(records: readonly CommitRecord[]) => void>();

  function loaded({ kind, id }: ActorAddress): Loaded | undefined {
    const definition = Object.hasOwn(definitions, kind) ? definitions[kind] : undefined;
    if (definition === undefined) return undefined;
    const cached = cache.get({ kind, id });
    if (cached !== undefined || cache.isAbsent({ kind, id })) return cached;
    // The connection sees its own uncommitted rows; nobody outside may.
    assertNoTransaction('a look at a committed snapshot');
    const read = load(definition, id);
    if (read === undefined) cache.setAbsent({ kind, id });
    else cache.set(read);
    return read;
  }

  const submit = submitter({ store, protocol: options, onFault, failpoint, preparation, batcher, clock, ...limits });
  const readModel = createReadModel(loaded, limits.cachedActors);
  const facades = createFacades({
    recent: limits.cachedActors,
    isSettled: ({ kind }, snapshot) => definitions[kind]?.isSettled(snapshot) ?? false,
    submit: (address, event) => void sendFrom({ submit, onFault, actor: address }, event),
  });

  function committed({ records, changed, effects: requested }: WorkingSet): void {
    for (const actor of changed()) {
      guarded(onFault, () => readModel.feed(actor));
      guarded(onFault, () => facades.publish(actor, actor.snapshot));
    }
    if (records.length > 0) for (const listener of listeners) guarded(onFault, () => listener(records));
    effects.committed(requested);
  }

  return {
    submit,
    effects,
    readModel,
    applied: (eventId) => store.dedup.applied(eventId),
    actor(kind, id) {
      const found = loaded({ kind, id });
      if (found === undefined) throw new HostError('unknown_actor', `there is no ${kind} ${id}`);
      return facades.get({ kind, id }, found.snapshot);
    },
    preload: createPreload({ store, cache, definitions }),
    snapshotOf: (kind, id) => loaded({ kind, id })?.snapshot,
    versionOf: (kind, id) => loaded({ kind, id })?.version,
    linked: (kind, name, value) => store.links.find({ kind, name, value }, { limit: 1_000 }).map(({ id }) => id),
    linkedAny: (kind, name, values) => store.links.carriersOf({ kind, name }, values),
    list: (kind, { link, ...filter } = {}) =>
      link ? store.links.find({ kind, ...link }, filter) : store.actors.list(kind, filter),
    onCommit(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await effects.stop();
      await batcher.close();
    },
  };
}

interface SubmitParts extends CallTools, Pick<HostOptions, 'clock'>, Pick<Limits, 'batchEvents'> {
  readonly batcher: Batcher;
}

/** Drafts are validated and dated when they are submitted, and applied in the order of submission. */
function submitter(parts: SubmitParts): Host['submit'] {
  return (drafts) => {
    if (drafts.length > parts.batchEvents) {
      return Promise.reject(new RangeError(`a call holds at most ${parts.batchEvents} events`));
    }
    if (drafts.length === 0) return Promise.resolve([]);
    const at = parts.clock.now();
    const call: Call = { at, events: drafts.map((draft) => prepare(draft, at, parts.preparation)) };
    return new Promise((resolve, reject) => {
      let result: CallResult | undefined;
      parts.batcher.enqueue({
        events: drafts.length,
        apply: (set) => {
          result = applyCall(parts, set, call);
        },
        settle: () => (result && 'outcomes' in result ? resolve(result.outcomes) : reject(result?.error)),
        fail: reject,
      });
    });
  };
}

/** `send` has no answer, so what becomes of it is told to whoever runs the host. */
async function sendFrom(
  { submit, onFault, actor }: Pick<Host, 'submit'> & { onFault: (fault: Fault) => void; actor: ActorAddress },
  { type, eventId, expectedVersion, basis, ...payload }: AnyEventObject,
): Promise<void> {
  const producer = { kind: 'actorRef', id: `${actor.kind}/${actor.id}` };
  try {
    const [outcome] = await submit([{ type, actor, producer, payload, eventId, expectedVersion, basis }]);
    if (outcome?.outcome === 'rejected') onFault({ code: 'send_refused', actor, type, error: outcome.reason });
  } catch (error) {
    onFault({ code: 'send_failed', actor, type, error });
  }
}

/** A listener that throws is its own problem: the commit stands, and the others are told. */
function guarded(onFault: (fault: Fault) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    onFault({ code: 'listener_threw', error });
  }
}

function warn({ code, actor, type, error }: Fault): void {
  const where = [actor && `${actor.kind} ${actor.id}`, type].filter(Boolean).join(', ');
  process.emitWarning(`${code}${where ? ` (${where})` : ''}`, {
    detail: error instanceof Error ? (error.stack ?? '') : '',
  });
}
