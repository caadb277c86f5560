// What a note costs a launcher: `custody-note bind` from a shell, process start included, beside /bin/true started the same
// way, in alternation: `npm run bench -- note [ROUNDS] [DIR]`. DIR is where the spool lies (default: the temporary
// directory). Most of the time is one fdatasync of a new file there, so that alone is measured in the same directory, and a
// spool in memory too. Exit code 1 when the median on DIR exceeds the bound; what the disk has of it is said.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildNote } from '../../pty/note/build.mjs';

const boundMs = 10;
const rounds = Number(process.argv[2] ?? 300);
const client = buildNote();
const installed = fileURLToPath(new URL('../../pty/note/custody-note', import.meta.url));
const directory = process.argv[3] ?? tmpdir();

const sorted = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];
const ms = (value) => value.toFixed(2).padStart(8);

/** bash reads its own clock before and after each call; nothing else is started in between. */
const script = `
now() { local at=\${EPOCHREALTIME/[.,]/}; printf -v "$1" %s "$at"; }
for ((round = 0; round < ROUNDS; round++)); do
  now a; /bin/true; now b; "$CLIENT" bind bench; now c; "$INSTALLED" bind bench; now d
  echo "$((b - a)) $((c - b)) $((d - c))"
done`;

async function measure(home) {
  const env = {
    PATH: process.env.PATH,
    CUSTODY_HOME: home,
    ROUNDS: String(rounds),
    CLIENT: client,
    INSTALLED: installed,
  };
  const shell = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const columns = [[], [], []];
  for await (const line of createInterface({ input: shell.stdout })) {
    for (const [at, micros] of line.split(' ').entries()) columns[at].push(Number(micros) / 1_000);
  }
  if (shell.exitCode === null) await once(shell, 'exit');
  return { '/bin/true': columns[0], 'custody-note bind': columns[1], 'the same through npm’s link': columns[2] };
}

/** What the disk alone takes for a new file as large as a note. */
function measureSync(home) {
  const note = Buffer.alloc(320, 'x');
  return Array.from({ length: rounds }, (_, at) => {
    const since = process.hrtime.bigint();
    const fd = openSync(join(home, `sync-${at}`), 'wx');
    writeSync(fd, note);
    fdatasyncSync(fd);
    closeSync(fd);
    return Number(process.hrtime.bigint() - since) / 1e6;
  });
}

async function bench(where, label) {
  const home = mkdtempSync(join(where, 'custody-bench-'));
  try {
    const results = { ...(await measure(home)), 'fdatasync of a new file there': measureSync(home) };
    console.log(`${rounds} calls each, spool ${label}, ms      median      p95`);
    for (const [name, values] of Object.entries(results))
      console.log(`${name.padEnd(36)} ${ms(quantile(values, 0.5))} ${ms(quantile(values, 0.95))}`);
    return {
      whole: quantile(results['custody-note bind'], 0.5),
      disk: quantile(results['fdatasync of a new file there'], 0.5),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const { whole, disk } = await bench(directory, 'on disk');
if (existsSync('/dev/shm')) await bench('/dev/shm', 'in memory');
const verdict = whole <= boundMs ? 'held' : 'EXCEEDED';
console.log(
  `bound ${boundMs} ms for a call from a shell, process start included: ${verdict} (the disk has ${disk.toFixed(1)} ms of it)`,
);
process.exitCode = whole <= boundMs ? 0 : 1;
