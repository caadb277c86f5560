/**
 * One pass over observed runs that are due, from the store to the store, against a bare loop that opens, reads and closes
 * stat, status and stat of each process and parses nothing (ruling 32).
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { noting, type Observing, quantile, timed } from './measuring.ts';

const buffer = Buffer.allocUnsafe(4_096);
function bareRead(path: string): void {
  const fd = openSync(path, 'r');
  readSync(fd, buffer, 0, buffer.length, null);
  closeSync(fd);
}

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
