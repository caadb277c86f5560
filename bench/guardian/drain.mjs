// What the end of a tree costs: `npm run bench -- guardian drain [ROUNDS]`, beside a small C program that kills and reaps
// the same tree without any proof. Both are started by one process, in alternation and, where that is allowed, under a
// real-time policy. The receipts are in memory: the one synced write of an end is measured by the other benchmark.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ratioBound = 2;

/** A cgroup that the guardian may divide, below the one that we are in; undefined where this user may not make one. */
function makeCgroup() {
  const mount = /^\d+ \d+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  if (mount === undefined || path === undefined) return undefined;
  try {
    return mkdtempSync(join(mount, path, 'custody-bench-'));
  } catch {
    return undefined;
  }
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function measure({ command, drain, guardian, rounds, cgroup }, count) {
  const directory = mkdtempSync('/dev/shm/custody-bench-');
  const args = [String(rounds), String(count), directory, guardian, ...(cgroup ? [cgroup] : [])];
  const [file, ...rest] = [...command, drain, ...args];
  const byName = new Map();
  try {
    for (const line of execFileSync(file, rest, { encoding: 'utf8' }).trim().split('\n')) {
      const [name, ns] = line.split(' ');
      byName.set(name, [...(byName.get(name) ?? []), Number(ns)]);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  return byName;
}

/** Prints the medians; exit code 1 when the best way that this machine has is above its bound. */
export function benchDrain(parts) {
  const cgroup = makeCgroup();
  if (cgroup === undefined) console.log('no cgroup v2 that we may divide: by sweeps only');
  try {
    for (const count of [100, 1000]) {
      const byName = measure({ ...parts, cgroup }, count);
      const plain = median(byName.get('plain'));
      console.log(`${count} descendants, ${parts.rounds} rounds     median ms   ratio`);
      for (const [name, values] of byName) {
        const ratio = median(values) / plain;
        console.log(
          `${name.padEnd(28)} ${(median(values) / 1e6).toFixed(2).padStart(11)} ${ratio.toFixed(2).padStart(7)}`,
        );
        if (name === (cgroup ? 'cgroup' : 'sweeps') && ratio > ratioBound) process.exitCode = 1;
      }
    }
    console.log(`(bound ${ratioBound})`);
  } finally {
    if (cgroup !== undefined) rmdirSync(cgroup);
  }
}
