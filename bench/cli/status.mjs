// `custody status` against `node -e 0`: what a person waits for on top of the interpreter itself. Runs the shipped
// bundle against a daemon of its own, interleaved, so that a change of the machine's speed hits both alike.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rounds = Number(process.argv[2] ?? 60);
const root = new URL('../../', import.meta.url);
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const program = fileURLToPath(new URL(bin.custody, root));
const home = mkdtempSync(join(tmpdir(), 'custody-bench-'));
const env = { PATH: process.env.PATH, HOME: home, CUSTODY_HOME: join(home, 'state') };
const custody = (...args) => execFileSync(process.execPath, [program, ...args], { env, cwd: home });

const contenders = {
  'node -e 0': ['-e', '0'],
  'custody status': [program, 'status'],
  'custody status --json': [program, 'status', '--json'],
};

function measure() {
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, args] of Object.entries(contenders)) {
      const since = process.hrtime.bigint();
      const { status, stderr } = spawnSync(process.execPath, args, { env, cwd: home });
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
      times[name].push(Number(process.hrtime.bigint() - since) / 1e6);
    }
  }
  return times;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

custody('init');
custody('daemon', 'start');
try {
  const times = measure();
  const base = median(times['node -e 0']);
  for (const [name, values] of Object.entries(times)) {
    const value = median(values);
    console.log(`${name.padEnd(24)} ${value.toFixed(1).padStart(7)} ms  ${(value / base).toFixed(2)} x`);
  }
  const ratio = median(times['custody status']) / base;
  console.log(`limit 1.7 x: ${ratio <= 1.7 ? 'held' : 'EXCEEDED'} (${rounds} rounds, medians)`);
  process.exitCode = ratio <= 1.7 ? 0 : 1;
} finally {
  custody('daemon', 'stop');
  rmSync(home, { recursive: true, force: true });
}
