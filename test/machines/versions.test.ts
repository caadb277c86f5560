/**
 * A chart may not change under rows that were written for another one. When a test here fails because the structure
 * moved: raise `version` in the definition, add the upcaster that leads old rows to it, then run `writeCommand` of
 * support/rowFixtures.ts, which adds the files of the new version and leaves the others alone.
 */
import { describe, expect, it } from 'vitest';
import { definitions } from '../../machines/registry.ts';
import { toPersisted } from '../../machines/step.ts';
import { nodesOf, pathOf } from './support/nodes.ts';
import {
  bringUp,
  fixtureNames,
  isWriting,
  readHashes,
  readRows,
  writeCommand,
  writeFixtures,
} from './support/rowFixtures.ts';
import { tables } from './tables/byKind.ts';

if (isWriting) for (const definition of Object.values(definitions)) writeFixtures(definition, tables[definition.kind]);

describe.each(Object.values(definitions))('the chart of a $kind', (definition) => {
  const { kind, version, machine, structuralHash } = definition;
  const versions = Object.keys(readHashes()[kind] ?? {}).map(Number);

  it('has a version of its own for its structure (JRN-09)', () => {
    const hint = `the structure moved: raise the version, add an upcaster, then ${writeCommand}`;
    expect(readHashes()[kind]?.[version], hint).toBe(structuralHash);
    expect(Math.max(...versions), 'versions only rise').toBe(version);
  });

  it('has rows on file in which every state occurs', () => {
    const leaves = nodesOf(machine)
      .filter(({ type }) => type === 'atomic' || type === 'final')
      .map(pathOf);
    const occurring = new Set(readRows(kind, version).flatMap(({ leaves }) => leaves));
    expect(leaves.filter((leaf) => !occurring.has(leaf))).toEqual([]);
  });

  it.each(versions)('loads the rows of version %i (JRN-02, JRN-09)', (from) => {
    for (const fixture of readRows(kind, from)) {
      const snapshot = bringUp(definition, fixture, from);
      expect(snapshot.status).toBe('active');
      if (from === version) expect(toPersisted(definition, snapshot)).toEqual(fixture.row);
      definition.links(snapshot);
      expect(typeof definition.isSettled(snapshot)).toBe('boolean');
      expect(typeof definition.isReleased(snapshot)).toBe('boolean');
    }
  });
});

it('has files for the versions on record and no others', () => {
  const named = Object.entries(readHashes()).flatMap(([kind, hashes]) =>
    Object.keys(hashes).map((version) => `${kind}.v${version}.json`),
  );
  expect(fixtureNames()).toEqual([...named, 'hashes.json'].sort());
});
