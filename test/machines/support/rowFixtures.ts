/**
 * Rows of every version that a chart ever had, as files: what a store may still hold. They are written once per version
 * and afterwards only read, so a change that old rows do not survive is noticed here first.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorDefinition, PersistedSnapshot } from '../../../machines/definition.ts';
import { fromPersisted, toPersisted } from '../../../machines/step.ts';
import type { Table } from './table.ts';
import { walk } from './walk.ts';

export interface RowFixture {
  /** Active states when the row was written; states of another version may be called otherwise. */
  readonly leaves: readonly string[];
  readonly row: PersistedSnapshot;
}

/** kind → version → structural hash. */
export type Hashes = Readonly<Record<string, Readonly<Record<string, string>>>>;

const folder = new URL('../fixtures/', import.meta.url);
const fileOf = (kind: string, version: number): URL => new URL(`${kind}.v${version}.json`, folder);
const hashesFile = new URL('hashes.json', folder);

export const writeCommand =
  'CUSTODY_FIXTURES=write npx vitest run test/machines/versions.test.ts && npx biome check --write test/machines/fixtures';

/** Only whoever raises a version sets this. */
export const isWriting = process.env.CUSTODY_FIXTURES === 'write';

const read = (file: URL): unknown => JSON.parse(readFileSync(file, 'utf8'));
const write = (file: URL, content: unknown): void => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);

export const readHashes = (): Hashes => (existsSync(hashesFile) ? (read(hashesFile) as Hashes) : {});

export const readRows = (kind: string, version: number): readonly RowFixture[] =>
  read(fileOf(kind, version)) as RowFixture[];

export const fixtureNames = (): string[] => readdirSync(folder).sort();

/** Writes the files of the definition's present version; those of earlier ones stay as they are. */
export function writeFixtures(definition: ActorDefinition, table: Table): void {
  const { kind, version, structuralHash } = definition;
  const hashes = readHashes();
  write(hashesFile, { ...hashes, [kind]: { ...hashes[kind], [version]: structuralHash } });
  write(fileOf(kind, version), coveringRows(definition, table));
}

/** As few situations as it takes to have been in every state once. */
function coveringRows(definition: ActorDefinition, table: Table): RowFixture[] {
  const covered = new Set<string>();
  const rows = new Map<AnyMachineSnapshot, RowFixture>();
  const reachable = { ...table, starts: table.starts.filter(({ restored }) => restored === undefined) };
  walk(reachable, {
    onStep: ({ snapshot, configuration }) => {
      if (configuration.every((leaf) => covered.has(leaf))) return false;
      for (const leaf of configuration) covered.add(leaf);
      rows.set(snapshot, { leaves: configuration, row: toPersisted(definition, snapshot) });
      return false;
    },
  });
  return [...rows.values()];
}

/** What the host does with a row of an earlier version. */
export function bringUp(definition: ActorDefinition, { row }: RowFixture, from: number): AnyMachineSnapshot {
  let raised = row;
  for (let version = from; version < definition.version; version += 1) {
    const upcaster = definition.upcasters[version];
    if (upcaster === undefined)
      throw new Error(`${definition.kind}: nothing leads from version ${version} to the next`);
    raised = upcaster(raised);
  }
  return fromPersisted(definition, JSON.stringify(raised));
}
