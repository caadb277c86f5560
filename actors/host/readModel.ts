/**
 * What views read: one @xstate/store atom per actor, set after commits only. Atoms of actors that nobody looks at are
 * let go and made again from the row.
 */
import { type Atom, createAtom, type ReadonlyAtom } from '@xstate/store';
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import { addressKey } from './snapshotCache.ts';
import { createWeakCache } from './weakCache.ts';

export interface ActorView extends ActorAddress {
  readonly version: number;
  readonly snapshot: AnyMachineSnapshot;
}

export interface ReadModel {
  /** Holds undefined until the actor is created. Throws when the stored actor cannot be read. */
  atom(kind: string, id: string): ReadonlyAtom<ActorView | undefined>;
}

export interface FedReadModel extends ReadModel {
  feed(view: ActorView): void;
}

export function createReadModel(load: (address: ActorAddress) => ActorView | undefined, recent: number): FedReadModel {
  const atoms = createWeakCache<Atom<ActorView | undefined>>(recent);
  return {
    atom(kind, id) {
      const key = addressKey({ kind, id });
      let atom = atoms.get(key);
      if (atom === undefined) {
        atom = pinnedWhileObserved(createAtom<ActorView | undefined>(load({ kind, id })), (pinned) =>
          atoms.pin(key, pinned),
        );
        atoms.set(key, atom);
      }
      return atom;
    },
    feed: (view) => atoms.get(addressKey(view))?.set(view),
  };
}

type ViewAtom = Atom<ActorView | undefined>;

/** Who subscribes need not keep the atom: the subscription does. */
function pinnedWhileObserved(atom: ViewAtom, pin: (atom: ViewAtom) => () => void): ViewAtom {
  const subscribe = atom.subscribe.bind(atom) as (...observer: unknown[]) => { unsubscribe(): void };
  const pinning = (...observer: unknown[]) => {
    const unpin = pin(atom);
    const subscription = subscribe(...observer);
    return {
      unsubscribe() {
        unpin();
        subscription.unsubscribe();
      },
    };
  };
  return Object.assign(atom, { subscribe: pinning as ViewAtom['subscribe'] });
}
