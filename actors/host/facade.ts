/**
 * A durable actor as a real XState ActorRef (K9, ruling 14): `send` submits, the snapshot changes only after a commit,
 * and the status is `done` once the whole chart is settled, so that `waitFor`, `toPromise`, RxJS and inspectors work as
 * with any other actor. Its output is the machine's, or the last context where the chart has none.
 */
import { type ActorLogic, type AnyActorRef, type AnyEventObject, type AnyMachineSnapshot, createActor } from 'xstate';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { DurableActorRef } from './api.ts';
import { addressKey } from './snapshotCache.ts';
import { createWeakCache } from './weakCache.ts';

export interface Facades {
  get(address: ActorAddress, committed: AnyMachineSnapshot): DurableActorRef;
  /** The façade, if anybody may be holding one. */
  existing(address: ActorAddress): DurableActorRef | undefined;
  publish(address: ActorAddress, committed: AnyMachineSnapshot): void;
}

export interface FacadeParts {
  readonly recent: number;
  isSettled(address: ActorAddress, snapshot: AnyMachineSnapshot): boolean;
  /** What a façade was sent. Must not throw. */
  submit(address: ActorAddress, event: AnyEventObject): void;
}

/** Only the host makes one; a sent event of the same type would be another class. */
class Committed {
  readonly type = 'host.committed';
  readonly snapshot: AnyMachineSnapshot;

  constructor(snapshot: AnyMachineSnapshot) {
    this.snapshot = snapshot;
  }
}

export function createFacades(parts: FacadeParts): Facades {
  const actors = createWeakCache<DurableActorRef>(parts.recent);

  const shown = (address: ActorAddress, snapshot: AnyMachineSnapshot): AnyMachineSnapshot =>
    parts.isSettled(address, snapshot)
      ? ({ ...snapshot, status: 'done', output: snapshot.output ?? snapshot.context } as AnyMachineSnapshot)
      : snapshot;

  function existing(address: ActorAddress): DurableActorRef | undefined {
    const actor = actors.get(addressKey(address));
    // A holder may have stopped it; the durable actor goes on.
    return actor?.getSnapshot().status === 'stopped' ? undefined : actor;
  }

  function create(address: ActorAddress, committed: AnyMachineSnapshot): DurableActorRef {
    const key = addressKey(address);
    const logic: ActorLogic<AnyMachineSnapshot, AnyEventObject> = {
      getInitialSnapshot: () => shown(address, committed),
      getPersistedSnapshot: (snapshot) => snapshot,
      transition(snapshot, event) {
        if (event instanceof Committed) return shown(address, event.snapshot);
        if (event.type === 'xstate.stop') return { ...snapshot, status: 'stopped' } as AnyMachineSnapshot;
        parts.submit(address, event);
        return snapshot;
      },
    };
    const actor = createActor(logic, { id: key });
    const ref = pinnedWhileObserved(actor, (pinned) => actors.pin(key, pinned));
    actors.set(key, ref);
    actor.start();
    return ref;
  }

  return {
    existing,
    get: (address, committed) => existing(address) ?? create(address, committed),
    publish(address, committed) {
      const actor = existing(address);
      if (actor === undefined) return;
      // A façade that is done has told its observers so; later evidence needs a new one.
      if (actor.getSnapshot().status === 'done') actors.delete(addressKey(address));
      else actor.send(new Committed(committed));
    },
  };
}

/** Who subscribes need not keep the actor: the subscription does, until it ends or the actor completes. */
function pinnedWhileObserved(actor: AnyActorRef, pin: (actor: DurableActorRef) => () => void): DurableActorRef {
  const subscribe = actor.subscribe.bind(actor) as (...observer: unknown[]) => { unsubscribe(): void };
  const pins = new Set<() => void>();
  const unpinAll = () => {
    for (const unpin of pins) unpin();
    pins.clear();
  };
  const pinning = (...observer: unknown[]) => {
    const unpin = pin(actor as DurableActorRef);
    pins.add(unpin);
    const subscription = subscribe(...observer);
    if (actor.getSnapshot().status !== 'active') unpinAll();
    return {
      unsubscribe() {
        pins.delete(unpin);
        unpin();
        subscription.unsubscribe();
      },
    };
  };
  subscribe({ complete: unpinAll, error: unpinAll });
  return Object.assign(actor, { subscribe: pinning }) as DurableActorRef;
}
