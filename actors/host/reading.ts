/** Looks at committed actors in a store that is only read: the loading of a host, without anything that could move one. */
import type { StoreReader } from '../../persistence/reading.ts';
import type { Host, HostOptions } from './api.ts';
import { createLoader } from './loader.ts';

export type ReadingHost = Pick<Host, 'snapshotOf' | 'versionOf' | 'linked' | 'list'>;

/** Every look reads the row anew and throws HostError where it cannot be trusted, as a host does. */
export function createReadingHost(store: StoreReader, definitions: HostOptions['definitions']): ReadingHost {
  const load = createLoader(store);
  const loaded = (kind: string, id: string) => {
    const definition = Object.hasOwn(definitions, kind) ? definitions[kind] : undefined;
    return definition && load(definition, id);
  };
  return {
    snapshotOf: (kind, id) => loaded(kind, id)?.snapshot,
    versionOf: (kind, id) => loaded(kind, id)?.version,
    linked: (kind, name, value) => store.links.find({ kind, name, value }, { limit: 1_000 }).map(({ id }) => id),
    list: (kind, { link, ...filter } = {}) =>
      link ? store.links.find({ kind, ...link }, filter) : store.actors.list(kind, filter),
  };
}
