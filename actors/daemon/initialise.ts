/** `custody init`: makes the store, or looks at the one that is there, and checks once that containment works on this host. */
import { openStore, type Store } from '../../persistence/store.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import type { Places } from '../runtime/places.ts';
import type { CheckView } from './api/views.ts';
import { calendarClock } from './calendarClock.ts';
import type { Subset } from './contract/battery.ts';
import { isContractCurrent, verifiedSubset, verifyContract } from './contract/verify.ts';
import { markRestored } from './restored.ts';
import { adoptPlace, assertInPlace, assertOriginalGone, recordPlace } from './statePlace.ts';

export interface InitView {
  readonly stateDir: string;
  readonly created: boolean;
  readonly installationId: string;
  readonly nodeId: string;
  readonly filesystem: string;
  readonly journalMode: 'wal';
  readonly synchronous: 'full';
  readonly contract: {
    readonly name: string;
    readonly verified: boolean;
    /** How much of the battery that rests on; null while nothing was verified. */
    readonly subset: Subset | null;
    readonly checks: readonly CheckView[];
  };
  readonly doesNotCover: readonly string[];
  readonly warnings: readonly string[];
}

export interface InitRequest {
  readonly places: Places;
  /** Look only: nothing is made and nothing is run. */
  readonly checkOnly: boolean;
  /** A directory that was copied or moved is the installation from now on. */
  readonly adopt?: boolean;
}

/** Throws StoreError, `state_copied` or `state_moved`; an existing store is never replaced (JRN-09). */
export async function initialise({ places, checkOnly, adopt = false }: InitRequest): Promise<InitView> {
  const store = openStore({ stateDir: places.stateDir, clock: calendarClock, create: !checkOnly && !adopt });
  try {
    settlePlace(store, { places, checkOnly, adopt });
    const path = await guardianBinary();
    const guardian = { path, digest: guardianDigest(path) };
    const needsCheck = !checkOnly && !isContractCurrent(store, guardian.digest);
    const { wallMs } = calendarClock.now();
    const report = needsCheck
      ? await verifyContract({ store, guardian, stateDir: places.stateDir, wallMs, subset: 'short' })
      : undefined;
    return {
      stateDir: places.stateDir,
      created: store.created,
      installationId: store.installationId,
      nodeId: store.nodeId,
      filesystem: store.filesystem,
      journalMode: 'wal',
      synchronous: 'full',
      contract: {
        name: 'scope-exit-proof/1',
        verified: isContractCurrent(store, guardian.digest),
        subset: verifiedSubset(store) ?? null,
        checks: report?.checks ?? [],
      },
      doesNotCover: report?.doesNotCover ?? [],
      warnings: store.warnings.map(({ message }) => message),
    };
  } finally {
    store.close();
  }
}

function settlePlace(store: Store, { places, checkOnly, adopt }: Required<InitRequest>): void {
  if (adopt) assertOriginalGone(store, places);
  else assertInPlace(store, places);
  if (checkOnly) return;
  // The first write takes the signs of a restore away, so what they mean has to be written with it.
  store.write(() => {
    markRestored(store);
    if (adopt) adoptPlace(store, places);
    else recordPlace(store, places);
  });
}
