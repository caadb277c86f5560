/**
 * The full check of `custody doctor` (ruling 27): SQLite's own check of its pages, references between tables, and every
 * row digest. Single long statements run aside; digests are checked in slices with turns of the event loop between them,
 * so that the daemon stays responsive.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aside } from './aside.ts';
import { removedTo } from './checkpoint/progress.ts';
import type { Connection } from './connection.ts';
import { rowDigest } from './digest.ts';
import { type DigestedTable, digestedTables } from './digestSchema.ts';
import { storeErrorOf } from './errors.ts';
import type { ActorsTable } from './tables/actors.ts';
import type { JournalTable } from './tables/journal.ts';
import type { MetaTable } from './tables/meta.ts';
import type { OutboxTable } from './tables/outbox.ts';

export interface Problem {
  readonly table: 'file' | 'actors' | 'journal' | 'dedup' | 'outbox' | 'references' | DigestedTable['table'];
  /** Which row, or which part of the file. */
  readonly where: string;
  readonly problem: 'damaged' | 'digest_mismatch' | 'dangling_reference' | 'version_mismatch' | 'not_in_journal';
}

export interface IntegrityReport {
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  readonly checked: { readonly actors: number; readonly events: number; readonly effects: number };
}

const sliceRows = 1_000;

export interface CheckedTables {
  readonly connection: Connection;
  readonly actors: ActorsTable;
  readonly journal: JournalTable;
  readonly outbox: OutboxTable;
  readonly meta: MetaTable;
}

/** Never throws for damage: what cannot be read is a problem in the report. */
export async function checkIntegrity(tables: CheckedTables): Promise<IntegrityReport> {
  const problems: Problem[] = [];
  const checked = { actors: 0, events: 0, effects: 0 };
  const steps: Array<() => Iterable<void> | AsyncIterable<void>> = [
    () => checkPages(tables.connection, problems),
    () => checkActors(tables, problems, checked),
    () => checkJournal(tables, problems, checked),
    () => checkEffects(tables, problems, checked),
    () => checkAgreement(tables, problems),
    ...digestedTables.map((table) => () => checkRows(tables, table, problems)),
  ];
  for (const step of steps) {
    try {
      for await (const _ of step()) await nextTurn();
    } catch (thrown) {
      const error = storeErrorOf(thrown);
      if (error === undefined) throw thrown;
      problems.push({ table: 'file', where: error.message, problem: 'damaged' });
    }
  }
  return { ok: problems.length === 0, problems, checked };
}

async function* checkPages(connection: Connection, problems: Problem[]): AsyncIterable<void> {
  const pages = await aside<{ integrity_check: string }>(connection, 'PRAGMA integrity_check');
  for (const { integrity_check: line } of pages) {
    if (line !== 'ok') problems.push({ table: 'file', where: line, problem: 'damaged' });
  }
  yield;
  const dangling = await aside<{ table: string; rowid: number | null }>(connection, 'PRAGMA foreign_key_check');
  for (const { table, rowid } of dangling) {
    problems.push({ table: 'references', where: `${table} ${rowid ?? ''}`.trim(), problem: 'dangling_reference' });
  }
}

function* checkActors({ actors }: CheckedTables, problems: Problem[], checked: { actors: number }): Iterable<void> {
  for (let after = 0; ; ) {
    const rows = actors.inspect(after, sliceRows);
    for (const row of rows) {
      if (!row.intact) problems.push({ table: 'actors', where: `${row.kind} ${row.id}`, problem: 'digest_mismatch' });
    }
    checked.actors += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.key;
    yield;
  }
}

function* checkJournal({ journal }: CheckedTables, problems: Problem[], checked: { events: number }): Iterable<void> {
  for (let after = 0; ; ) {
    const entries = journal.page({ after, limit: sliceRows });
    for (const entry of entries) {
      if (!entry.intact) problems.push({ table: 'journal', where: String(entry.position), problem: 'digest_mismatch' });
    }
    checked.events += entries.length;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.position;
    yield;
  }
}

function* checkEffects({ outbox }: CheckedTables, problems: Problem[], checked: { effects: number }): Iterable<void> {
  for (let after = { position: 0, ordinal: -1 }; ; ) {
    const rows = outbox.open(after, sliceRows);
    for (const row of rows) {
      if (!row.intact) problems.push({ table: 'outbox', where: row.effectId, problem: 'digest_mismatch' });
    }
    checked.effects += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = { position: last.position, ordinal: last.ordinal };
    yield;
  }
}

/** What a gate and its budgets are measured from. */
const measurements: ReadonlySet<DigestedTable['table']> = new Set([
  'passes',
  'commit_minutes',
  'recoveries',
  'contradictions',
  'totals',
  'coverage_gaps',
]);

/**
 * The first measurement that is damaged; undefined while none is. Every one there is gets read, because one whose time is
 * damaged is of no window any more: a gate that misses one, or reads it wrongly, may be green (PROMO-04, ruling 27).
 */
export function damagedMeasurement(connection: Connection): Problem | undefined {
  const problems: Problem[] = [];
  for (const table of digestedTables) {
    if (!measurements.has(table.table)) continue;
    for (const _ of checkRows({ connection }, table, problems)) if (problems.length > 0) break;
    if (problems.length > 0) return problems[0];
  }
  return undefined;
}

/** Rows of the smaller tables, in slices of the order in which they lie. */
function* checkRows(
  { connection }: Pick<CheckedTables, 'connection'>,
  { table, name, columns }: DigestedTable,
  problems: Problem[],
) {
  const sql = `SELECT ${name} AS "row", digest, ${columns.join(', ')} FROM ${table} LIMIT ? OFFSET ?`;
  const page = connection.prepare(sql).raw();
  type Row = [row: string | number, digest: string, ...columns: Array<string | number | null>];
  for (let offset = 0; ; offset += sliceRows) {
    const rows = page.all(sliceRows, offset) as Row[];
    for (const [row, digest, ...values] of rows) {
      if (digest !== rowDigest(...values)) problems.push({ table, where: String(row), problem: 'digest_mismatch' });
    }
    if (rows.length < sliceRows) return;
    yield;
  }
}

/**
 * What two tables say about the same event or actor has to agree. A row may be missing at the old end of the journal, and
 * where a checkpoint may have removed it: of an actor whose end was recorded, up to the newest position that one removed.
 */
async function* checkAgreement({ connection, meta }: CheckedTables, problems: Problem[]): AsyncIterable<void> {
  const firstPosition = '(SELECT coalesce(min(position), 0) FROM journal)';
  const checkpointed = 'd.position <= ? AND d.actor IN (SELECT actor FROM endings)';
  const unjournaled = await aside<{ eventId: string }>(
    connection,
    `SELECT d.event_id AS eventId FROM dedup d LEFT JOIN journal j USING (position)
    WHERE d.position >= ${firstPosition}
      AND (j.event_id <> d.event_id OR j.actor <> d.actor OR j.version <> d.version
        OR j.position IS NULL AND NOT (${checkpointed}))`,
    String(removedTo(meta)),
  );
  for (const { eventId } of unjournaled) problems.push({ table: 'dedup', where: eventId, problem: 'not_in_journal' });
  yield;
  const ahead = await aside<{ kind: string; id: string }>(
    connection,
    `SELECT a.kind, a.id FROM actors a
    JOIN (SELECT actor, max(version) AS version FROM journal GROUP BY actor) j USING (actor)
    WHERE j.version <> a.version`,
  );
  for (const { kind, id } of ahead) {
    problems.push({ table: 'actors', where: `${kind} ${id}`, problem: 'version_mismatch' });
  }
}
