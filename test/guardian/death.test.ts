import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { guardianPair, loseGuardian } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { heardReady, launcher } from './support/launcher.ts';
import { isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, wrapped } from './support/programs.ts';
import { exists, gated, readReceipt, run, runToEnd, workDirectory } from './support/scope.ts';

function evidence(directory: string): string[] {
  return readdirSync(directory).filter((name) => /\.(json|reserved)$/.test(name));
}

describe('the guardian is killed while the workload runs (linux case 20, GRD-10)', () => {
  it('leaves a living workload and no claim about its end', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    const pid = await t.ready();
    const { worker } = guardianPair(scope.launch.pid);
    await loseGuardian(scope.launch.pid);
    expect(await scope.launch.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(pid)).toBe(true);
    expect([scope.launch.pid, worker!.pid]).not.toContain(statOf(pid)?.ppid);
    await t.release();
    await isGone(pid);
    expect(evidence(scope.directory)).toEqual(['exit.reserved', 'start.json', 'status.reserved']);
  });
});

/** Where the guardian dies, and what the launcher is told. `gate` is after the byte has been read, before it is passed on. */
const steps = [
  ['begin', 'handshake', 'guardian_died'],
  ['spec', 'handshake', 'guardian_died'],
  ['slots', 'handshake', 'guardian_died'],
  ['enrolled', 'handshake', 'guardian_died'],
  ['forked', 'handshake', 'guardian_died'],
  ['started', 'handshake', 'guardian_died'],
  ['ready', 'gate', 'release_uncertain'],
  ['gate', 'gate', 'release_uncertain'],
] as const;

describe('the guardian is killed on its way to the gate (linux case 24, GRD-06)', () => {
  it.each(steps)('at `%s` the image never runs', async (step, phase, code) => {
    const directory = workDirectory();
    const ran = join(directory, 'ran');
    const guardianPath = wrapped(directory, ['step', `kill:${step}`], guardianBuiltWith('TEST_STEPS'));
    const attempt = run(['touch', ran], { guardianPath });
    await expect(attempt).rejects.toMatchObject({ name: 'GuardianLaunchError', phase, code });
    expect(await nobodyHolds(directory)).toBe(true);
    expect(exists(ran)).toBe(false);
  });

  it('after the gate byte has been passed on, the image runs and the guardian is lost', async () => {
    const directory = workDirectory();
    const t = turns(directory);
    const guardianPath = wrapped(directory, ['step', 'kill:released'], guardianBuiltWith('TEST_STEPS'));
    const failure = run(['sh', '-c', holdInShell(t)], { guardianPath }).catch((error) => error);
    const pid = await t.ready();
    expect(await failure).toMatchObject({ phase: 'gate', code: 'release_uncertain' });
    expect(isAlive(pid)).toBe(true);
    await t.release();
    await isGone(pid);
  });
});

/** No process has the scope's directory, or anything below it, open or in its command line: the gated child has gone. */
async function nobodyHolds(directory: string): Promise<boolean> {
  return eventually('no process of the launch left', () => !someoneMentions(directory) || undefined);
}

function someoneMentions(directory: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .some((pid) => links(`/proc/${pid}/fd`).some((target) => target.startsWith(directory)));
}

function links(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => readlinkSync(join(directory, name)));
  } catch {
    return [];
  }
}

describe('the gate (GRD-06)', () => {
  const neverRan = { how: 'notReleased', code: null, signal: null, errno: null };

  it('stays closed when the launcher abandons, and the receipts say so', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran]);
    expect(await scope.launch.abandon()).toEqual({ code: 0, signal: null });
    expect(scope.receipt('status')).toMatchObject(neverRan);
    expect(scope.receipt('exit')).toMatchObject({ ...neverRan, reaped: 1, adopted: 0, proof: 'ECHILD' });
    expect(exists(ran)).toBe(false);
    await expect(scope.launch.openGate()).rejects.toMatchObject({ code: 'not_released', phase: 'gate' });
  });

  it('closes by itself after twice the handshake time', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran], { handshakeMs: 60 });
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(scope.receipt('exit')).toMatchObject(neverRan);
    await expect(scope.launch.openGate()).rejects.toMatchObject({ code: 'not_released', step: 'timeout' });
    expect(exists(ran)).toBe(false);
  });

  it('stays closed when the gated child is killed from outside', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran]);
    process.kill(scope.launch.ready.workload.pid, 'SIGKILL');
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ ...neverRan, waitStatus: 9 });
    expect(exists(ran)).toBe(false);
  });

  it('stays closed when the scope is terminated', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran]);
    const control = await scope.control();
    expect((await control.hello()).phase).toBe('gated');
    const events = [];
    for await (const event of control.terminate({ graceMs: 1000, budgetMs: 1000 })) events.push(event);
    expect(events).toEqual([
      { event: 'accepted', already: false },
      { event: 'settled', exit: 0 },
    ]);
    expect(scope.receipt('exit')).toMatchObject({ ...neverRan, terminated: true });
    expect(exists(ran)).toBe(false);
  });

  it('is what keeps the image from running: without it, it runs', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran], { guardianPath: guardianBuiltWith('WITHOUT_GATE') });
    await scope.launch.exited;
    expect(exists(ran)).toBe(true);
  });
});

describe('the launcher is killed (GRD-09, linux case 25)', () => {
  it('before the gate: the image never runs and the receipts say so', async () => {
    const directory = workDirectory();
    const [scopeDir, ran] = [join(directory, 'scope'), join(directory, 'ran')];
    const l = launcher({ scopeDir, argv: ['touch', ran] });
    const ready = await heardReady(l);
    l.child.kill('SIGKILL');
    await isGone(ready.guardian.pid);
    expect(readReceipt(scopeDir, 'exit')).toMatchObject({ how: 'notReleased', guardian: ready.guardian });
    expect(exists(ran)).toBe(false);
  });

  it('after the gate: the guardian goes on and completes the receipts', async () => {
    const directory = workDirectory();
    const scopeDir = join(directory, 'scope');
    const t = turns(directory);
    const l = launcher({ scopeDir, argv: ['sh', '-c', holdInShell(t, 'echo last line; exit 7')], atOnce: true });
    const ready = await heardReady(l);
    await t.ready();
    l.child.kill('SIGKILL');
    await isGone(l.child.pid!);
    process.kill(ready.guardian.pid, 'SIGHUP');
    await t.release();
    await isGone(ready.guardian.pid);
    expect(readReceipt(scopeDir, 'exit')).toMatchObject({ how: 'exited', code: 7 });
    expect(readFileSync(join(scopeDir, 'stdout.log'), 'utf8')).toBe('last line\n');
  });
});

describe('signals to the guardian', () => {
  it('hang-up, quit, alarm and user signals change nothing', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    await t.ready();
    for (const signal of ['SIGHUP', 'SIGQUIT', 'SIGALRM', 'SIGUSR1', 'SIGUSR2', 'SIGPIPE', 'SIGTSTP'] as const) {
      process.kill(scope.launch.pid, signal);
    }
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'running', terminating: false });
    control.close();
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit').terminated).toBe(false);
  });

  it('SIGTERM ends the tree with the default bounds', async () => {
    const t = turns(workDirectory());
    const argv = ['sh', '-c', `trap '' TERM; ${holdInShell(t)}`];
    const scope = await run(argv, { graceMs: 50, budgetMs: 5000 });
    await t.ready();
    process.kill(scope.launch.pid, 'SIGTERM');
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
  });

  it('a short run leaves no socket behind', async () => {
    const scope = await runToEnd(['true']);
    expect(readdirSync(scope.directory).includes('ctl.sock')).toBe(false);
  });
});
