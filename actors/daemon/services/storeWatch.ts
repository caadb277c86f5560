/**
 * Notices that the store takes nothing, and that it does again (C.9, JRN-10). Every write of the daemon tells: while the
 * last one failed, admission is closed and health says why; reads, guardians and their receipts go on.
 */
import { StoreError } from '../../../persistence/errors.ts';
import type { Store } from '../../../persistence/store.ts';
import type { Clock } from '../../observe/clock.ts';

export interface StoreWatch {
  /** The watched store: what is written through it is noticed. */
  readonly store: Store;
  /** What the last write ran into; undefined while writes succeed. */
  failure(): StoreError | undefined;
  /** Writes what changes nothing. Throws StoreError. */
  probe(): void;
  /** `tell` hears of the first failure and of the first success after it. */
  onChange(tell: (event: { readonly type: 'store.failed' | 'store.recovered' }) => void): void;
}

/** Without this probe a daemon that nobody asks for anything would not find out that there is room again. */
const probeMs = 1_000;

/** `harmless` is a write that may be repeated at any time; it runs inside a transaction. */
export function watchStore(store: Store, clock: Pick<Clock, 'monoMs' | 'wakeAt'>, harmless: () => void): StoreWatch {
  let failure: StoreError | undefined;
  let tell: Parameters<StoreWatch['onChange']>[0] = () => {};

  function failed(error: StoreError): void {
    const isFirst = failure === undefined;
    failure = error;
    if (!isFirst) return;
    tell({ type: 'store.failed' });
    probeLater();
  }

  function probeLater(): void {
    clock.wakeAt(clock.monoMs() + probeMs, () => {
      if (failure === undefined) return;
      try {
        probe();
      } catch {
        probeLater();
      }
    });
  }

  const probe = () => watched.write(harmless);

  const watched: Store = {
    ...store,
    write(work) {
      try {
        const result = store.write(work);
        if (failure !== undefined) {
          failure = undefined;
          tell({ type: 'store.recovered' });
        }
        return result;
      } catch (error) {
        if (error instanceof StoreError) failed(error);
        throw error;
      }
    },
  };
  return {
    store: watched,
    failure: () => failure,
    probe,
    onChange(listener) {
      tell = listener;
    },
  };
}
