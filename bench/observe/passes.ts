/**
 * One pass over 1 000 recorded processes against a bare loop that reads the same files, interleaved in one run.
 *
 *   npm run bench -- observe [processes] [rounds]
 *
 * The bare loop opens, reads and closes what the adapter reads (stat, status, stat of every process and the context once
 * per batch) into one buffer and parses nothing; target: the adapter takes at most 1.5 times as long.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Subject } from 'rxjs';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import { observations$ } from '../../actors/observe/streams/observations.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';
import { installationIdSchema } from '../../machines/ids.ts';
import { median, type Timing, timed } from '../timing.ts';
import { barePass } from './barePass.ts';

const BATCH = 64;

/** A shell with sleepers as its children. It reaps them once they have been ended, one by one, and then ends too. */
async function sleepers(count: number): Promise<{ pids: number[]; end: () => Promise<void> }> {
  const script = `i=0; while [ $i -lt ${count} ]; do sleep 600 & echo $!; i=$((i+1)); done; echo; wait`;
  const shell = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()));
  const pids: number[] = [];
  for await (const line of createInterface({ input: shell.stdout })) {
    if (line === '') break;
    pids.push(Number(line));
  }
  const end = async () => {
    for (const pid of pids) process.kill(pid);
    await ended;
  };
  return { pids, end };
}

const installationId = installationIdSchema.parse('Ibench');
const adapter = createLinuxAdapter({ installationId, probe: probeExistence, pinLimit: 0 });
const clock = createSystemClock();

function adapterPass(through: typeof adapter, identities: readonly ProcessIdentity[]): void {
  for (let from = 0; from < identities.length; from += BATCH) {
    const requests = identities.slice(from, from + BATCH).map((identity) => ({ identity }));
    for (const { result } of through.sampleSlice(requests))
      if (result !== 'alive') throw new Error('a sleeper is not alive');
  }
}

/** The whole lane: index, slices, batches, delivery to somebody who takes them at once. */
function lane(identities: readonly ProcessIdentity[]): () => Promise<void> {
  const all = identities.map((identity, index) => ({ key: String(index).padStart(6, '0'), request: { identity } }));
  const passes$ = new Subject<void>();
  let over: () => void = () => undefined;
  observations$({
    adapter,
    passes$,
    clock,
    timeBudgetMs: 10_000,
    due: (cursor, limit) =>
      all.slice(cursor === null ? 0 : Number(cursor) + 1, (cursor === null ? 0 : Number(cursor) + 1) + limit),
    deliver: async () => undefined,
  }).subscribe((event) => {
    if (event.type === 'passEnded') over();
  });
  return () =>
    new Promise((resolve) => {
      over = resolve;
      passes$.next();
    });
}

export async function measureObservation(processes: number, rounds: number): Promise<void> {
  const pinning = createLinuxAdapter({ installationId, probe: probeExistence, pinLimit: processes });
  const { pids, end } = await sleepers(processes);
  try {
    const identities = pids.map((pid) => adapter.capture(pid));
    for (const identity of identities) pinning.pin(identity);
    const lanePass = lane(identities);
    const contenders: Record<string, () => unknown> = {
      bare: () => barePass(pids, BATCH),
      adapter: () => adapterPass(adapter, identities),
      lane: lanePass,
      pinned: () => adapterPass(pinning, identities),
    };
    const timings: Record<string, Timing[]> = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
    for (let warm = 0; warm < 5; warm += 1) for (const run of Object.values(contenders)) await run();
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, run] of Object.entries(contenders)) timings[name]!.push(await timed(run));
    }
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (let round = 0; round < 5; round += 1) await lanePass();
    delay.disable();

    const bare = timings.bare!;
    console.log(`${processes} processes, ${rounds} rounds, ${availableParallelism()} cores, Node ${process.version}`);
    for (const [name, list] of Object.entries(timings)) {
      const wall = median(list.map(({ wall }) => wall));
      const cpu = median(list.map(({ cpu }) => cpu));
      const ratio = (of: (timing: Timing) => number) =>
        median(list.map((one, round) => of(one) / of(bare[round]!))).toFixed(2);
      const ratios = `to bare: wall ${ratio(({ wall }) => wall)}, cpu ${ratio(({ cpu }) => cpu)}`;
      console.log(`${name.padEnd(8)} wall ${wall.toFixed(1)} ms  cpu ${cpu.toFixed(1)} ms  ${ratios}`);
    }
    console.log(
      `event loop held by the lane: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, longest ${(delay.max / 1e6).toFixed(1)} ms`,
    );
  } finally {
    pinning.close();
    await end();
  }
}
