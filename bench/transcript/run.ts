/**
 * What a transcript costs the path of the bytes: batches as a terminal delivers them, appended to a transcript and, for
 * comparison, written to a plain file by the same calls, alternately in one run.
 *
 *   npm run bench -- transcript [mebibytes] [rounds]
 */
import { closeSync, mkdtempSync, openSync, rmSync, writevSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTranscript } from '../../pty/transcript/writer.ts';
import { median } from '../timing.ts';

const totalBytes = Number(process.argv[2] ?? 64) * 1024 * 1024;
const rounds = Number(process.argv[3] ?? 9);
const batch = [Buffer.alloc(4_096, 'The quick brown fox\r\n')];
const batches = Math.floor(totalBytes / batch[0]!.length);
const directory = mkdtempSync(join(tmpdir(), 'custody-bench-'));

function plain(name: string): void {
  const fd = openSync(join(directory, name), 'wx', 0o600);
  for (let at = 0; at < batches; at += 1) writevSync(fd, batch);
  closeSync(fd);
}

function transcript(name: string): void {
  const header = { sessionId: name, cols: 80, rows: 24, term: 'xterm-256color' };
  const opened = openTranscript({ dir: join(directory, name), header });
  for (let at = 0; at < batches; at += 1) opened.append(batch);
  opened.close();
}

function timed(work: (name: string) => void, round: number): number {
  const name = `${work.name}${round}`;
  const from = process.hrtime.bigint();
  work(name);
  const microseconds = Number(process.hrtime.bigint() - from) / 1e3;
  rmSync(join(directory, name), { recursive: true });
  return microseconds / batches;
}

try {
  const timings = { plain: [] as number[], transcript: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    timings.plain.push(timed(plain, round));
    timings.transcript.push(timed(transcript, round));
  }
  console.log(
    `${batches} batches of 4 KiB, ${rounds} rounds, ${availableParallelism()} cores, Node ${process.version}`,
  );
  for (const [name, list] of Object.entries(timings))
    console.log(`${name.padEnd(10)} ${median(list).toFixed(1)} µs per batch`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
