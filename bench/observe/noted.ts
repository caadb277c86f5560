/**
 * Runs noted in one worktree: what the thousandth costs beside the first (docs/import.md). Half of them end, the others stay.
 *
 *   npm run bench -- observe noted [runs]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyActor } from '../../actors/runtime/actorAccess.ts';
import { draft } from '../../actors/runtime/submission.ts';
import type { Place } from '../../machines/note.ts';
import { activeIn } from '../../machines/notedRuns.ts';
import { noting, observing } from '../reconcile/measuring.ts';
import { median, type Timing, timed } from '../timing.ts';

const place: Place = { path: '/srv/tree', dev: '2049', ino: '77', born: '5', gitdir: '/srv/.git/worktrees/tree' };
const batch = 100;

type Parts = ReturnType<typeof observing>;

/** One batch: reserved and bound by notes; every other one is seen to end. */
async function lives({ observer, host }: Parts, note: ReturnType<typeof noting>, from: number): Promise<void> {
  const pids = Array.from({ length: batch }, (_, at) => 1_000 + from + at);
  const process = (pid: number) => ({
    ...{ pid, start: String(pid), uid: 1_000, pidns: '4026531836', timens: '4026531834', pidfs: null },
  });
  const notes = pids.flatMap((pid) => [
    note({ type: 'run.reserve', run: `r${pid}`, label: null, place, retryOf: null }),
    note({ type: 'run.bind', run: `r${pid}`, process: process(pid), place: null }),
  ]);
  const taken = await observer.sink.take(notes);
  const ids = taken.filter((_, at) => at % 4 === 0).map(({ runId }) => runId);
  const drafts = ids.map((runId) => {
    const { identity, identityVersion } = (host.snapshotOf('run', runId) as { context: Record<string, unknown> })
      .context;
    const basisVersion = identityVersion as number;
    const sampled = { sampledAt: { monoMs: 1, bootId: 'b' }, contextDigest: '', stable: true };
    const payload = { result: 'ended', reason: 'absent', identity, basisVersion, ...sampled } as never;
    return draft('process.observed', { to: ['run', runId], payload, by: 'bench' });
  });
  await Promise.all(drafts.map((one) => host.submit([one])));
}

export async function measureNoted(runs: number): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));
  const all = observing(scratch);
  try {
    const note = noting('ingest');
    const timings: Timing[] = [];
    for (let from = 0; from < runs; from += batch) timings.push(await timed(() => lives(all, note, from)));
    const [generation] = everyActor(all.host, 'worktreeGeneration');
    if (generation === undefined || generation.snapshot === 'corrupt') throw new Error('there is no worktree');
    const { snapshot } = generation;
    console.log(`${runs} runs noted in one worktree, ${activeIn(snapshot.context)} of them have not ended`);
    const tenth = Math.max(1, Math.floor(timings.length / 10));
    for (const [name, part] of [
      ['first tenth', timings.slice(0, tenth)],
      ['last tenth', timings.slice(-tenth)],
      ['all', timings],
    ] as const) {
      const [wall, cpu] = [median(part.map((one) => one.wall)), median(part.map((one) => one.cpu))];
      console.log(
        `${name.padEnd(11)} median of a run: wall ${(wall / batch).toFixed(3)} ms, processor ${(cpu / batch).toFixed(3)} ms`,
      );
    }
    await all.host.close();
    all.adapter.close();
    all.store.close();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
