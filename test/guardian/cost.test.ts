import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { holdInShell, turns } from './support/fifo.ts';
import { fileContains, memoryContains } from './support/memory.ts';
import { inState } from './support/processes.ts';
import type { Scope } from './support/scope.ts';
import { run, runToEnd, workDirectory } from './support/scope.ts';
import { runInTerminal } from './support/terminal.ts';

function statusOf(scope: Scope): { residentKb: number; wakeups: number; threads: number } {
  const text = readFileSync(`/proc/${scope.launch.pid}/status`, 'utf8');
  const value = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1]);
  return { residentKb: value('VmRSS'), wakeups: value('voluntary_ctxt_switches'), threads: value('Threads') };
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

  it('a terminal makes it neither larger nor busier, also when nobody is at its other end any more', async () => {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', `trap '' HUP; ${holdInShell(t)}`]);
    await t.ready();
    const quiet = async () => {
      const control = await scope.control();
      await control.hello();
      await inState(scope.launch.pid, 'S');
      const before = statusOf(scope);
      for (let other = 0; other < 3; other++) await runToEnd(['true']);
      expect(statusOf(scope)).toEqual(before);
      control.close();
      return before.residentKb;
    };
    expect(await quiet()).toBeLessThanOrEqual(1024);
    scope.terminal.close();
    await quiet();
    await t.release();
    expect((await scope.launch.exited).code).toBe(0);
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
