import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { holdInShell, turns } from './support/fifo.ts';
import { inState } from './support/processes.ts';
import type { Scope } from './support/scope.ts';
import { run, runToEnd, workDirectory } from './support/scope.ts';

function statusOf(scope: Scope): { residentKb: number; wakeups: number; threads: number } {
  const text = readFileSync(`/proc/${scope.launch.pid}/status`, 'utf8');
  const value = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1]);
  return { residentKb: value('VmRSS'), wakeups: value('voluntary_ctxt_switches'), threads: value('Threads') };
}

function fileContains(pid: number, name: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1').includes(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return false; // as it should be for an ordinary user
    throw error;
  }
}

/** Whether a process has the text in writable memory. One that does not let itself be read keeps its secrets, too. */
function memoryContains(pid: number, text: string): boolean {
  let memory: number;
  try {
    memory = openSync(`/proc/${pid}/mem`, 'r');
  } catch {
    return false;
  }
  const areas = readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .map((line) => /^(\w+)-(\w+) rw/.exec(line))
    .filter((area) => area !== null);
  const found = areas.some(([, from, to]) => {
    const bytes = Buffer.alloc(Number.parseInt(to!, 16) - Number.parseInt(from!, 16));
    readSync(memory, bytes, 0, bytes.length, Number.parseInt(from!, 16));
    return bytes.includes(text);
  });
  closeSync(memory);
  return found;
}

describe('what a waiting guardian costs (GRD-03)', () => {
  it('one thread, at most 1 MB, and not one wakeup while nothing happens to its tree', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    await t.ready();
    const control = await scope.control();
    await control.hello();
    await inState(scope.launch.pid, 'S'); // has dealt with the launch and with us
    const before = statusOf(scope);
    for (let other = 0; other < 5; other++) await runToEnd(['true']); // time passes, elsewhere
    const after = statusOf(scope);
    control.close();
    await t.release();
    await scope.launch.exited;
    expect(before.threads).toBe(1);
    expect(before.residentKb).toBeLessThanOrEqual(1024);
    expect(after).toEqual(before);
  });

  it('forgets the environment and the arguments once the workload runs (PRIV-01)', async () => {
    const t = turns(workDirectory());
    const canary = `canary-${'x'.repeat(40)}`;
    const scope = await run(['sh', '-c', holdInShell(t), canary], { env: { PATH: process.env.PATH!, SECRET: canary } });
    await t.ready();
    const found = ['cmdline', 'environ', 'comm'].filter((name) => fileContains(scope.launch.pid, name, canary));
    const inMemory = memoryContains(scope.launch.pid, canary);
    const inWorkload = memoryContains(scope.launch.ready.workload.pid, canary);
    await t.release();
    await scope.launch.exited;
    expect(found).toEqual([]);
    expect([inMemory, inWorkload]).toEqual([false, true]);
    for (const name of ['start.json', 'status.json', 'exit.json', 'adopted.log']) {
      expect(readFileSync(`${scope.directory}/${name}`, 'utf8')).not.toContain('canary');
    }
  });
});
