import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient } from '../../pty/launch/control.ts';
import type { DrainEvent } from '../../pty/launch/controlMessages.ts';
import { find, names, terminated } from './support/drain.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { heardReady, launcher } from './support/launcher.ts';
import { inState, isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, program } from './support/programs.ts';
import type { Scope } from './support/scope.ts';
import { makeDirectory, readReceipt, run, workDirectory } from './support/scope.ts';

const bounds = { graceMs: 150, budgetMs: 30_000 };

/** A root that ignores SIGTERM and has announced itself. */
async function stubborn(changes = {}): Promise<Scope> {
  const t = turns(workDirectory());
  const scope = await run(['sh', '-c', `trap '' TERM; ${holdInShell(t)}`], changes);
  await t.ready();
  return scope;
}

async function swarm(kind: string, count = 1, guardianPath?: string): Promise<Scope> {
  const t = turns(workDirectory());
  const scope = await run([program('swarm'), kind, t.paths[0], String(count)], {
    ...(guardianPath && { guardianPath }),
  });
  await t.ready();
  return scope;
}

describe('a workload that leaves when it is asked (linux case 55)', () => {
  it('is neither stopped nor killed', async () => {
    const t = turns(workDirectory());
    const script = `trap 'echo asked; exit 3' TERM; '${program('tree')}' hold ${t.paths.join(' ')} & wait`;
    const scope = await run(['sh', '-c', script]);
    await t.ready();
    const events = await terminated(scope, { graceMs: 30_000, budgetMs: 30_000 });
    expect(names(events)).toEqual(['accepted', 'settled']);
    expect(scope.stdout()).toBe('asked\n');
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 3, terminated: true });
  });

  it('is continued for it when it has been stopped', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    const pid = await t.ready();
    process.kill(pid, 'SIGSTOP');
    await inState(pid, 'T');
    expect(names(await terminated(scope, { graceMs: 30_000, budgetMs: 30_000 }))).toEqual(['accepted', 'settled']);
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 15 });
  });
});

describe('a tree that does not leave (SHUT-02)', () => {
  it.each([
    ['56 ignores SIGTERM', 'none', 1],
    ['57 daemonised itself', 'daemon', 1],
    ['58 hops from process to process, eightfold', 'hoppers', 8],
    ['59 wakes its stopped sibling', 'buddies', 1],
    ['60 waits in vfork', 'vfork', 1],
    ['61 was stopped before', 'stopped', 1],
    ['is all of that, and fifty more', 'mixed', 2],
  ])('%s: everything ends, in this order', async (_name, kind, count) => {
    const scope = await swarm(kind, count);
    const events = await terminated(scope, bounds);
    expect(names(events)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    const quiesced = find(events, 'quiesced');
    expect(quiesced.scans).toBeGreaterThanOrEqual(3);
    expect(quiesced.members.length).toBe(quiesced.total);
    expect(find(events, 'signalled')).toEqual({ event: 'signalled', total: quiesced.total, skippedGuardians: 0 });
    expect(find(events, 'settled').exit).toBe(0);
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
    for (const [pid, start] of quiesced.members) expect(statOf(pid)?.start === start && isAlive(pid)).toBe(false);
  });

  it('62 has a thousand members', async () => {
    const scope = await swarm('crowd', 1000);
    const events = await terminated(scope, bounds);
    const quiesced = find(events, 'quiesced');
    expect([quiesced.total, quiesced.members.length]).toEqual([1001, 256]);
    expect(find(events, 'signalled').total).toBe(1001);
    expect(scope.receipt('exit')).toMatchObject({ reaped: 1001, terminated: true });
  });

  it('floods the guardian with ends and births: it ends within the bounds, and the socket is heard meanwhile', async () => {
    const scope = await swarm('flood', 64); // the fixture carries its own limit of processes
    const control = await scope.control();
    expect((await control.hello()).phase).toBe('running');
    const ending = terminated(scope, bounds);
    const phases: string[] = [];
    const asking = (async () => {
      for (;;) phases.push((await control.hello()).phase);
    })();
    await expect(asking).rejects.not.toMatchObject({ code: 'unresponsive' }); // the last question meets a closed socket
    const events = await ending;
    expect(names(events)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    expect(find(events, 'settled').exit).toBe(0);
    expect(phases).toContain('draining');
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
  });

  it('is found without /proc/PID/task/TID/children, too', async () => {
    const scope = await swarm('mixed', 2, guardianBuiltWith('WITHOUT_CHILDREN_FILE'));
    expect(find(await terminated(scope, bounds), 'settled').exit).toBe(0);
  });

  it('would be killed while it still runs if two scans did not have to agree', async () => {
    const events = await terminated(await swarm('hoppers', 8, guardianBuiltWith('WITHOUT_AGREEMENT')), bounds);
    expect(find(events, 'quiesced').scans).toBe(1);
  });
});

describe('the bounds', () => {
  it('a budget that is too short for the scans resumes what was stopped and keeps what was stopped before (SHUT-08)', async () => {
    const scope = await swarm('stopped');
    const root = scope.launch.ready.workload.pid;
    const before = (await (await scope.control()).members()).members;
    const stopped = before.find(({ state }) => state === 'T')!;
    const events = await terminated(scope, { graceMs: 0, budgetMs: 0 });
    expect(names(events)).toEqual(['accepted', 'budgetExhausted']);
    expect(find(events, 'budgetExhausted')).toMatchObject({ survivors: 2, unkillable: [], guardians: [] });
    await inState(root, 'S');
    expect(statOf(stopped.pid)?.state).toBe('T');
    expect(find(await terminated(scope, bounds), 'settled').exit).toBe(0); // another round is possible
    await isGone(root);
  });

  it('so it does with what a grace had to continue for its SIGTERM (SHUT-08)', async () => {
    const scope = await swarm('stopped');
    const { members } = await (await scope.control()).members();
    const stopped = members.find(({ state }) => state === 'T')!;
    const events = await terminated(scope, { graceMs: 50, budgetMs: 0 });
    expect(names(events)).toEqual(['accepted', 'budgetExhausted']);
    await inState(scope.launch.ready.workload.pid, 'S');
    await inState(stopped.pid, 'T');
    expect(find(await terminated(scope, bounds), 'settled').exit).toBe(0);
  });

  it('a budget that is too short for the end names how many are left', async () => {
    const directory = workDirectory();
    const [work, tracer] = [turns(directory, 'work'), turns(directory, 'tracer')];
    const scope = await run(['sh', '-c', holdInShell(work)]);
    const pid = await work.ready();
    const holding = spawn(program('tree'), ['trace', ...tracer.paths, String(pid)], { stdio: 'ignore' });
    await tracer.ready();
    const events = await terminated(scope, { graceMs: 0, budgetMs: 300 });
    expect(names(events)).toEqual(['accepted', 'quiesced', 'signalled', 'budgetExhausted']);
    expect(find(events, 'budgetExhausted').survivors).toBe(1);
    const [first, second] = [await scope.control(), await scope.control()];
    const early = first.terminate(bounds)[Symbol.asyncIterator]();
    for (let next = await early.next(); next.value.event !== 'signalled'; ) next = await early.next();
    const late = second.terminate(bounds)[Symbol.asyncIterator](); // learns what has happened meanwhile
    const told = [(await late.next()).value, (await late.next()).value, (await late.next()).value];
    expect(names(told)).toEqual(['accepted', 'quiesced', 'signalled']);
    await tracer.release();
    expect([(await early.next()).value, (await late.next()).value]).toEqual(
      Array(2).fill({ event: 'settled', exit: 0 }),
    );
    expect(holding.pid).toBeGreaterThan(0);
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('a member of another user is named as unkillable, and its end is awaited (linux case 67)', async () => {
    if (process.getuid!() !== 0) return; // nobody else can install a program for it
    const directory = workDirectory();
    chmodSync(directory, 0o711);
    const installed = join(directory, 'swarm');
    copyFileSync(program('swarm'), installed);
    chmodSync(installed, 0o4755);
    const state = makeDirectory(join(directory, 'state'));
    chownSync(state, 65_534, 65_534);
    const t = turns(directory);
    const scopeDir = join(state, 'scope');
    const l = launcher({ scopeDir, argv: [installed, 'root', t.paths[0]], atOnce: true }, { uid: 65_534, gid: 65_534 });
    const ready = await heardReady(l);
    await t.ready();
    const control = await controlClient(scopeDir, { timeoutMs: 20_000 });
    const events: DrainEvent[] = [];
    for await (const event of control.terminate({ graceMs: 0, budgetMs: 300 })) events.push(event);
    const { survivors, unkillable } = find(events, 'budgetExhausted');
    expect([survivors, unkillable.length]).toEqual([1, 1]);
    expect([isAlive(unkillable[0]![0]), isAlive(ready.guardian.pid)]).toEqual([true, true]);
    process.kill(unkillable[0]![0], 'SIGKILL');
    await isGone(ready.guardian.pid);
    expect(readReceipt(scopeDir, 'exit')).toMatchObject({ terminated: true, reaped: 2 });
  });

  it('without a grace nobody is asked', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', `trap 'echo asked' TERM; ${holdInShell(t)}`]);
    await t.ready();
    await terminated(scope, { graceMs: 0, budgetMs: 30_000 });
    expect(scope.stdout()).toBe('');
  });

  it('an impatient second caller shortens the grace, and both hear the end (linux case 69)', async () => {
    const scope = await stubborn();
    const [first, second] = [await scope.control(), await scope.control()];
    const patient = first.terminate({ graceMs: 3_600_000, budgetMs: 30_000 })[Symbol.asyncIterator]();
    expect((await patient.next()).value).toEqual({ event: 'accepted', already: false });
    expect(await first.hello()).toMatchObject({ phase: 'draining', terminating: true });
    const heard: DrainEvent[] = [];
    for await (const event of second.terminate({ graceMs: 0, budgetMs: 30_000 })) heard.push(event);
    expect(heard[0]).toEqual({ event: 'accepted', already: true });
    const rest: DrainEvent[] = [];
    for (let next = await patient.next(); !next.done; next = await patient.next()) rest.push(next.value);
    expect(names(rest)).toEqual(['quiesced', 'signalled', 'settled']);
    expect(rest).toEqual(heard.slice(1));
    expect(scope.receipt('exit')).toMatchObject({ signal: 9, terminated: true });
  });

  it('a second caller who is more patient prolongs nothing', async () => {
    const scope = await stubborn();
    const [first, second] = [await scope.control(), await scope.control()];
    const events = first.terminate({ graceMs: 200, budgetMs: 30_000 })[Symbol.asyncIterator]();
    await events.next();
    const heard: DrainEvent[] = [];
    for await (const event of second.terminate({ graceMs: 3_600_000, budgetMs: 30_000 })) heard.push(event);
    expect(names(heard)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
  });
});
