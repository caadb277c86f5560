/**
 * Reads together what somebody is about to ask for one by one. Those with which something is wrong are left to `Load`,
 * which says what it is.
 */
import { StoreError } from '../../persistence/errors.ts';
import type { ActorRow } from '../../persistence/tables/actors.ts';
import { assertNoTransaction } from '../../persistence/transaction.ts';
import type { Host } from './api.ts';
import { HostError } from './hostError.ts';
import { type Loaded, loadedOf, type Tables } from './loader.ts';
import type { HostedDefinition, Protocol } from './protocol.ts';
import type { SnapshotCache } from './snapshotCache.ts';

export interface PreloadParts extends Pick<Protocol, 'definitions'> {
  readonly store: Tables;
  readonly cache: SnapshotCache;
}

export function createPreload({ store, cache, definitions }: PreloadParts): Host['preload'] {
  const isKnown = (kind: string, id: string) => cache.get({ kind, id }) !== undefined || cache.isAbsent({ kind, id });
  return (kind, ids) => {
    const definition = Object.hasOwn(definitions, kind) ? definitions[kind] : undefined;
    const unknown = [...new Set(ids)].filter((id) => !isKnown(kind, id));
    if (definition === undefined || unknown.length < 2) return;
    // The connection sees its own uncommitted rows; nobody outside may.
    assertNoTransaction('a look at committed snapshots');
    const rows = readable(() => store.actors.readMany(kind, unknown));
    if (rows === undefined) return;
    const present = new Set(rows.map(({ id }) => id));
    for (const row of rows) if (row.intact) keep(cache, () => loadedOf(store, definition as HostedDefinition, row));
    for (const id of unknown) if (!present.has(id)) cache.setAbsent({ kind, id });
  };
}

type Rows = ReadonlyArray<ActorRow & { readonly intact: boolean }>;

/** A page that cannot be read keeps nobody but those on it from being read, one by one. */
function readable(read: () => Rows): Rows | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.code === 'store_corrupt') return undefined;
    throw thrown;
  }
}

function keep(cache: SnapshotCache, load: () => Loaded): void {
  try {
    cache.set(load());
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
  }
}
