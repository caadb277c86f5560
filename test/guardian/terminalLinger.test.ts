import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { guardianPair } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { inState } from './support/processes.ts';
import { guardianBuiltWith } from './support/programs.ts';
import { exists, runToEnd, workDirectory } from './support/scope.ts';
import type { TerminalChanges } from './support/terminal.ts';
import { isMarked, runInTerminal } from './support/terminal.ts';

/** A workload that has ended, and a guardian that waits for a reader. */
async function lingering(changes: TerminalChanges = {}) {
  const scope = await runInTerminal(['echo', 'done'], { acknowledges: false, ...changes });
  await scope.terminal.marked;
  await inState(scope.launch.pid, 'S');
  return scope;
}

describe('a guardian that waits for the reader of its terminal', () => {
  it('has completed its receipts, answers, and says what it does', async () => {
    const scope = await lingering();
    expect(scope.receipt('exit')).toMatchObject({ how: 'exited', code: 0, proof: 'ECHILD' });
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'lingering' });
    expect(await control.members()).toMatchObject({ total: 0, complete: true });
    control.close();
    scope.launch.acknowledgeOutput();
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(exists(`${scope.directory}/ctl.sock`)).toBe(false);
  });

  it('has nothing left to terminate, and is not hurried by that', async () => {
    const scope = await lingering();
    const control = await scope.control();
    const events: unknown[] = [];
    for await (const event of control.terminate({ graceMs: 0, budgetMs: 0 })) events.push(event);
    expect(events).toEqual([
      { event: 'accepted', already: false },
      { event: 'settled', exit: 0 },
    ]);
    expect(await control.hello()).toMatchObject({ phase: 'lingering' });
    control.close();
    scope.launch.acknowledgeOutput();
    scope.launch.acknowledgeOutput();
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('costs no wakeup, even after a termination whose steps were still due', async () => {
    const scope = await runInTerminal(['sleep', '1000'], { acknowledges: false });
    const control = await scope.control();
    for await (const _event of control.terminate({ graceMs: 0, budgetMs: 30_000 }));
    control.close();
    await scope.terminal.marked;
    const { pid } = guardianPair(scope.launch.pid).worker!;
    await inState(pid, 'S');
    const wakeups = () => /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
    await (await scope.control()).hello();
    await inState(pid, 'S');
    const before = wakeups();
    for (let other = 0; other < 3; other++) await runToEnd(['true']); // time passes, elsewhere
    expect(wakeups()).toBe(before);
    scope.launch.acknowledgeOutput();
    await scope.launch.exited;
  });

  /** More than a reader and its end of the terminal hold, so that the rest of it and the marker lie where Ctrl-C drops things. */
  async function interrupted(changes: TerminalChanges = {}) {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', holdInShell(t, `printf '%10000s' x`)], changes);
    await t.ready();
    scope.terminal.pause();
    await t.release();
    const control = await scope.control();
    await eventually('lingering', async () => (await control.hello()).phase === 'lingering' || undefined);
    control.close();
    scope.terminal.type('\x03x\r\x1a');
    return scope;
  }

  it('loses nothing to a Ctrl-C that comes before the reader does', async () => {
    const { terminal, launch } = await interrupted();
    terminal.resume();
    await terminal.marked;
    expect(terminal.output().toString()).toBe('x'.padStart(10_000));
    expect((await launch.exited).code).toBe(0);
  });

  it('which would take away what has not been read, the marker included', async () => {
    const guardianPath = guardianBuiltWith('WITHOUT_FLOW_START');
    await eventually('a marker that does not come', async () => {
      const { terminal, launch } = await interrupted({ guardianPath, lingerMs: 300 });
      await launch.exited;
      terminal.resume();
      return (await isMarked(terminal)) ? undefined : true;
    });
  });

  it('ends when its time is over', async () => {
    const scope = await runInTerminal(['echo', 'done'], { acknowledges: false, lingerMs: 100 });
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('ends when the terminal is hung up', async () => {
    const scope = await lingering();
    scope.terminal.close();
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('leaves its reader no more than the grace after a SIGTERM', async () => {
    const scope = await lingering({ graceMs: 50 });
    process.kill(scope.launch.pid, 'SIGTERM');
    expect((await scope.launch.exited).code).toBe(0);
  });

  it('does not wait for one that has read everything before the end: the last word was about the output', async () => {
    const scope = await runInTerminal(['sh', '-c', 'echo up; read line'], { acknowledges: false });
    await scope.terminal.saw('up');
    scope.launch.acknowledgeOutput();
    scope.terminal.type('line\r');
    expect((await scope.launch.exited).code).toBe(0);
  });
});
