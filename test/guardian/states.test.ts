import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { inState, isAlive, statOf } from './support/processes.ts';
import { program } from './support/programs.ts';
import type { Scope } from './support/scope.ts';
import { exists, run, workDirectory } from './support/scope.ts';

/** Starts something that is no descendant of any guardian. */
function outside(command: string, args: readonly string[]): { pid: number; exited: Promise<unknown> } {
  const child = spawn(command, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { pid: child.pid!, exited: once(child, 'exit') };
}

function receiptsOf(scope: Scope): string[] {
  return ['start', 'status', 'exit'].filter((kind) => exists(join(scope.directory, `${kind}.json`)));
}

/** The guardian has seen everything that happened before this answer. */
async function phaseOf(scope: Scope): Promise<string> {
  const control = await scope.control();
  const { phase } = await control.hello();
  control.close();
  return phase;
}

describe('a workload that is held up', () => {
  it('14 is not over when it has been stopped', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t, 'exit 3')]);
    const pid = await t.ready();
    process.kill(pid, 'SIGSTOP');
    await inState(pid, 'T');
    expect(await phaseOf(scope)).toBe('running');
    expect(receiptsOf(scope)).toEqual(['start']);
    process.kill(pid, 'SIGCONT');
    await t.release();
    await scope.launch.exited;
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 3 });
  });

  it('15 is not over when it was killed and an outside tracer holds it', async () => {
    const directory = workDirectory();
    const [work, tracer] = [turns(directory, 'work'), turns(directory, 'tracer')];
    const scope = await run(['sh', '-c', holdInShell(work)]);
    const pid = await work.ready();
    const holding = outside(program('tree'), ['trace', ...tracer.paths, String(pid)]);
    await tracer.ready();
    process.kill(pid, 'SIGKILL');
    await inState(pid, 'Z');
    expect(await phaseOf(scope)).toBe('running');
    expect(receiptsOf(scope)).toEqual(['start']);
    await tracer.release();
    await holding.exited;
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 9 });
  });
});

describe('a guardian that is held up (linux case 23)', () => {
  it('reports late and loses nothing', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t, 'exit 4')]);
    const pid = await t.ready();
    stopGuardian(scope.launch.pid);
    await inState(scope.launch.pid, 'T');
    await t.release();
    await inState(pid, 'Z');
    expect(receiptsOf(scope)).toEqual(['start']);
    continueGuardian(scope.launch.pid);
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 4 });
  });
});

describe('a workload with a pid namespace of its own (linux case 16)', () => {
  it('is over when the namespace is empty', async () => {
    const t = turns(workDirectory());
    const inner = `setsid sh -c "${holdInShell(t).replaceAll('$', '\\$')}" & echo started; exit 0`;
    const scope = await run(['unshare', '-Urpf', 'sh', '-c', `${inner}; wait`]);
    expect((await scope.launch.exited).code).toBe(0);
    expect(scope.stdout()).toBe('started\n');
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 0, proof: 'ECHILD' });
  });
});

/** Both escapes leave a process behind that answers after the receipt. The receipt does not deny it: see its claim. */
async function outlives(t: ReturnType<typeof turns>, done: ReturnType<typeof turns>, scope: Scope): Promise<void> {
  expect((await scope.launch.exited).code).toBe(0);
  expect(scope.receipt('exit')).toMatchObject({ claim: 'no-descendants', how: 'exited', code: 0 });
  await t.release();
  expect(await done.ready()).toBeGreaterThan(0);
  await done.release();
}

describe('work that is handed to somebody else is no descendant (linux cases 17 and 18, GRD-12)', () => {
  it('17 a grandchild in a foreign pid namespace belongs to that namespace', async () => {
    const directory = workDirectory();
    const [host, escaped, done] = [turns(directory, 'host'), turns(directory, 'escaped'), turns(directory, 'done')];
    const holder = outside('unshare', ['-Urpf', '--kill-child', 'sh', '-c', holdInShell(host)]);
    await host.ready();
    const job = `${holdInShell(escaped)}; ${holdInShell(done)}`.replaceAll('$', '\\$');
    const enter = ['nsenter', '-t', String(holder.pid), '-U', '--preserve-credentials', '-p'];
    const entered = `--pid=/proc/${holder.pid}/ns/pid_for_children`;
    const command = [...enter.slice(0, -1), entered, 'sh', '-c', `(setsid sh -c "${job}" &)`];
    const scope = await run(command);
    await escaped.ready();
    await outlives(escaped, done, scope);
    await host.release();
  });

  it('18 a job of a server that ran before belongs to that server', async () => {
    const directory = workDirectory();
    const [server, job, done] = [turns(directory, 'server'), turns(directory, 'job'), turns(directory, 'done')];
    const serving = outside('sh', [
      '-c',
      `read line < '${server.paths[1]}'; ${holdInShell(job)}; ${holdInShell(done)}`,
    ]);
    const scope = await run(['sh', '-c', `echo please > '${server.paths[1]}'`]);
    const pid = await job.ready();
    expect([statOf(pid)?.ppid, isAlive(pid)]).toEqual([process.pid, true]);
    await outlives(job, done, scope);
    await serving.exited;
  });
});
