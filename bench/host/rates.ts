/**
 * Durable events per second against plain inserts of the same rows: the same statements on the same schema with values
 * that are there already. Both sides start from copies of one store and take turns, so that a busy disk hurts both alike.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../../actors/host/api.ts';
import { Recorder } from '../../actors/metrics/recorder.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { connect } from '../../persistence/connection.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { median } from '../timing.ts';
import { clock, hostOver, launched, observed } from './scopes.ts';

const scopes = Array.from({ length: 100 }, (_, n) => `S${String(n).padStart(10, '0')}`);
/** Many short turns: what else the machine does then falls on both sides of a pair. */
const rounds = 41;
const plan = [
  { perTransaction: 1, transactions: 40, target: 0.7 },
  { perTransaction: 10, transactions: 20, target: 0.7 },
  { perTransaction: 100, transactions: 8, target: 0.5 },
];

interface EventRows {
  readonly journal: unknown[];
  readonly dedup: unknown[];
  readonly actor: unknown[];
}

const events = () => {
  let n = 0;
  return (count: number) =>
    Array.from({ length: count }, () => {
      n += 1;
      return observed(scopes[n % scopes.length] as string, n, Math.floor(n / scopes.length));
    });
};

export async function measureRates(directory: string): Promise<void> {
  const origin = await prepared(join(directory, 'origin'));
  const total = plan.reduce((sum, { perTransaction, transactions }) => sum + perTransaction * transactions, 0) * rounds;
  const rows = await recorded(await copyOf(origin, join(directory, 'recorded')), total);
  const hosted = await copyOf(origin, join(directory, 'hosted'));
  const host = hostOver(hosted);
  const next = events();
  const uncounted = await copyOf(origin, join(directory, 'uncounted'));
  const bare = hostOver({ ...uncounted, write: uncounted.writeUncounted });
  const nextBare = events();
  const raw = await rawWriter(origin, join(directory, 'raw'), rows);
  reportCommit(origin);
  for (const { perTransaction, transactions, target } of plan) {
    const rates: Rates = { raw: [], single: [], call: [], bare: [] };
    for (let round = 0; round < rounds; round += 1) {
      const half = transactions / 2;
      const timed = async (kind: keyof typeof rates, count: number, work: () => unknown) => {
        const before = process.hrtime.bigint();
        for (let n = 0; n < count; n += 1) await work();
        rates[kind].push((count * perTransaction * 1e9) / Number(process.hrtime.bigint() - before));
      };
      await timed('raw', transactions, () => raw(perTransaction));
      await timed('single', half, () => Promise.all(next(perTransaction).map((event) => host.submit([event]))));
      // The same call with nobody who measures commits, before and after in turns: the second one finds warmer caches.
      const pair = [
        () => timed('call', half, () => host.submit(next(perTransaction))),
        () => timed('bare', half, () => bare.submit(nextBare(perTransaction))),
      ];
      for (const one of round % 2 === 0 ? pair : pair.toReversed()) await one();
    }
    report(perTransaction, target, rates);
  }
  await reportRecording(host, hosted);
  for (const one of [host, bare]) await one.close();
  for (const one of [hosted, uncounted, origin]) one.close();
}

type Rates = Record<'raw' | 'single' | 'call' | 'bare', number[]>;

/** What is written down every ten seconds, in a transaction of its own: here once for all that was measured. */
async function reportRecording(host: Host, store: Store): Promise<void> {
  const adapter = { mayHaveBegunBy: () => true };
  const recorder = new Recorder({ host, store, clock: createSystemClock(), adapter });
  const times = [];
  for (let n = 0; n < 20; n += 1) {
    await host.submit([observed(scopes[0] as string, 1_000_000 + n, n)]);
    const before = process.hrtime.bigint();
    recorder.record();
    times.push(Number(process.hrtime.bigint() - before) / 1e6);
  }
  console.log(`writing down what was measured takes ${median(times).toFixed(2)} ms, every ten seconds at most`);
}

/** The smallest commit there is: what the disk takes, whoever writes. The faster it is, the more everything else weighs. */
function reportCommit(store: Store): void {
  const times = Array.from({ length: 200 }, (_, n) => {
    const before = process.hrtime.bigint();
    store.write(() => store.meta.set('bench.n', String(n)));
    return Number(process.hrtime.bigint() - before) / 1e6;
  });
  console.log(`a commit of one row takes ${median(times).toFixed(2)} ms here`);
}

function report(perTransaction: number, target: number, rates: Rates): void {
  const ratio = (kind: keyof Rates, to: keyof Rates = 'raw') =>
    median(rates[kind].map((rate, n) => rate / (rates[to][n] as number))).toFixed(2);
  const line = [
    `${String(perTransaction).padStart(4)} events per transaction:`,
    `raw ${median(rates.raw).toFixed(0)}/s,`,
    `as many calls ${median(rates.single).toFixed(0)}/s (ratio ${ratio('single')}),`,
    `one call ${median(rates.call).toFixed(0)}/s (ratio ${ratio('call')}),`,
    `target ${target};`,
    `unmeasured ${median(rates.bare).toFixed(0)}/s (measured ${ratio('call', 'bare')} of it)`,
  ];
  console.log(line.join(' '));
}

async function prepared(stateDir: string): Promise<Store> {
  const store = openStore({ stateDir, clock, create: true });
  const host = hostOver(store);
  for (const id of scopes) await host.submit(launched(id));
  await host.close();
  return store;
}

async function copyOf(origin: Store, stateDir: string): Promise<Store> {
  mkdirSync(stateDir, { mode: 0o700 });
  await origin.backup(join(stateDir, 'custody.db'));
  return openStore({ stateDir, clock, create: false });
}

/** What a host writes for the events, taken from one that has written them. */
async function recorded(store: Store, total: number): Promise<EventRows[]> {
  const actorRows: unknown[][] = [];
  const update: typeof store.actors.update = (row) => {
    actorRows.push([row.version, row.snapshot, 'd'.repeat(64), row.key, row.version - 1]);
    return store.actors.update(row);
  };
  const host = hostOver({ ...store, actors: { ...store.actors, update } });
  const from = store.journal.lastPosition();
  const next = events();
  for (let left = total; left > 0; left -= 250) await host.submit(next(Math.min(left, 250)));
  await host.close();
  store.close();
  const look = connect(join(store.stateDir, 'custody.db'));
  const journal = look
    .prepare('SELECT * FROM journal WHERE position > ? ORDER BY position')
    .raw()
    .all(from) as unknown[][];
  const dedup = look.prepare('SELECT * FROM dedup WHERE position > ? ORDER BY position').raw().all(from) as unknown[][];
  look.close();
  return journal.map((row, n) => ({ journal: row, dedup: dedup[n] as unknown[], actor: actorRows[n] as unknown[] }));
}

/** Writes the next rows in one transaction per call. */
async function rawWriter(
  origin: Store,
  stateDir: string,
  rows: readonly EventRows[],
): Promise<(count: number) => void> {
  (await copyOf(origin, stateDir)).close();
  const connection = connect(join(stateDir, 'custody.db'));
  const marks = (count: number) => Array(count).fill('?').join(', ');
  const journal = connection.prepare(`INSERT INTO journal VALUES (${marks(8)})`);
  const dedup = connection.prepare(`INSERT INTO dedup VALUES (${marks(6)})`);
  const actor = connection.prepare(
    'UPDATE actors SET version = ?, snapshot = ?, digest = ? WHERE actor = ? AND version = ?',
  );
  let n = 0;
  const write = connection.transaction((count: number) => {
    for (const row of rows.slice(n, n + count)) {
      journal.run(row.journal);
      dedup.run(row.dedup);
      actor.run(row.actor);
    }
    n += count;
  });
  return (count) => write.immediate(count);
}
