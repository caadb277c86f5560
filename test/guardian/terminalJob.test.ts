import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardianDigest } from '../../pty/launch/binary.ts';
import { controlClient } from '../../pty/launch/control.ts';
import { encodeFrame } from '../../pty/launch/frame.ts';
import { reserveSlots } from '../../pty/launch/slots.ts';
import { eventually } from '../support/eventually.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { launcherCommand } from './support/launcher.ts';
import { foregroundOf, inForeground, inState, statOf } from './support/processes.ts';
import { guardian, guardianBuiltWith, program } from './support/programs.ts';
import { appeared, readReceipt, workDirectory } from './support/scope.ts';
import { runInTerminal } from './support/terminal.ts';

const job = ['sh', '-c', 'echo up; exec sleep 1000'];

function script(words: readonly string[]): string {
  const path = join(workDirectory(), 'job');
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  writeFileSync(path, `#!/bin/sh\nexec ${quoted.join(' ')}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A guarded shell, and in it a second guardian around a job of that shell. */
async function nestedJob(inner: { guardianPath?: string; byHand?: boolean; argv?: readonly string[] } = {}) {
  const [outerDir, innerDir] = [join(workDirectory(), 'outer'), join(workDirectory(), 'inner')];
  const guardianPath = inner.guardianPath ?? guardian();
  const outer = await runInTerminal(['bash', '--norc', '--noprofile', '-i'], {
    scopeDir: outerDir,
    knownGuardians: [guardianDigest(guardianPath)],
  });
  const shell = outer.launch.ready.workload.pid;
  const command = inner.byHand
    ? [program('byHand'), await frameFile(innerDir, outerDir), guardianPath]
    : launcherCommand({
        scopeDir: innerDir,
        argv: inner.argv ?? job,
        upSocketDir: outerDir,
        guardianPath,
        sharesSession: true,
        program: 'terminalHost',
      });
  const type = (text: string) => outer.terminal.type(`${text}\r`);
  const path = script(command);
  type(path);
  return { outer, innerDir, shell, type, path };
}

async function frameFile(scopeDir: string, upSocketDir: string): Promise<string> {
  const path = join(workDirectory(), 'frame');
  const frame = encodeFrame({
    scopeId: 'SJOB',
    scopeDir,
    upSocketDir,
    installationId: 'I0123456789',
    slots: await reserveSlots(scopeDir),
    argv: job,
    env: { PATH: process.env.PATH! },
    cwd: '/',
    umask: 0o022,
    handshakeMs: 20_000,
    terminal: { marker: randomBytes(16).toString('hex'), lingerMs: 60_000 },
  });
  writeFileSync(path, frame);
  return path;
}

async function runningJob(inner: Parameters<typeof nestedJob>[0] = {}) {
  const nested = await nestedJob(inner);
  await nested.outer.terminal.saw(/^up\r\n/m);
  const { workload, guardian: itself } = readReceipt(nested.innerDir, 'start');
  return { ...nested, workload: workload.pid, inner: itself.pid };
}

const controlOf = (directory: string) => controlClient(directory, { timeoutMs: 20_000 });

/** Ends the shell and everything, and looks at what both guardians say. */
async function ended({ outer, innerDir, type }: Awaited<ReturnType<typeof runningJob>>) {
  await appeared(innerDir, 'exit.json');
  type('exit 3');
  await outer.terminal.marked;
  expect((await outer.launch.exited).code).toBe(0);
  expect(outer.receipt('exit')).toMatchObject({ code: 3, lostNested: 0 });
  return readReceipt(innerDir, 'exit');
}

describe.each([
  ['by a launcher', false],
  ['by hand', true],
])('a guardian in the terminal of a guarded shell (linux case 78), started %s', (_name, byHand) => {
  it('makes its workload a job: Ctrl-C ends only that', async () => {
    const nested = await runningJob({ byHand });
    const { outer, shell, workload } = nested;
    expect(statOf(workload)?.session).toBe(shell);
    expect(foregroundOf(shell)).toBe(workload);
    outer.terminal.type('\x03');
    await inForeground(shell, shell);
    expect(await ended(nested)).toMatchObject({ how: 'signaled', signal: 2, terminated: false });
    expect(outer.terminal.output().toString()).not.toContain('\x1b_custody');
  });

  it('Ctrl-Z gives the terminal back to the shell; fg and bg mean the workload', async () => {
    const nested = await runningJob({ byHand });
    const { outer, shell, workload, type } = nested;
    for (const command of ['fg', 'bg']) {
      outer.terminal.type('\x1a');
      await outer.terminal.saw('Stopped');
      await inForeground(shell, shell);
      expect(statOf(workload)?.state).toBe('T');
      type(command);
      if (command === 'fg') await inForeground(workload, shell);
      // It gets the terminal first and is continued then, and a SIGCONT takes back a stop that came before it (signal(7)).
      await inState(workload, 'SR');
    }
    type('jobs');
    await outer.terminal.saw('Running');
    expect(foregroundOf(shell)).toBe(shell);
    type('kill %1');
    expect(await ended(nested)).toMatchObject({ how: 'signaled', signal: 15, terminated: true });
  });
});

describe('a job', () => {
  it('of several processes is stopped and continued as a whole', async () => {
    const argv = ['sh', '-c', 'sleep 1000 | { echo up; exec sleep 1001; } 1>&2'];
    const nested = await runningJob({ argv });
    const { outer, shell, workload, type } = nested;
    outer.terminal.type('\x1a');
    await inForeground(shell, shell);
    const control = await controlOf(nested.innerDir);
    const members = (await control.members()).members.map(({ pid }) => pid);
    control.close();
    expect(members.map((pid) => statOf(pid)?.state)).toEqual(['T', 'T', 'T']);
    type('fg');
    await inForeground(workload, shell);
    for (const pid of members) await inState(pid, 'SR');
    outer.terminal.type('\x03');
    expect(await ended(nested)).toMatchObject({ how: 'signaled', signal: 2 });
  });

  it('that is put from the background into the foreground while it runs gets the terminal when it asks for it', async () => {
    const t = turns(workDirectory());
    const ask = holdInShell(t, 'read line; echo "got $line"');
    const nested = await runningJob({ argv: ['sh', '-c', `echo up; ${ask}`] });
    const { outer, shell, workload, type } = nested;
    await t.ready();
    outer.terminal.type('\x1a');
    await outer.terminal.saw('Stopped');
    type('bg');
    await inState(workload, 'S');
    type('fg');
    await eventually('the job in the foreground', () => foregroundOf(shell) !== shell || undefined);
    await t.release();
    await inForeground(workload, shell);
    type('this');
    await outer.terminal.saw('got this');
    expect(await ended(nested)).toMatchObject({ how: 'exited', code: 0 });
  });

  it('that is stopped can be terminated: a guardian that its shell does not wait for need not stop', async () => {
    const nested = await runningJob();
    const { outer, shell, inner, type } = nested;
    outer.terminal.type('\x1a');
    await inForeground(shell, shell);
    expect(statOf(inner)?.state).not.toBe('T');
    const control = await controlOf(nested.innerDir);
    for await (const _event of control.terminate({ graceMs: 0, budgetMs: 30_000 }));
    control.close();
    type('fg');
    expect(await ended(nested)).toMatchObject({ terminated: true });
  });

  it('in the background is hung up with its shell', async () => {
    const { outer, innerDir, workload, type } = await runningJob();
    outer.terminal.type('\x1a');
    await outer.terminal.saw('Stopped');
    type('bg');
    await inState(workload, 'S');
    outer.terminal.close();
    expect((await outer.launch.exited).code).toBe(0);
    expect(readReceipt(innerDir, 'exit')).toMatchObject({ how: 'signaled', signal: 1, terminated: false });
  });

  it('does not exist for a guardian that insists on a session: the terminal belongs to the shell', async () => {
    const { outer } = await nestedJob({ guardianPath: guardianBuiltWith('WITHOUT_JOB_MODE') });
    await outer.terminal.saw('"step":"terminal","errno":1');
  });

  it('would stop behind the back of its shell without the passing on of stops', async () => {
    const nested = await runningJob({ guardianPath: guardianBuiltWith('WITHOUT_STOP_PROPAGATION') });
    nested.outer.terminal.type('\x1a');
    await inState(nested.workload, 'T');
    await nested.outer.control().then(async (control) => (await control.hello()) && control.close());
    expect(foregroundOf(nested.shell)).toBe(nested.workload);
  });
});
