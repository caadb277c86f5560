import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seeded } from '../host/support/random.ts';
import { bystander } from './support/bystander.ts';
import { delegatedCgroup } from './support/cgroup.ts';
import { turns } from './support/fifo.ts';
import { innerScope } from './support/nestedScopes.ts';
import { program } from './support/programs.ts';
import { exists, readReceipt, run, workDirectory } from './support/scope.ts';

const seeds = process.env.CUSTODY_SOAK === '1' ? 1000 : 15;

const kinds = ['none', 'daemon', 'stopped', 'vfork', 'buddies', 'hoppers', 'crowd'] as const;
const mostMembers = 4;
const mostNested = 2;
const deepest = 3;

/** One storm in the making: a scope's script, and what the whole tree will have to show for itself afterwards. */
interface Growth {
  readonly random: (below: number) => number;
  readonly directory: string;
  readonly inner: string[];
  /** Announcements to wait for before the drain; none when it begins in the middle of everything. */
  readonly ready: (() => Promise<number>)[];
  readonly isAwaited: boolean;
  /** Set in every other storm, where cgroups can be made: the first scopes to come get one. */
  readonly cgroup: string | undefined;
}

async function script(growth: Growth, scopeDir: string, depth: number): Promise<string> {
  const { random, directory, isAwaited, cgroup } = growth;
  const swarm = `'${program('swarm')}'`;
  const lines = Array.from({ length: 1 + random(mostMembers) }, () => {
    const kind = kinds[random(kinds.length)]!;
    return `${random(3) === 0 ? 'setsid ' : ''}${swarm} ${kind} /dev/null ${1 + random(4)} &`;
  });
  for (let left = depth < deepest ? random(mostNested + 1) : 0; left > 0; left--) {
    const innerDir = join(directory, `scope${growth.inner.length}`);
    growth.inner.push(innerDir);
    const argv = ['sh', '-c', await script(growth, innerDir, depth + 1)];
    const { command } = await innerScope(innerDir, scopeDir, {
      argv,
      graceMs: random(30),
      env: { STORM: directory },
      ...(cgroup && { cgroup }),
    });
    lines.push(random(2) === 0 ? `${command} &` : `(${command} &)`);
  }
  const t = turns(directory, basename(scopeDir));
  if (isAwaited) growth.ready.push(t.ready);
  const last = `${swarm} none '${isAwaited ? t.paths[0] : '/dev/null'}'`;
  return `${random(2) === 0 ? "trap '' TERM; " : ''}${lines.join('\n')}\n${random(5) > 0 ? last : `${last} &`}`;
}

/** By what every process of the storm has inherited, wherever it has hidden. */
function processesOf(mark: string): number[] {
  const carries = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && carries(name))
    .map(Number);
}

async function weather(seed: number, delegated: string | undefined): Promise<void> {
  const random = seeded(seed);
  const directory = workDirectory();
  const cgroup = seed % 2 === 0 ? delegated : undefined;
  const growth: Growth = { random, directory, inner: [], ready: [], isAwaited: random(10) < 7, cgroup };
  const outerDir = join(directory, 'outer');
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', STORM: directory };
  const outer = await run(['sh', '-c', await script(growth, outerDir, 1)], {
    scopeDir: outerDir,
    env,
    ...(cgroup && { cgroup }),
  });
  for (const ready of growth.ready) await ready();
  const control = await outer.control();
  const bounds = { graceMs: random(2) * random(30), budgetMs: 60_000 };
  let last: unknown;
  for await (const event of control.terminate(bounds)) last = event;
  control.close();
  expect(last, `seed ${seed}`).toEqual({ event: 'settled', exit: 0 });
  expect(processesOf(`STORM=${directory}`), `seed ${seed}`).toEqual([]);
  expect(await outer.launch.exited, `seed ${seed}`).toEqual({ code: 0, signal: null });
  expect(outer.receipt('exit'), `seed ${seed}`).toMatchObject({ terminated: true, lostNested: 0 });
  if (cgroup !== undefined) expect(readdirSync(cgroup).filter((name) => name.startsWith('S'))).toEqual([]);
  // Whoever came too late was refused, and has run nothing.
  const begun = growth.inner.filter((scope) => exists(join(scope, 'start.json')));
  if (growth.isAwaited) expect(begun, `seed ${seed}`).toEqual(growth.inner);
  for (const scope of begun) {
    expect(readReceipt(scope, 'exit'), `seed ${seed}`).toMatchObject({ terminated: true, lostNested: 0 });
  }
}

describe('storms of processes, with guardians inside guardians, drained in the middle (SHUT-02, SHUT-04)', () => {
  it('leave no process, all receipts, every guardian to its own end, and strangers alone', async ({ annotate }) => {
    const stranger = await bystander();
    const cgroup = delegatedCgroup();
    for (let seed = 1; seed <= seeds; seed++) await weather(seed, cgroup);
    expect(await stranger.signalsSeen()).toBe(0);
    await annotate(`${seeds} storms drained, ${cgroup === undefined ? 'none' : 'every other one'} in cgroups`);
  });

  it('and a stranger would tell', async () => {
    const stranger = await bystander();
    process.kill(stranger.pid, 'SIGCONT');
    expect(await stranger.signalsSeen()).toBe(1);
  });
});
