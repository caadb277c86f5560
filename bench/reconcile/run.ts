/**
 * One pass over observed runs that are due, from the store to the store, against a bare loop that reads the same files;
 * and notes taken in, against plain inserts of as many rows: `npm run bench -- reconcile [PROCESSES] [ROUNDS]`.
 *
 * The bare loop opens, reads and closes stat, status and stat of each process and parses nothing (ruling 32).
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createHost } from '../../actors/host/host.ts';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { createObserver } from '../../actors/reconcile/observer.ts';
import { type Note, noteSchema } from '../../machines/note.ts';
import { protocol } from '../../machines/protocol.ts';
import { connect } from '../../persistence/connection.ts';
import { openStore } from '../../persistence/store.ts';

const [processes = 1_000, rounds = 31] = process.argv.slice(2).map(Number);
const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
const clock = createSystemClock();

const buffer = Buffer.allocUnsafe(4_096);
function bareRead(path: string): void {
  const fd = openSync(path, 'r');
  readSync(fd, buffer, 0, buffer.length, null);
  closeSync(fd);
}

async function timed(work: () => unknown): Promise<number> {
  const from = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - from) / 1e6;
}

const quantile = (values: readonly number[], at: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]!;
const shown = (values: readonly number[]): string =>
  `p50 ${quantile(values, 0.5).toFixed(2)} p95 ${quantile(values, 0.95).toFixed(2)}`;

/** The children of one shell, which ends with its input. */
async function sleepers(count: number) {
  const script = `i=0; while [ $i -lt ${count} ]; do sleep 100000 & echo $!; i=$((i+1)); done; read x; kill $(jobs -p)`;
  const shell = spawn('bash', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const pids: number[] = [];
  for await (const line of createInterface({ input: shell.stdout })) {
    pids.push(Number(line));
    if (pids.length === count) break;
  }
  return { pids, end: () => shell.stdin.end('\n') };
}

function observing() {
  const store = openStore({ stateDir: join(scratch, 'state'), clock, create: true });
  const adapter = createLinuxAdapter({ installationId: store.installationId as never, pinLimit: 0 });
  const host = createHost({ ...protocol, store, clock });
  const pauses = { retryFirstMs: 1_000, retryLongestMs: 300_000, freshnessRowMs: 1_000 };
  const parts = { host, store, clock, adapter, spoolDir: join(scratch, 'spool'), batch: 64, ...pauses };
  return { store, host, adapter, observer: createObserver(parts) };
}

function noting(producer: string) {
  let seq = 0;
  return (said: Record<string, unknown>): Note => {
    seq += 1;
    return noteSchema.parse({ v: 1, producer, stream: 'a'.repeat(32), seq, at: clock.now(), ...said });
  };
}

async function passes({ adapter, observer }: ReturnType<typeof observing>): Promise<void> {
  const { pids, end } = await sleepers(processes);
  const note = noting('bench');
  const binds = pids.map((pid) => {
    const { processToken: start, uid, namespace } = adapter.capture(pid);
    const [, pidns, timens] = /^pid:(\d+),time:(\d+)$/.exec(namespace)!;
    return note({
      type: 'run.bind',
      run: `job-${pid}`,
      process: { pid, start, uid, pidns, timens, pidfs: null },
      place: null,
    });
  });
  for (let at = 0; at < binds.length; at += 100) await observer.sink.take(binds.slice(at, at + 100));
  const bounds = { maxMs: 60_000, maxCount: 10 * processes };
  await observer.reconcile(bounds);
  const [bare, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(
      await timed(() => {
        for (const pid of pids) for (const file of ['stat', 'status', 'stat']) bareRead(`/proc/${pid}/${file}`);
      }),
    );
    ours.push(await timed(() => observer.reconcile(bounds)));
  }
  end();
  const ratio = quantile(
    ours.map((ms, at) => ms / bare[at]!),
    0.5,
  );
  console.log(
    `a pass over ${processes} due runs, ms: bare ${shown(bare)}, ours ${shown(ours)}, ratio ${ratio.toFixed(2)} (at most 1.5)`,
  );
}

/** The rows that the host writes for a new run, with values that are there already, in a copy of its store. */
async function rawWriter(store: ReturnType<typeof observing>['store']): Promise<(runs: number) => void> {
  const path = join(scratch, 'raw.db');
  await store.backup(path);
  const raw = connect(path);
  let key = raw.prepare('SELECT max(actor) FROM actors').pluck().get() as number;
  let position = store.journal.lastPosition();
  const row = raw.prepare('SELECT * FROM actors ORDER BY actor DESC LIMIT 1').get() as Record<string, unknown>;
  const event = raw.prepare('SELECT * FROM journal ORDER BY position DESC LIMIT 1').get() as Record<string, unknown>;
  const actor = raw.prepare('INSERT INTO actors VALUES (?, ?, ?, ?, 1, 0, 0, ?, ?)');
  const journal = raw.prepare('INSERT INTO journal VALUES (?, ?, ?, ?, ?, 1, ?, ?)');
  const dedup = raw.prepare(`INSERT INTO dedup (event_id, actor, payload_digest, outcome, version, position)
    VALUES (?, ?, ?, ?, 1, ?)`);
  return (runs) =>
    raw
      .transaction(() => {
        for (let at = 0; at < runs; at += 1) {
          key += 1;
          position += 1;
          const id = `raw:${key}`;
          actor.run(key, row.kind, id, row.definition, row.snapshot, row.digest);
          journal.run(position, key, id, event.type, event.outcome, event.envelope, event.digest);
          dedup.run(id, key, event.digest, event.outcome, position);
        }
      })
      .immediate();
}

async function intake({ store, observer }: ReturnType<typeof observing>): Promise<void> {
  const note = noting('ingest');
  const write = await rawWriter(store);
  const [plain, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3 * rounds; round += 1) {
    const notes = Array.from({ length: 100 }, (_, at) =>
      note({ type: 'run.reserve', run: `r-${round}-${at}`, label: 'a run', place: null, retryOf: null }),
    );
    ours.push(await timed(() => observer.sink.take(notes)));
    plain.push(await timed(() => write(notes.length)));
  }
  const rate = (values: readonly number[]) => `${(100_000 / quantile(values, 0.5)).toFixed(0)}/s`;
  const ratio = quantile(
    ours.map((ms, at) => plain[at]! / ms),
    0.5,
  );
  console.log(
    `notes in batches of 100: plain rows ${rate(plain)}, notes ${rate(ours)}, ratio ${ratio.toFixed(2)} (wanted 0.6)`,
  );
}

try {
  const all = observing();
  await passes(all);
  await intake(all);
  await all.host.close();
  all.adapter.close();
  all.store.close();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
