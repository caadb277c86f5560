/**
 * How long somebody waits who attaches to a session with a long transcript: from a checkpoint, with as much output behind
 * it as may pile up unrendered, by a thread that runs already and has never seen the session. Target: 100 ms for 100 MiB.
 *
 *   npm run bench -- screen [mebibytes] [rounds]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { loadCheckpoint } from '../../pty/screen/checkpoint.ts';
import { createScreens } from '../../pty/screen/screens.ts';
import { openTranscript } from '../../pty/transcript/writer.ts';

const totalBytes = Number(process.argv[2] ?? 100) * 1024 * 1024;
const rounds = Number(process.argv[3] ?? 15);
const segmentBytes = 16 * 1024 * 1024;
const lagBytes = 512 * 1024;

const directory = mkdtempSync(join(tmpdir(), 'custody-bench-'));
const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'custody-bench');
mkdirSync(cache, { recursive: true });
const workerPath = join(cache, 'screenWorker.mjs');
buildSync({
  entryPoints: [join(import.meta.dirname, '..', '..', 'pty', 'screen', 'worker.ts')],
  outfile: workerPath,
  bundle: true,
  platform: 'node',
  format: 'esm',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});

/** Coloured lines of different lengths, as builds and tests write them. */
function line(number: number): string {
  return `\x1b[32m${String(number).padStart(8)}\x1b[0m ${'compiling and linking something '.repeat(1 + (number % 4))}\r\n`;
}

const dir = join(directory, 'S1');
const header = { sessionId: 'S1', cols: 120, rows: 40, term: 'xterm-256color' };
const transcript = openTranscript({ dir, header, segmentBytes });
const place = { dir, segmentBytes, cols: header.cols, rows: header.rows };
const batch = Buffer.from(Array.from({ length: 60 }, (_, number) => line(number)).join(''));

// A quiet thread keeps no process alive.
const alive = setInterval(() => undefined, 1_000);
const all = createScreens({ workerPath });
try {
  while (transcript.offset < totalBytes) transcript.append([batch]);
  all.open('first', place);
  const from = process.hrtime.bigint();
  all.advance('first', transcript.offset);
  await all.snapshot('first', { timeoutMs: 600_000 });
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  console.log(
    `${totalBytes / 1024 / 1024} MiB, ${rounds} rounds, ${availableParallelism()} cores, Node ${process.version}`,
  );
  console.log(`rendered from the first byte at ${(transcript.offset / 1024 / 1024 / seconds).toFixed(1)} MiB/s`);
  // The last checkpoint is written when output has been quiet for a moment.
  transcript.append([batch]);
  const last = transcript.offset;
  all.advance('first', last);
  while (loadCheckpoint(dir)?.offset !== last) await new Promise((resolve) => setTimeout(resolve, 10));
  all.close('first');
  for (const piled of [0, lagBytes]) {
    while (transcript.offset < last + piled) transcript.append([batch]);
    const waits: number[] = [];
    const cpu = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) {
      const start = process.hrtime.bigint();
      all.open(`attach ${piled} ${round}`, { ...place, offset: transcript.offset });
      await all.snapshot(`attach ${piled} ${round}`);
      waits.push(Number(process.hrtime.bigint() - start) / 1e6);
      all.close(`attach ${piled} ${round}`);
    }
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1e3 / rounds;
    waits.sort((left, right) => left - right);
    console.log(
      `attach with ${piled / 1024} KiB to render: median ${waits[Math.floor(rounds / 2)]!.toFixed(0)} ms, slowest ${waits.at(-1)!.toFixed(0)} ms, processor ${cpuMs.toFixed(0)} ms`,
    );
  }
} finally {
  clearInterval(alive);
  transcript.close();
  await all.dispose();
  rmSync(directory, { recursive: true, force: true });
}
