import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { continueGuardian } from '../support/guardianPair.ts';
import { bystander } from './support/bystander.ts';
import { cgroupFile, delegatedCgroup, moveInto } from './support/cgroup.ts';
import { find, names, terminated } from './support/drain.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { innerScope } from './support/nestedScopes.ts';
import { inState, isAlive, statOf } from './support/processes.ts';
import { guardian, guardianBuiltWith, program, wrapped } from './support/programs.ts';
import type { LaunchChanges, Scope } from './support/scope.ts';
import { gated, readReceipt, run, runToEnd, workDirectory } from './support/scope.ts';

const bounds = { graceMs: 0, budgetMs: 30_000 };

interface Grouped {
  readonly scope: Scope;
  /** What was delegated to the launcher; undefined where nothing can be, and everything goes by sweeps. */
  readonly delegated: string | undefined;
  /** The workload's own. */
  readonly own: string;
}

async function grouped(argv: readonly string[], changes: LaunchChanges = {}): Promise<Grouped> {
  const delegated = delegatedCgroup();
  const scope = await run(argv, { cgroup: delegated ?? workDirectory(), ...changes });
  const hello = await (await scope.control()).hello();
  expect(hello.cgroup).toBe(delegated !== undefined);
  return { scope, delegated, own: join(delegated ?? '/nowhere', 'S0123456789') };
}

async function swarm(kind: string, count = 1, changes: LaunchChanges = {}): Promise<Grouped> {
  const t = turns(workDirectory());
  const found = await grouped([program('swarm'), kind, t.paths[0], String(count)], changes);
  await t.ready();
  return found;
}

const stopsAt = (step: string) => wrapped(workDirectory(), ['step', `stop:${step}`], guardianBuiltWith('TEST_STEPS'));
/** A guardian that stops where everything has been frozen and nothing been killed. */
const stopsWhenFrozen = () => stopsAt('frozen');

describe('a workload in a cgroup of its own (linux case 68)', () => {
  it.each([
    ['none', 1],
    ['daemon', 1],
    ['hoppers', 8],
    ['buddies', 1],
    ['vfork', 1],
    ['stopped', 1],
    ['mixed', 2],
    ['crowd', 300],
  ])('%s: is frozen and killed by the kernel, and the cgroup is removed after the proof', async (kind, count) => {
    const { scope, delegated, own } = await swarm(kind, count);
    const events = await terminated(scope, bounds);
    expect(names(events)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    const quiesced = find(events, 'quiesced');
    if (delegated !== undefined) expect(quiesced.scans).toBe(1);
    expect(find(events, 'signalled')).toMatchObject({ total: quiesced.total, skippedGuardians: 0 });
    expect(scope.receipt('exit')).toMatchObject({ proof: 'ECHILD', signal: 9, terminated: true });
    for (const [pid, start] of quiesced.members) expect(statOf(pid)?.start === start && isAlive(pid)).toBe(false);
    expect(existsSync(own)).toBe(false);
  });

  it('nobody is stopped one by one', async ({ annotate }) => {
    const { scope, delegated, own } = await swarm('crowd', 5, { guardianPath: stopsWhenFrozen() });
    const { members } = await (await scope.control()).members();
    await annotate(delegated === undefined ? 'no cgroup v2 can be made here: all by sweeps' : 'by cgroup v2');
    const ending = terminated(scope, bounds);
    await inState(scope.launch.pid, 'T');
    const states = new Set(members.map(({ pid }) => statOf(pid)?.state));
    expect([...states]).toEqual([delegated === undefined ? 'T' : 'S']);
    if (delegated !== undefined) expect(cgroupFile(own, 'cgroup.events')).toContain('frozen 1');
    continueGuardian(scope.launch.pid);
    expect((await ending).at(-1)).toEqual({ event: 'settled', exit: 0 });
  });

  it('an end by itself leaves no cgroup behind, nor does a launch that is given up', async () => {
    const cgroup = delegatedCgroup() ?? workDirectory();
    const own = join(cgroup, 'S0123456789');
    expect((await runToEnd(['true'], { cgroup })).code).toBe(0);
    expect(existsSync(own)).toBe(false);
    const waiting = await gated(['true'], { cgroup });
    await waiting.launch.abandon();
    await waiting.launch.exited;
    expect(existsSync(own)).toBe(false);
  });

  it('cgroups that the workload has made inside its own are frozen one by one and removed with it', async () => {
    const t = turns(workDirectory());
    const script = `mkdir "$OWN/sub" && echo $$ > "$OWN/sub/cgroup.procs"; trap '' TERM; ${holdInShell(t)}`;
    const cgroup = delegatedCgroup() ?? workDirectory();
    const own = join(cgroup, 'S0123456789');
    const scope = await run(['sh', '-c', script], { cgroup, env: { PATH: process.env.PATH!, OWN: own } });
    await t.ready();
    expect((await terminated(scope, bounds)).at(-1)).toEqual({ event: 'settled', exit: 0 });
    expect(existsSync(own)).toBe(false);
  });

  it('a directory that is no cgroup is not used, and no reason to refuse', async () => {
    const cgroup = workDirectory();
    const scope = await run([program('swarm'), 'none', '/dev/null'], { cgroup });
    expect((await (await scope.control()).hello()).cgroup).toBe(false);
    expect(existsSync(join(cgroup, 'S0123456789'))).toBe(false);
    expect((await terminated(scope, bounds)).at(-1)).toEqual({ event: 'settled', exit: 0 });
  });

  it('a budget that runs out thaws it, and what was stopped before stays stopped (SHUT-08)', async () => {
    const { scope, delegated, own } = await swarm('stopped');
    const root = scope.launch.ready.workload.pid;
    const { members } = await (await scope.control()).members();
    const stopped = members.find(({ state }) => state === 'T')!;
    if (delegated !== undefined) moveInto(delegated, stopped.pid); // or one reading would be enough for everything
    expect(names(await terminated(scope, { graceMs: 50, budgetMs: 0 }))).toEqual(['accepted', 'budgetExhausted']);
    if (delegated !== undefined) expect(cgroupFile(own, 'cgroup.freeze')).toBe('0');
    await inState(root, 'S');
    await inState(stopped.pid, 'T');
    expect((await terminated(scope, bounds)).at(-1)).toEqual({ event: 'settled', exit: 0 });
  });
});

describe('the cgroup and the tree are not the same', () => {
  it('whoever was moved out of it is stopped before anybody is killed', async () => {
    const { scope, delegated } = await swarm('crowd', 3, { guardianPath: stopsWhenFrozen() });
    const { members } = await (await scope.control()).members();
    const moved = members.at(-1)!.pid;
    if (delegated !== undefined) moveInto(delegated, moved);
    const ending = terminated(scope, bounds);
    await inState(scope.launch.pid, 'T');
    expect([statOf(moved)?.state, members.every(({ pid }) => isAlive(pid))]).toEqual(['T', true]);
    continueGuardian(scope.launch.pid);
    expect(find(await ending, 'signalled').total).toBe(4);
  });

  const visited = async (guardianPath = guardian()) => {
    const stranger = await bystander();
    const { scope, delegated, own } = await swarm('crowd', 3, { guardianPath });
    if (delegated !== undefined) moveInto(own, stranger.pid);
    await terminated(scope, bounds);
    const survives = isAlive(stranger.pid);
    if (survives && delegated !== undefined) moveInto(delegated, stranger.pid);
    return { stranger, survives, isUsed: delegated !== undefined };
  };

  it('whoever was moved into it is left alone (SHUT-04)', async () => {
    const { stranger, survives } = await visited();
    expect(survives).toBe(true);
    expect(await stranger.signalsSeen()).toBe(0);
  });

  it.each(['frozen', 'killed'])(
    'whoever is moved into it after that, at `%s`, is left alone, too, and not frozen for ever',
    async (step) => {
      const stranger = await bystander();
      const { scope, delegated, own } = await swarm('crowd', 3, { guardianPath: stopsAt(step) });
      const ending = terminated(scope, bounds);
      await inState(scope.launch.pid, 'T');
      if (delegated !== undefined) moveInto(own, stranger.pid);
      continueGuardian(scope.launch.pid);
      expect((await ending).at(-1)).toEqual({ event: 'settled', exit: 0 });
      expect(isAlive(stranger.pid)).toBe(true);
      if (delegated !== undefined) {
        expect(cgroupFile(own, 'cgroup.freeze')).toBe('0');
        moveInto(delegated, stranger.pid);
      }
      expect(await stranger.signalsSeen()).toBe(0);
    },
  );

  it('and would be killed, if the two were not compared', async () => {
    const { survives, isUsed } = await visited(guardianBuiltWith('WITHOUT_FOREIGN_CHECK'));
    expect(survives).toBe(!isUsed);
  });
});

describe('a cgroup with a nested guardian in it is neither frozen nor killed (SHUT-04)', () => {
  const nested = async (guardianPath = guardian()) => {
    const directory = workDirectory();
    const cgroup = delegatedCgroup() ?? directory;
    const [outerDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
    const t = turns(directory);
    const argv = [program('swarm'), 'mixed', t.paths[0], '2'];
    const { command } = await innerScope(innerDir, outerDir, { argv, guardianPath, cgroup });
    const script = `trap '' TERM; ${command} & wait`;
    const outer = await run(['sh', '-c', script], { scopeDir: outerDir, guardianPath, cgroup });
    await t.ready();
    const events = await terminated(outer, bounds);
    return {
      outer,
      innerDir,
      events,
      left: ['SINNER', 'S0123456789'].filter((name) => existsSync(join(cgroup, name))),
    };
  };

  it('its receipts are complete first', async () => {
    const { outer, innerDir, events, left } = await nested();
    expect(events.at(-1)).toEqual({ event: 'settled', exit: 0 });
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ terminated: true, lostNested: 0, signal: 9 });
    expect(outer.receipt('exit')).toMatchObject({ terminated: true, lostNested: 0 });
    expect(BigInt(readReceipt(innerDir, 'exit').atNs)).toBeLessThan(BigInt(outer.receipt('status').atNs));
    expect(left).toEqual([]);
  });

  it('without the sparing they would be lost', async () => {
    const { outer } = await nested(guardianBuiltWith('WITHOUT_SPARING'));
    expect(outer.receipt('exit')).toMatchObject({ lostNested: 1 });
  });
});
