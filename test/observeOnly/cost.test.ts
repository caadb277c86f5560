/**
 * METR-03: a pass costs what is due and nothing else. Counted, not timed: reads of procfs, statements, the rows that they
 * give, and that none of them goes through a table.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { bind, exit, reserve } from '../ingest/support/notes.ts';
import { job, launcher, Observing } from './support/observing.ts';
import { shipped } from './support/shipped.ts';

interface Cost {
  readonly reads: number;
  readonly statements: number;
  readonly rows: number;
  readonly texts: ReadonlySet<string>;
}

type Method = (...args: unknown[]) => unknown;

/** Counts what any connection of this process is asked meanwhile. */
async function counted(work: () => Promise<number>): Promise<Cost> {
  const texts = new Set<string>();
  let [statements, rows] = [0, 0];
  const scratch = new Database(':memory:');
  const prototype = Object.getPrototypeOf(scratch.prepare('SELECT 1')) as Record<string, Method>;
  const methods = (['run', 'get', 'all'] as const).map((name) => [name, prototype[name]!] as const);
  for (const [name, method] of methods) {
    prototype[name] = function (this: Database.Statement, ...args: unknown[]) {
      const result = method.apply(this, args);
      texts.add(this.source);
      statements += 1;
      rows += Array.isArray(result) ? result.length : 1;
      return result;
    };
  }
  try {
    return { reads: await work(), statements, rows, texts };
  } finally {
    for (const [name, method] of methods) prototype[name] = method;
    scratch.close();
  }
}

/**
 * What SQLite may go through from one end to the other: values that came with the statement, and the index of what is due
 * only, which is as long as what is due.
 */
const bounded = /^SCAN (CONSTANT ROW|v\b|json_each VIRTUAL TABLE|\w+ USING INDEX legacy_processes_open$)/;

/** Statements that go through all of a table or an index, as SQLite plans them. */
function scans(connection: Database.Database, texts: Iterable<string>): string[] {
  return [...texts].filter((text) => {
    // The schema is as long as it is.
    if (!/^\s*(SELECT|INSERT|UPDATE|DELETE)/i.test(text) || text.includes('sqlite_schema')) return false;
    const parameters = Array.from(text.matchAll(/\?/g), () => null);
    const plan = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...parameters) as { detail: string }[];
    return plan.some(({ detail }) => detail.startsWith('SCAN ') && !bounded.test(detail));
  });
}

/** So many processes that live, and a past of so many runs and files. */
async function settled(due: number, past: number): Promise<Observing> {
  const observing = new Observing();
  const note = launcher();
  const living = await Promise.all(Array.from({ length: due }, () => job()));
  const lines = living.map(({ process }, at) => note(bind(`living-${at}`, { process, place: observing.place() })));
  for (let run = 0; run < past; run += 1) {
    const over = { ...living[0]!.process, start: String(1_000 + run) };
    lines.push(note(reserve(`past-${run}`)), note(bind(`past-${run}`, { process: over })), note(exit(`past-${run}`)));
  }
  mkdirSync(join(observing.repo, 'files'));
  for (let file = 0; file < past; file += 1) writeFileSync(join(observing.repo, 'files', String(file)), '');
  expect(await observing.observe(['ingest', observing.file(lines)])).toMatchObject({ code: 0 });
  const { pass } = (await observing.observe(['reconcile', '--max-ms', '60000'])).json.data;
  expect(pass.outcomes).toEqual({ alive: due, ended: past });
  return observing;
}

it('METR-03, OBS-11: ten times the history and ten times the files cost nothing', async () => {
  const costs: Cost[] = [];
  let last: Observing | undefined;
  for (const past of [20, 200]) {
    last = await settled(5, past);
    const { stateDir } = last;
    costs.push(
      await counted(async () => {
        const { json } = await shipped(stateDir, ['reconcile', '--max-ms', '60000']);
        expect(json.data.pass).toMatchObject({ lookedAt: 5, complete: true });
        return json.data.pass.reads;
      }),
    );
  }
  const [small, large] = costs as [Cost, Cost];
  expect(large).toEqual(small);
  const connection = new Database(join(last!.stateDir, 'custody.db'));
  try {
    expect(scans(connection, large.texts)).toEqual([]);
    // The same question tells when an index is missing.
    connection.exec('ALTER TABLE links RENAME TO indexed; CREATE TABLE links AS SELECT * FROM indexed');
    expect(scans(connection, large.texts).filter((text) => text.includes('links')).length).toBeGreaterThan(0);
  } finally {
    connection.close();
  }
});
