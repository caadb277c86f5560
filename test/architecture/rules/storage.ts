import { importsOf } from '../imports.ts';
import { productionScripts, type SourceFile } from '../project.ts';
import { type Finding, finding, type Rule } from '../rule.ts';
import { child, children, functionTypes, lineAt, memberOf, nodesOfType } from '../syntax.ts';

/** Every table there is, and what it holds. A new one is added here first, which is the moment to ask whether it is a lock. */
const tables: Readonly<Record<string, string>> = {
  definitions: 'versions and structural hashes that actors were written with',
  meta: 'installation, node, epoch, daemon starts',
  migrations: 'schema history',
  actors: 'snapshot of each durable actor',
  journal: 'accepted events in order',
  dedup: 'event ids already applied to an actor',
  outbox: 'effects to execute after commit',
  links: 'lookups from one actor to others',
  bindings: 'identity to run to generation',
  repositories: 'registered repositories',
  rejections: 'bounded diagnostics of refused events',
  contracts: 'verified containment of this host',
  deadlines: 'armed deadlines',
  self_checks: 'results of the containment self-check',
  producers: 'how far the notes of each launcher were taken in',
  coverage_gaps: 'notes that were lost',
  legacy_records: 'what other tools had on record, and which actor it became',
  legacy_processes: 'processes that those records claim',
  freshness: 'when each observed process was last looked at',
  passes: 'what the newest passes cost',
  tickets: 'what executors were given leave for, once each',
  endings: 'the event that ended each actor which is over',
  retentions: 'what was removed for good, when and by which rule',
  commit_minutes: 'what commits cost, by the minute',
  recoveries: 'how long the newest starts took to be well',
  contradictions: 'predictions that later evidence speaks against',
  totals: 'sums of what was measured, which only grow',
  retired_artifacts: 'whose files were removed after their proof',
  promotions: 'the stage of each repository',
  promotion_changes: 'every change of a stage and what it rested on',
  gate_reports: 'what stood for and against a promotion',
  budgets: 'the figures that promotion compares with',
  acceptance_reports: 'what the newest acceptance runs observed',
  comparisons: 'what another system said of a run, beside what was derived here',
};

/**
 * Who may coordinate (GOAL-07): each names one side effect, with an owner, a scope and a rule for its release. There is
 * no lock per step: steps are repeatable (GOAL-06).
 */
const coordination: readonly string[] = ['integration_leases', 'publication_intents', 'launch_fences'];
const lockLike = /lock|lease|claim|fence|mutex|semaphore|slot|reservation|intent/;

const knownTables: Rule = {
  name: 'every table is on the list, and none is a lock but the three that name a side effect (GOAL-06, GOAL-07)',
  check(files) {
    return files
      .filter((file) => file.path.startsWith('persistence/'))
      .flatMap((file) => createdTables(file).flatMap(({ table, line }) => judge(file, table, line)));
  },
  caught: [
    { 'persistence/schema.ts': 'db.exec(`CREATE TABLE step_locks (step TEXT)`);' },
    { 'persistence/schema.ts': 'db.exec(`create table if not exists "surprise" (a INT)`);' },
    { 'persistence/schema.sql': 'CREATE TEMP TABLE claims (a);' },
  ],
  allowed: [
    { 'persistence/schema.ts': 'db.exec(`CREATE TABLE journal (a) STRICT; CREATE TABLE launch_fences (a);`);' },
  ],
};

function createdTables(file: SourceFile): { table: string; line: number }[] {
  const pattern = /\bcreate\s+(?:temp\w*\s+|virtual\s+)?table\s+(?:if\s+not\s+exists\s+)?["[`]?(\w+)/gi;
  return [...file.text.matchAll(pattern)].map((match) => ({ table: match[1] ?? '', line: lineAt(file, match.index) }));
}

function judge(file: SourceFile, table: string, line: number): Finding[] {
  if (coordination.includes(table)) return [];
  if (lockLike.test(table))
    return [finding(file, line, `${table} looks like a lock; only ${coordination.join(', ')} are`)];
  return table in tables ? [] : [finding(file, line, `${table} is not in test/architecture/rules/storage.ts`)];
}

const outside = /^node:(child_process|net|http|https|dgram|tls|worker_threads)$/;
/** One long statement in a thread of the store's own, on a connection that only reads: no transaction of ours waits for it. */
const ownThread = { path: 'persistence/aside.ts', target: 'node:worker_threads' };
const openers = new Set(['transaction', 'savepoint', 'inTransaction']);

const shortTransactions: Rule = {
  name: 'no transaction is open while anything outside is waited for (CONC-02)',
  check(files) {
    return productionScripts(files, 'persistence/').flatMap((file) => [
      ...importsOf(file)
        .filter(({ target }) => outside.test(target) && !(file.path === ownThread.path && target === ownThread.target))
        .map((one) => finding(file, one.line, `persistence/ may not use ${one.target}`)),
      ...nodesOfType(file, 'CallExpression')
        .filter((call) => openers.has(memberOf(child(call, 'callee') ?? call)?.property ?? ''))
        .filter((call) =>
          children(call, 'arguments').some(
            (node) => functionTypes.some((type) => type === node.type) && node.async === true,
          ),
        )
        .map((call) => finding(file, call, 'a transaction takes a synchronous function')),
    ]);
  },
  caught: [
    { 'persistence/store.ts': "import { spawnSync } from 'node:child_process';" },
    { 'persistence/store.ts': "import { Worker } from 'node:worker_threads';" },
    { 'persistence/aside.ts': "import { spawnSync } from 'node:child_process';" },
    { 'persistence/store.ts': 'db.transaction(async () => { await sample(); });' },
  ],
  allowed: [
    { 'persistence/store.ts': "import { openSync } from 'node:fs'; db.transaction(() => insert.run());" },
    { 'persistence/aside.ts': "import { Worker } from 'node:worker_threads';" },
  ],
};

export const storageRules: readonly Rule[] = [knownTables, shortTransactions];
