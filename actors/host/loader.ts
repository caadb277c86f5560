/**
 * From a row to a snapshot that can be stepped: digest, definition version and structural hash are checked, older rows
 * are brought up by pure functions. Nothing is loaded in the hope that it fits (JRN-09).
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { PersistedSnapshot } from '../../machines/definition.ts';
import { fromPersisted } from '../../machines/step.ts';
import { CorruptRowError } from '../../persistence/corruptRow.ts';
import type { Store } from '../../persistence/store.ts';
import type { ActorAddress, ActorRow, ActorTraits } from '../../persistence/tables/actors.ts';
import { HostError } from './hostError.ts';
import type { HostedDefinition } from './protocol.ts';

/** A durable actor in memory. Never changed: the next version is a new object. */
export interface Loaded extends ActorAddress {
  readonly key: number;
  readonly version: number;
  readonly snapshot: AnyMachineSnapshot;
  /** Links and traits as stored, so that the next write knows what it replaces. */
  readonly links: Readonly<Record<string, string>>;
  readonly traits: ActorTraits;
}

export type Load = (definition: HostedDefinition, id: string) => Loaded | undefined;

/** What loading reads; a store that is only read has it as well. */
export interface Tables {
  readonly actors: Pick<Store['actors'], 'read' | 'readMany'>;
  readonly links: Pick<Store['links'], 'of'>;
}

/** The returned function throws HostError with the code of what is wrong with the row. */
export function createLoader(store: Tables): Load {
  return (definition, id) => {
    const row = readRow(store, { kind: definition.kind, id });
    return row && loadedOf(store, definition, row);
  };
}

/** Throws HostError as `Load` does, for a row whose digest matches. */
export function loadedOf(store: Tables, definition: HostedDefinition, row: ActorRow): Loaded {
  const { key, kind, id, version } = row;
  const snapshot = restore(definition, row, bringUp(definition, row));
  // An older row's links were made by an older function; only the table knows them.
  const links = row.definitionVersion === definition.version ? definition.links(snapshot) : store.links.of(key);
  const { definitionVersion, structuralHash, settled, released } = row;
  const traits = { definitionVersion, structuralHash, settled, released };
  return { kind, id, key, version, snapshot, links, traits };
}

function readRow(store: Pick<Tables, 'actors'>, address: ActorAddress): ActorRow | undefined {
  try {
    return store.actors.read(address);
  } catch (thrown) {
    if (thrown instanceof CorruptRowError) throw new HostError('actor_corrupt', thrown.message, thrown);
    throw thrown;
  }
}

/** JSON of a snapshot of the definition's own version. */
function bringUp(definition: HostedDefinition, row: ActorRow): string {
  const { definitionVersion: from, structuralHash } = row;
  const { version: to, upcasters } = definition;
  const what = `${row.kind} ${row.id}`;
  if (from > to) {
    throw new HostError('definition_newer', `${what} was written by version ${from} of its chart; this is ${to}`);
  }
  if (from === to) {
    if (structuralHash === definition.structuralHash) return row.snapshot;
    throw new HostError('definition_changed', `${what} was written by another chart that also has version ${to}`);
  }
  let persisted = JSON.parse(row.snapshot) as PersistedSnapshot;
  for (let version = from; version < to; version += 1) {
    const upcaster = upcasters[version];
    if (upcaster === undefined) {
      throw new HostError('definition_older', `${what} has version ${from} and nothing leads from ${version} to ${to}`);
    }
    persisted = upcaster(persisted);
  }
  return JSON.stringify(persisted);
}

function restore(definition: HostedDefinition, row: ActorRow, json: string): AnyMachineSnapshot {
  try {
    return fromPersisted(definition, json);
  } catch (thrown) {
    throw new HostError('definition_changed', `${row.kind} ${row.id} does not fit its chart`, thrown);
  }
}
