/**
 * One pass over observed runs that are due, from the store to the store, against a bare loop over the files
 * that it reads (ruling 32).
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { barePass } from '../observe/barePass.ts';
import { quantile, type Timing, timed } from '../timing.ts';
import { batch, noting, type Observing, ratios } from './measuring.ts';

const shown = (timings: readonly Timing[]): string => {
  const at = (part: number) =>
    quantile(
      timings.map(({ wall }) => wall),
      part,
    ).toFixed(2);
  return `p50 ${at(0.5)} p95 ${at(0.95)}`;
};

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

export async function measurePasses({ adapter, observer }: Observing, processes: number, rounds: number) {
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
  const [bare, ours]: [Timing[], Timing[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timed(() => barePass(pids, batch)));
    ours.push(await timed(() => observer.reconcile(bounds)));
  }
  end();
  const { wall, cpu } = ratios(ours, bare);
  console.log(
    `a pass over ${processes} due runs, ms: bare ${shown(bare)}, ours ${shown(ours)}, ratio ${wall} (at most 1.5), of processor time ${cpu}`,
  );
}
