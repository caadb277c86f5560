import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlClient } from '../../pty/launch/control.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { guardianPair } from '../support/guardianPair.ts';
import { terminated } from './support/drain.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { expectWhole, halves, loseHalf } from './support/halves.ts';
import { inState, isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, program, wrapped } from './support/programs.ts';
import { exists, gated, run, workDirectory } from './support/scope.ts';
import { runInTerminal } from './support/terminal.ts';

async function held(then = 'exit 6', changes = {}) {
  const t = turns(workDirectory());
  const scope = await run(['sh', '-c', holdInShell(t, then)], changes);
  return { scope, pid: await t.ready(), release: t.release };
}

describe('a guardian (GRD-10)', () => {
  it('is two processes of one session, of which the recorded one waits; both say what they are', async () => {
    const { scope, pid, release } = await held();
    const { witness, worker } = guardianPair(scope.launch.pid);
    expect(scope.launch.ready.guardian).toMatchObject(witness);
    expect([statOf(pid)?.ppid, statOf(worker!.pid)?.ppid]).toEqual([worker!.pid, witness.pid]);
    const comms = [witness, worker!].map((one) => readFileSync(`/proc/${one.pid}/comm`, 'utf8').trim());
    expect(comms).toEqual(['custody-witness', 'custody-guardia']);
    await release();
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    await isGone(worker!.pid);
  });

  it('is seen to be stopped when its worker is, and whoever continues one continues both', async () => {
    const { scope, release } = await held();
    const { witness, worker } = guardianPair(scope.launch.pid);
    for (const one of [witness, worker!]) {
      signalVerified(worker!, 'SIGSTOP');
      await inState(worker!.pid, 'T');
      await inState(witness.pid, 'T');
      signalVerified(one, 'SIGCONT');
      await inState(worker!.pid, 'S');
      await inState(witness.pid, 'S');
    }
    await release();
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('works on while only its witness is stopped, and takes it along when it leaves', async () => {
    const { scope, release } = await held();
    const { witness, worker } = guardianPair(scope.launch.pid);
    signalVerified(witness, 'SIGSTOP');
    await inState(witness.pid, 'T');
    await release();
    await expectWhole(scope.directory);
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    await isGone(worker!.pid);
  });

  it('that is stopped whole is given up by its launcher, who knows of the witness only: the worker follows (GRD-06)', async () => {
    const directory = workDirectory();
    const [scopeDir, ran] = [join(directory, 'scope'), join(directory, 'ran')];
    const guardianPath = wrapped(directory, ['step', 'stop:ready'], guardianBuiltWith('TEST_STEPS'));
    const scope = await gated(['touch', ran], { scopeDir, guardianPath, handshakeMs: 300 });
    const { worker } = guardianPair(scope.launch.pid);
    expect(await scope.launch.abandon()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await expectWhole(scopeDir)).toMatchObject({ how: 'notReleased', reaped: 1 });
    await isGone(worker!.pid);
    expect(exists(ran)).toBe(false);
  });

  it('is one process where it has children from before, or is a job of a shell: it could not hand them on', async () => {
    const directory = workDirectory();
    const t = turns(directory);
    const scope = await run(['true'], { guardianPath: wrapped(directory, ['inherit', ...t.paths]) });
    await t.ready();
    expect(guardianPair(scope.launch.pid).worker).toBeUndefined();
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
  });
});

describe.each(halves)('22 SIGKILL of one half of a guardian, the %s (GRD-10)', (half) => {
  it('before the gate: the image runs when it is released, or has provably never run', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran]);
    const { left } = await loseHalf(scope.launch.pid, half);
    if (half === 'worker') {
      expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
      await expect(scope.launch.openGate()).rejects.toMatchObject({ code: 'not_released', step: 'guardianKilled' });
      expect(await expectWhole(scope.directory)).toMatchObject({ how: 'notReleased', reaped: 1, adopted: 0 });
    } else {
      expect(await scope.launch.openGate()).toEqual({ released: true });
      expect(await expectWhole(scope.directory)).toMatchObject({ how: 'exited', code: 0 });
    }
    expect(exists(ran)).toBe(half === 'witness');
    await isGone(left.pid);
  });

  it('before the gate, and then the launcher gives up: it has provably never run', async () => {
    const ran = join(workDirectory(), 'ran');
    const scope = await gated(['touch', ran]);
    const { left } = await loseHalf(scope.launch.pid, half);
    await scope.launch.abandon();
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'notReleased', reaped: 1 });
    expect(exists(ran)).toBe(false);
    await isGone(left.pid);
  });

  it('while the workload runs: the other one has status, proof and counts, and every connection', async () => {
    const { scope, pid, release } = await held('(sh -c "exit 3" & exit 0); exit 6');
    const control = await scope.control();
    await control.hello();
    const { left } = await loseHalf(scope.launch.pid, half);
    expect(await control.hello()).toMatchObject({ phase: 'running', guardian: scope.launch.ready.guardian });
    expect((await control.members()).members).toMatchObject([{ pid, ppid: left.pid }]);
    control.close();
    await release();
    expect(await expectWhole(scope.directory)).toMatchObject({
      how: 'exited',
      code: 6,
      reaped: 2,
      adopted: 1,
      lostNested: 0,
      terminated: false,
    });
    await isGone(left.pid);
    const exited = await scope.launch.exited;
    expect(exited).toEqual(half === 'worker' ? { code: 0, signal: null } : { code: null, signal: 'SIGKILL' });
    expect(exists(join(scope.directory, 'ctl.sock'))).toBe(false);
  });

  it('while the root has ended and a daemon of it has not: the proof waits for it', async () => {
    const t = turns(workDirectory());
    const scope = await run([program('tree'), 'daemon', ...t.paths]);
    const daemon = await t.ready();
    await scope.appeared('status.json');
    const { left } = await loseHalf(scope.launch.pid, half);
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'rootEnded' });
    control.close();
    expect([isAlive(daemon), statOf(daemon)?.ppid]).toEqual([true, left.pid]);
    await t.release();
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'exited', code: 0, reaped: 3, adopted: 2 });
  });

  it('in the grace of a drain: it is gone on with, and whoever follows it hears its end', async () => {
    const t = turns(workDirectory());
    const scope = await run([program('swarm'), 'mixed', t.paths[0], '2']);
    await t.ready();
    const following = (await scope.control()).terminate({ graceMs: 600_000, budgetMs: 60_000 })[Symbol.asyncIterator]();
    expect((await following.next()).value).toEqual({ event: 'accepted', already: false });
    await loseHalf(scope.launch.pid, half);
    const impatient = await terminated(scope, { graceMs: 0, budgetMs: 60_000 });
    expect(impatient.map(({ event }) => event)).toEqual(['accepted', 'quiesced', 'signalled', 'settled']);
    expect(impatient[0]).toEqual({ event: 'accepted', already: true });
    const heard: string[] = [];
    for (let next = await following.next(); !next.done; next = await following.next()) heard.push(next.value.event);
    expect(heard).toEqual(['quiesced', 'signalled', 'settled']);
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'signaled', signal: 9, terminated: true });
  });

  it('while a terminal is open: nothing is hung up, and the output ends with its marker (77)', async () => {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', holdInShell(t, 'echo still here; exit 4')]);
    const pid = await t.ready();
    const { left } = await loseHalf(scope.launch.pid, half);
    expect([isAlive(pid), statOf(pid)?.session]).toEqual([true, pid]);
    await t.release();
    await scope.terminal.saw('still here\r\n');
    await scope.terminal.marked;
    expect(await expectWhole(scope.directory)).toMatchObject({ how: 'exited', code: 4 });
    await isGone(left.pid);
  });

  it('while a terminal waits for its reader: it waits on, until the output has been read', async () => {
    const scope = await runInTerminal(['echo', 'done'], { acknowledges: false });
    await scope.terminal.marked;
    const before = readFileSync(join(scope.directory, 'exit.json'));
    const { left } = await loseHalf(scope.launch.pid, half);
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'lingering' });
    control.close();
    expect(isAlive(left.pid)).toBe(true);
    scope.launch.acknowledgeOutput();
    await isGone(left.pid);
    expect(scope.terminal.output().toString()).toBe('done\r\n');
    expect(readFileSync(join(scope.directory, 'exit.json')).equals(before)).toBe(true);
    await expectWhole(scope.directory);
  });
});

describe('what a lost worker had not come to (linux case 22)', () => {
  it('a root that ended unseen is found, with its status', async () => {
    const { scope, pid, release } = await held('kill -11 $$');
    const { witness, worker } = guardianPair(scope.launch.pid);
    signalVerified(worker!, 'SIGSTOP');
    await inState(witness.pid, 'T');
    await release();
    await inState(pid, 'Z');
    signalVerified(worker!, 'SIGKILL');
    signalVerified(witness, 'SIGCONT');
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(await expectWhole(scope.directory)).toMatchObject({ signal: 11, reaped: 1, adopted: 0 });
  });

  it('a termination that nobody had read is carried out', async () => {
    const { scope } = await held();
    const { witness, worker } = guardianPair(scope.launch.pid);
    signalVerified(worker!, 'SIGSTOP');
    await inState(witness.pid, 'T');
    signalVerified(witness, 'SIGTERM');
    signalVerified(worker!, 'SIGKILL');
    signalVerified(witness, 'SIGCONT');
    expect((await scope.launch.exited).code).toBe(0);
    expect(await expectWhole(scope.directory)).toMatchObject({ signal: 15, terminated: true });
  });

  it('is lost with it where there is no witness', async () => {
    const { scope, pid, release } = await held('exit 6', { guardianPath: guardianBuiltWith('WITHOUT_WITNESS') });
    const { witness, worker } = guardianPair(scope.launch.pid);
    expect(worker).toBeUndefined();
    signalVerified(witness, 'SIGKILL');
    await scope.launch.exited;
    await release();
    await isGone(pid);
    expect(exists(join(scope.directory, 'exit.json'))).toBe(false);
    await expect(controlClient(scope.directory)).rejects.toMatchObject({ code: 'guardian_unreachable' });
  });
});
