import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { guardianPair, loseGuardian } from '../support/guardianPair.ts';
import { delegatedCgroup } from './support/cgroup.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { expectWhole, type Half, halves } from './support/halves.ts';
import { innerScope } from './support/nestedScopes.ts';
import { isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, program, wrapped } from './support/programs.ts';
import { exists, readReceipt, run, type Scope, workDirectory } from './support/scope.ts';
import { runInTerminal } from './support/terminal.ts';

/** A guardian of which one half is killed when its worker comes to a step of its work; NAME#2 is the second time. */
const losing = (half: Half, step: string): string =>
  wrapped(
    workDirectory(),
    ['step', `${half === 'worker' ? 'killWorker' : 'killWitness'}:${step}`],
    guardianBuiltWith('TEST_STEPS'),
  );

/** Reaped by the root are none of these, by the guardian two: the root, and a child that the root did not wait for. */
const withOrphan = (ran: string) => ['sh', '-c', `echo ran >> '${ran}'; (sh -c "exit 3" & exit 0); exit 7`];
const wholeTree = { how: 'exited', code: 7, reaped: 2, adopted: 1, lostNested: 0, terminated: false };

/** A run that waits until the test is over. */
async function held(guardianPath: string): Promise<Scope> {
  const t = turns(workDirectory());
  const scope = await run(['sh', '-c', holdInShell(t)], { guardianPath });
  await t.ready();
  return scope;
}

/** A guardian of this kind around another one with this workload. */
async function around(guardianPath: string, argv: readonly string[]): Promise<{ outer: Scope; innerDir: string }> {
  const directory = workDirectory();
  const [scopeDir, innerDir] = [join(directory, 'outer'), join(directory, 'inner')];
  const { command } = await innerScope(innerDir, scopeDir, { argv, guardianPath: guardianBuiltWith('TEST_STEPS') });
  const outer = await run(['sh', '-c', `${command} & wait`], { scopeDir, guardianPath });
  return { outer, innerDir };
}

const beforeTheChild = ['worker', 'forked'];
/** `unnamed` and `named` are around the moment in which a receipt gets its name, for the start receipt first. */
const beforeTheGate = ['unnamed', 'named', 'started', 'ready', 'gate'];
const behindTheGate = [
  ...['releasing', 'released', 'noted', 'rootEnded', 'taken', 'noted#2', 'taken#2'],
  ...['unnamed#2', 'named#2', 'unnamed#3', 'named#3', 'exitReceipt'],
];

describe('22 the worker is killed at a step of its work (GRD-06, GRD-10)', () => {
  it.each(beforeTheChild)('at `%s`: the launch is refused, and nothing is left of it', async (step) => {
    const directory = workDirectory();
    const [scopeDir, ran] = [join(directory, 'scope'), join(directory, 'ran')];
    const attempt = run(withOrphan(ran), { scopeDir, guardianPath: losing('worker', step) });
    await expect(attempt).rejects.toMatchObject({ code: 'guardian_refused', step: 'witness', exitCode: 125 });
    expect(readdirSync(scopeDir).filter((name) => /json$|sock$/.test(name))).toEqual([]);
    expect(exists(ran)).toBe(false);
  });

  it('between the making of its cgroup and the use of it: nothing is left of that either', async ({ annotate }) => {
    const cgroup = delegatedCgroup();
    if (cgroup === undefined) await annotate('no cgroup v2 can be made here');
    if (cgroup === undefined) return;
    const attempt = run(['true'], { cgroup, guardianPath: losing('worker', 'grouped') });
    await expect(attempt).rejects.toMatchObject({ code: 'guardian_refused', step: 'witness' });
    expect(existsSync(join(cgroup, 'S0123456789'))).toBe(false);
  });

  it.each(beforeTheGate)('at `%s`: the image has provably never run', async (step) => {
    const directory = workDirectory();
    const [scopeDir, ran] = [join(directory, 'scope'), join(directory, 'ran')];
    const attempt = run(withOrphan(ran), { scopeDir, guardianPath: losing('worker', step) });
    await expect(attempt).rejects.toMatchObject({ code: 'not_released', step: 'guardianKilled' });
    expect(await expectWhole(scopeDir)).toMatchObject({ how: 'notReleased', reaped: 1, adopted: 0 });
    expect(exists(ran)).toBe(false);
  });

  it.each(behindTheGate)('at `%s`: status, proof and counts are as if nothing had happened', async (step) => {
    const ran = join(workDirectory(), 'ran');
    const scope = await run(withOrphan(ran), { guardianPath: losing('worker', step) });
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(await expectWhole(scope.directory)).toMatchObject(wholeTree);
    expect(readdirSync(scope.directory)).not.toContain('ctl.sock');
  });

  it.each(['released', 'execRead', 'noted', 'rootEnded'])(
    'at `%s`: that the image could not be executed is not forgotten',
    async (step) => {
      const scope = await run(['/nothing/here'], { guardianPath: losing('worker', step) });
      expect((await scope.launch.exited).code).toBe(0);
      expect(await expectWhole(scope.directory)).toMatchObject({ how: 'execFailed', code: 127, errno: 2 });
    },
  );

  it.each(['exitReceipt', 'lingering'])('at `%s` of a terminal: its output ends with the marker', async (step) => {
    const scope = await runInTerminal(['echo', 'done'], { guardianPath: losing('worker', step) });
    await scope.terminal.marked;
    expect(scope.terminal.output().toString()).toMatch(/^done\r\n/);
    expect((await scope.launch.exited).code).toBe(0);
    await expectWhole(scope.directory);
  });
});

describe('22 what the worker had only just got hold of', () => {
  it('a connection is closed, and does not seem to be answered some day', async () => {
    const scope = await held(losing('worker', 'accepted'));
    const first = await scope.control();
    await expect(first.hello()).rejects.toMatchObject({ code: 'control_closed' });
    const second = await scope.control();
    expect(await second.hello()).toMatchObject({ phase: 'running' });
    second.close();
  });

  it.each(['heard', 'heard#2'])('the word of a nested guardian counts, at `%s`', async (step) => {
    const { outer, innerDir } = await around(losing('worker', step), ['true']);
    expect(await expectWhole(outer.directory)).toMatchObject({ lostNested: 0 });
    await expectWhole(innerDir);
  });

  it.each(['losing', 'lost'])('the loss of a nested guardian counts once, at `%s`', async (step) => {
    const t = turns(workDirectory());
    const { outer, innerDir } = await around(losing('worker', step), ['sh', '-c', holdInShell(t)]);
    await t.ready();
    await loseGuardian(readReceipt(innerDir, 'start').guardian);
    await t.release();
    expect(await expectWhole(outer.directory)).toMatchObject({ lostNested: 1 });
  });
});

describe('22 the witness is killed while the worker is at a step of its work', () => {
  it.each([...beforeTheChild, ...beforeTheGate, ...behindTheGate])('at `%s`: the worker goes on', async (step) => {
    const ran = join(workDirectory(), 'ran');
    const scope = await run(withOrphan(ran), { guardianPath: losing('witness', step) });
    expect(await scope.launch.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await expectWhole(scope.directory)).toMatchObject(wholeTree);
  });
});

describe.each(halves)('22 the %s is killed at a step of a drain (SHUT-02)', (half) => {
  const steps = ['promised', 'grace', 'freeze', 'freeze#2', 'frozen', 'kill', 'killed', 'noted', 'taken#3'];

  it.each(steps)('at `%s`: everything ends, and whoever follows hears each event once', async (step) => {
    const t = turns(workDirectory());
    const argv = [program('swarm'), 'mixed', t.paths[0], '2'];
    const scope = await run(argv, { guardianPath: losing(half, step) });
    await t.ready();
    const control = await scope.control();
    const { members } = await control.members();
    const events: string[] = [];
    for await (const { event } of control.terminate({ graceMs: 100, budgetMs: 60_000 })) events.push(event);
    // What has been killed and not told of yet may have ended before anybody could tell.
    const all = ['accepted', 'quiesced', 'signalled', 'settled'];
    const isUntold = half === 'worker' && step === 'killed' && !events.includes('signalled');
    expect(events).toEqual(isUntold ? all.filter((event) => event !== 'signalled') : all);
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
    for (const { pid, start } of members) expect(statOf(pid)?.start === start && isAlive(pid)).toBe(false);
  });

  it.each(['stopping', 'freeze', 'frozen', 'kill', 'killed', 'exitReceipt'])(
    'at `%s`, with a cgroup: everything ends, and the cgroup is removed (68)',
    async (step) => {
      const t = turns(workDirectory());
      const argv = [program('swarm'), 'mixed', t.paths[0], '2'];
      const cgroup = delegatedCgroup() ?? workDirectory();
      const scope = await run(argv, { guardianPath: losing(half, step), cgroup });
      await t.ready();
      const control = await scope.control();
      for await (const _ of control.terminate({ graceMs: 0, budgetMs: 60_000 }));
      expect(await expectWhole(scope.directory)).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
      expect(existsSync(join(cgroup, 'S0123456789'))).toBe(false);
    },
  );

  it('before anybody has been asked to leave: everybody is asked', async () => {
    const scope = await run(['sleep', '1000'], { guardianPath: losing(half, 'grace') });
    const control = await scope.control();
    for await (const _ of control.terminate({ graceMs: 600_000, budgetMs: 60_000 }));
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'signaled', signal: 15, terminated: true });
  });

  it('that it was asked for by a signal and had not begun: it is begun', async () => {
    const t = turns(workDirectory());
    const argv = [program('swarm'), 'none', t.paths[0]];
    const scope = await run(argv, { guardianPath: losing(half, 'told'), graceMs: 50 });
    await t.ready();
    const { witness, worker } = guardianPair(scope.launch.pid);
    signalVerified(witness, 'SIGTERM');
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
    await isGone(worker!.pid);
  });
});
