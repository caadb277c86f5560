/**
 * A checkpoint of a long journal: `npm run bench -- retention [--events N] [--dir DIRECTORY]`, 1 000 000 events by default.
 * Every 200 events one scope has lived and was proved to be gone; a hundred live on.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoint, type CheckpointReport, rowsIn } from '../../persistence/checkpoint/checkpoint.ts';
import { forgetEventIds, horizonFor } from '../../persistence/checkpoint/eventIds.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { clock, hostOver, launched } from '../host/scopes.ts';
import { median } from '../timing.ts';
import { ended, observedOften } from './lives.ts';

const args = process.argv.slice(2);
const option = (name: string): string | undefined => args[args.indexOf(name) + 1 || args.length];
const events = Number(option('--events') ?? 1_000_000);
const directory = mkdtempSync(join(option('--dir') ?? tmpdir(), 'custody-bench-'));

const perLife = 200;
const living = 100;
const mebibyte = 1_048_576;
const together = 10;

async function fill(stateDir: string): Promise<void> {
  const store = openStore({ stateDir, clock, create: true });
  const host = hostOver(store);
  for (let n = 0; n < events / perLife; n += together) {
    const calls = Array.from({ length: together }, (_, index) => {
      const id = `S${n + index}`;
      return host.submit([...launched(id), ...observedOften(id, perLife - 6), ...ended(id)]);
    });
    for (const outcome of (await Promise.all(calls)).flat())
      if (outcome.outcome !== 'changed') throw new Error(JSON.stringify(outcome));
  }
  for (let n = 0; n < living; n += 1) await host.submit([...launched(`L${n}`), ...observedOften(`L${n}`, 20)]);
  await host.close();
  store.close();
}

/** Bytes that this thread has read from files, cached or not (proc_pid_io(5)). */
const bytesRead = (): number => Number(/^rchar: (\d+)/.exec(readFileSync('/proc/thread-self/io', 'utf8'))![1]);

interface Start {
  readonly ms: number;
  /** The same at every start, whatever else the machine does. */
  readonly bytes: number;
}

/** Opening the store, a host, and every actor that is not over. */
function start(stateDir: string): Start {
  const bytesBefore = bytesRead();
  const before = performance.now();
  const store = openStore({ stateDir, clock, create: false });
  const host = hostOver(store);
  const found = host.list('executionScope', { released: false, limit: 1_000 });
  for (const { id } of found) host.snapshotOf('executionScope', id);
  if (found.length !== living) throw new Error(`found ${found.length} living`);
  const ms = performance.now() - before;
  const bytes = bytesRead() - bytesBefore;
  store.close();
  return { ms, bytes };
}

/** In turns, so that whatever else the machine does meets all of them. */
function starts(stateDirs: readonly string[]): Start[] {
  const rounds = Array.from({ length: 31 }, () => stateDirs.map(start));
  return stateDirs.map((_, at) => ({
    ms: median(rounds.map((round) => round[at]!.ms)),
    bytes: median(rounds.map((round) => round[at]!.bytes)),
  }));
}

interface Measured {
  readonly report: CheckpointReport;
  readonly tookMs: number;
  readonly longestMs: number;
}

function checkpoint(store: Store): Measured {
  const began = performance.now();
  const made = new Checkpoint({
    store,
    rules: { newestEvents: 8, cutoffWallMs: Number.POSITIVE_INFINITY },
    bounds: { rows: 500, ms: 20 },
    monoMs: () => performance.now(),
    wallMs: Date.now(),
  });
  let longestMs = 0;
  for (let isOver = false; !isOver; ) {
    const before = performance.now();
    isOver = !made.step();
    longestMs = Math.max(longestMs, performance.now() - before);
  }
  return { report: made.report(), tookMs: performance.now() - began, longestMs };
}

/** Forgets what earlier starts have numbered, and gives the room back. Returns how many ids that were. */
function forgetIds(store: Store): number {
  const horizon = horizonFor(store, 1);
  const steps = forgetEventIds({ store, horizon, wallMs: Date.now(), rows: 500, dryRun: false });
  for (;;) {
    const { done, value } = steps.next();
    if (!done) continue;
    checkpoint(store);
    return value;
  }
}

try {
  const [stateDir, asItWas] = [join(directory, 'state'), join(directory, 'as it was')];
  await fill(stateDir);
  cpSync(stateDir, asItWas, { recursive: true });
  const store = openStore({ stateDir, clock, create: false });
  const rows = rowsIn(store);
  const before = store.space.measure();
  const { report, tookMs, longestMs } = checkpoint(store);
  const after = store.space.measure();
  if (!(await store.check()).ok) throw new Error('the store is not whole');
  store.close();
  const [startBefore, startAfter] = starts([asItWas, stateDir]) as [Start, Start];
  const again = openStore({ stateDir, clock, create: false });
  again.write(() => again.meta.set('bench.started', 'yes'));
  const forgotten = forgetIds(again);
  const last = again.space.measure();
  again.close();
  const { removed } = report;
  const size = (bytes: number) => `${(bytes / mebibyte).toFixed(1)} MiB`;
  console.log(`${rows} events of ${events / perLife + living} scopes; ${report.rows.after} are left`);
  console.log(`file ${size(before.bytes)}, then ${size(after.bytes)}`);
  console.log(
    `${((before.bytes - after.bytes) / removed.events).toFixed(0)} bytes given back for each event that went`,
  );
  console.log(`${(report.rows.after / (events / perLife + living)).toFixed(1)} events kept for each scope`);
  console.log(`${(removed.bytes / removed.events).toFixed(0)} bytes of text in each event that went`);
  console.log(
    `${((rows / tookMs) * 1_000).toFixed(0)} events a second in ${report.steps} steps; longest ${longestMs.toFixed(0)} ms`,
  );
  console.log(`file ${size(last.bytes)} once ${forgotten} event ids of earlier starts are forgotten`);
  const started = ({ ms, bytes }: Start) => `${ms.toFixed(1)} ms and ${(bytes / 1_024).toFixed(0)} KiB read`;
  console.log(`start ${started(startBefore)}, then ${started(startAfter)}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
