/**
 * Schema versions (JRN-06, JRN-09). Each step runs in one transaction together with its own record; a step never changes
 * once it has shipped. A store newer than this program is refused before anything is written.
 */
import type { Clock } from './clock.ts';
import { applicationId, type Connection, readHeader, schemaDigest, schemaRow } from './connection.ts';
import { rowDigest } from './digest.ts';
import { digestSchema, digestsSince } from './digestSchema.ts';
import { mappingStoreErrors, StoreError } from './errors.ts';
import { legacySchema } from './legacySchema.ts';
import { metricsDigestSchema } from './metricsDigestSchema.ts';
import { metricsSchema } from './metricsSchema.ts';
import { observeSchema } from './observeSchema.ts';
import { promotionDigestSchema } from './promotionDigestSchema.ts';
import { promotionSchema } from './promotionSchema.ts';
import { retentionSchema } from './retentionSchema.ts';
import { firstSchema } from './schema.ts';
import { createMetaTable } from './tables/meta.ts';
import { ticketsSchema } from './tables/tickets.ts';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  { version: 1, name: 'first schema', sql: firstSchema },
  { version: 2, name: 'observed launches', sql: observeSchema },
  { version: 3, name: 'tickets for executors', sql: ticketsSchema },
  { version: 4, name: 'retention', sql: retentionSchema },
  { version: 5, name: 'digests of more rows', sql: digestSchema },
  { version: 6, name: 'measurements', sql: metricsSchema },
  { version: 7, name: 'records of other tools', sql: legacySchema },
  { version: 8, name: 'promotion', sql: promotionSchema },
  { version: 9, name: 'digests of promotion', sql: promotionDigestSchema },
  { version: 10, name: 'digests of measurements', sql: metricsDigestSchema },
];

const latest = (known: readonly Migration[]): number => known.at(-1)?.version ?? 0;

/** Throws `store_newer` or `store_corrupt` (not a store of ours) and leaves the file as it is. */
export function checkSchema(path: string, known: readonly Migration[] = migrations): void {
  const header = readHeader(path);
  if (header.applicationId !== applicationId || header.schemaVersion < 1) {
    throw new StoreError('store_corrupt', `${path} is not a Custody store, or it has lost its content`);
  }
  if (header.schemaVersion > latest(known)) {
    throw new StoreError(
      'store_newer',
      `the store has schema ${header.schemaVersion}; this program knows up to ${latest(known)}`,
    );
  }
  if (!header.isSchemaIntact) throw new StoreError('store_corrupt', `the schema of ${path} is damaged`);
}

/** Brings the open database to the newest known version. Foreign keys are checked before each step is committed. */
export function migrate(connection: Connection, clock: Clock, known: readonly Migration[] = migrations): void {
  for (const step of known) {
    if ((connection.pragma('user_version', { simple: true }) as number) >= step.version) continue;
    mappingStoreErrors(() => connection.transaction(() => applyStep(connection, clock, step)).immediate());
  }
}

function applyStep(connection: Connection, clock: Clock, step: Migration): void {
  connection.function('row_digest', { varargs: true, deterministic: true }, (...columns) =>
    rowDigest(...(columns as Array<string | number | null>)),
  );
  connection.exec(step.sql);
  const violations = connection.pragma('foreign_key_check') as unknown[];
  if (violations.length > 0) throw new Error(`migration ${step.version} would leave dangling references`);
  connection
    .prepare('INSERT INTO migrations (version, name, applied_wall_ms) VALUES (?, ?, ?)')
    .run(step.version, step.name, clock.now().wallMs);
  connection.pragma(`application_id = ${applicationId}`);
  connection.pragma(`user_version = ${step.version}`);
  if (step.version >= digestsSince) createMetaTable(connection).set(schemaRow, schemaDigest(connection));
}
