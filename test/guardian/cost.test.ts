import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { guardianPair } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { fileContains, memoryContains } from './support/memory.ts';
import { inState } from './support/processes.ts';
import type { Scope } from './support/scope.ts';
import { run, runToEnd, workDirectory } from './support/scope.ts';
import { runInTerminal } from './support/terminal.ts';

/** The one that waits and the one that works. */
function bothOf(scope: Scope): readonly number[] {
  const { witness, worker } = guardianPair(scope.launch.pid);
  return [witness.pid, worker!.pid];
}

interface Cost {
  readonly residentKb: number;
  readonly wakeups: number;
  readonly threads: number;
}

/** Of each of them, once it has dealt with the launch and with us. */
async function costOf(scope: Scope): Promise<readonly Cost[]> {
  const both = bothOf(scope);
  for (const pid of both) await inState(pid, 'S');
  return both.map((pid) => {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const value = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1]);
    return { residentKb: value('VmRSS'), wakeups: value('voluntary_ctxt_switches'), threads: value('Threads') };
  });
}

const largest = (costs: readonly Cost[]): number => Math.max(...costs.map(({ residentKb }) => residentKb));

describe('what a waiting guardian costs (GRD-03)', () => {
  it('two processes of one thread, each of at most 1 MB, and not one wakeup while nothing happens to its tree', async () => {
    const t = turns(workDirectory());
    const scope = await run(['sh', '-c', holdInShell(t)]);
    await t.ready();
    const control = await scope.control();
    await control.hello();
    const before = await costOf(scope);
    for (let other = 0; other < 5; other++) await runToEnd(['true']); // time passes, elsewhere
    const after = await costOf(scope);
    control.close();
    await t.release();
    await scope.launch.exited;
    expect(before.map(({ threads }) => threads)).toEqual([1, 1]);
    expect(largest(before)).toBeLessThanOrEqual(1024);
    expect(after).toEqual(before);
  });

  it('a terminal makes it neither larger nor busier, also when nobody is at its other end any more', async () => {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', `trap '' HUP; ${holdInShell(t)}`]);
    await t.ready();
    const quiet = async () => {
      const control = await scope.control();
      await control.hello();
      const before = await costOf(scope);
      for (let other = 0; other < 3; other++) await runToEnd(['true']);
      expect(await costOf(scope)).toEqual(before);
      control.close();
      return largest(before);
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
    const names = ['cmdline', 'environ', 'comm'];
    const found = bothOf(scope).flatMap((pid) => names.filter((name) => fileContains(pid, name, canary)));
    const inMemory = bothOf(scope).some((pid) => memoryContains(pid, canary));
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
