// What a launch through the guardian costs, up to the first instruction of the workload, beside a small init that does
// the same without any proof: `node bench/guardian/run.mjs [ROUNDS]`. Everything is started by one C process in
// alternation and, where that is allowed, under a real-time policy: what else the machine does must not count. The exit
// is measured apart, because it includes the one synced write. Exit code 1 when the ratio to tini exceeds its bound.
// `… run.mjs drain [ROUNDS]` measures the end of a large tree instead (drain.mjs).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGuardian } from '../../pty/guardian/build.mjs';
import { benchDrain } from './drain.mjs';

const ratioBound = 1.5;
const here = fileURLToPath(new URL('.', import.meta.url));
const isDrain = process.argv[2] === 'drain';
const rounds = Number((isDrain ? process.argv[3] : process.argv[2]) ?? (isDrain ? 21 : 300));
const inits = ['tini', 'tini-static', 'dumb-init', 'catatonit'].map((name) => `/usr/bin/${name}`).filter(existsSync);
const realTime = spawnSync('chrt', ['-f', '5', 'true']).status === 0 ? ['chrt', '-f', '5'] : [];
const scratch = mkdtempSync(join(tmpdir(), 'custody-bench-'));

function compile(name) {
  const output = join(scratch, name);
  execFileSync(process.env.CC || 'cc', [
    '-std=c11',
    '-D_GNU_SOURCE',
    '-O2',
    '-static',
    '-o',
    output,
    join(here, `${name}.c`),
  ]);
  return output;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const ms = (ns) => (ns / 1e6).toFixed(3).padStart(8);

function measureLaunches({ start, stamp, guardian }, directory) {
  const [file, ...args] = [...realTime, start, String(rounds), directory, stamp, guardian, ...inits];
  const byName = new Map();
  for (const line of execFileSync(file, args, { encoding: 'utf8' }).trim().split('\n')) {
    const [name, launch, end] = line.split(' ');
    const one = byName.get(name) ?? { launch: [], end: [] };
    one.launch.push(Number(launch));
    one.end.push(Number(end));
    byName.set(name, one);
  }
  return byName;
}

function print(byName) {
  console.log(`${rounds} launches each, ms        launch: min   median      end: median`);
  for (const [name, { launch, end }] of byName) {
    console.log(`${name.padEnd(28)} ${ms(Math.min(...launch))} ${ms(median(launch))}     ${ms(median(end))}`);
  }
}

function ratios(byName, label) {
  const tini = byName.get('tini');
  if (tini === undefined) return console.log('tini is not installed (apt install tini): no ratio\n');
  for (const name of ['guardian', 'handshake']) {
    const ratio = median(byName.get(name).launch) / median(tini.launch);
    console.log(`${name} / tini up to exec, receipts ${label}: ${ratio.toFixed(2)} (bound ${ratioBound})`);
    if (ratio > ratioBound) process.exitCode = 1;
  }
  console.log();
}

function benchLaunches() {
  const programs = { start: compile('start'), stamp: compile('stamp'), guardian: ensureGuardian() };
  const memory = existsSync('/dev/shm') ? mkdtempSync('/dev/shm/custody-bench-') : undefined;
  if (realTime.length === 0) console.log('no real-time policy allowed: other load counts\n');
  for (const [label, directory] of [
    ['on disk', scratch],
    ['in memory', memory],
  ]) {
    if (directory === undefined) continue;
    const byName = measureLaunches(programs, directory);
    print(byName);
    ratios(byName, label);
  }
  if (memory !== undefined) rmSync(memory, { recursive: true });
  console.log('a waiting guardian, 0.2 s after its launch and 3 s later:');
  const idle = ['idle', join(scratch, 'idle'), programs.guardian, '3'];
  console.log(execFileSync(programs.start, idle, { encoding: 'utf8' }).trimEnd());
}

try {
  if (isDrain) benchDrain({ command: realTime, drain: compile('drain'), guardian: ensureGuardian(), rounds });
  else benchLaunches();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
