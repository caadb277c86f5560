import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { killGuardian } from '../support/guardianPair.ts';
import { holdInShell, turns } from './support/fifo.ts';
import { heardReady, launcher } from './support/launcher.ts';
import { isAlive, isGone, statOf } from './support/processes.ts';
import { guardianBuiltWith, wrapped } from './support/programs.ts';
import { appeared, exists, readReceipt, workDirectory } from './support/scope.ts';
import type { TerminalChanges } from './support/terminal.ts';
import { runInTerminal } from './support/terminal.ts';

describe('the other end of a terminal', () => {
  it('75 closes: the workload is hung up, and the receipts follow', async () => {
    const scope = await runInTerminal(['sleep', '1000']);
    scope.terminal.close();
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(scope.receipt('exit')).toMatchObject({ how: 'signaled', signal: 1, proof: 'ECHILD', terminated: false });
  });

  it('75 closes while a descendant ignores the hang-up: the last receipt waits for its end', async () => {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', `(trap '' HUP; ${holdInShell(t)}) & exec sleep 1000`]);
    await t.ready();
    scope.terminal.close();
    await scope.appeared('status.json');
    expect(scope.receipt('status')).toMatchObject({ how: 'signaled', signal: 1 });
    const control = await scope.control();
    expect(await control.hello()).toMatchObject({ phase: 'rootEnded' });
    control.close();
    await t.release();
    expect(await scope.launch.exited).toEqual({ code: 0, signal: null });
    expect(scope.receipt('exit')).toMatchObject({ reaped: 2 });
  });

  it('76 dies with its process: every session is hung up, and the receipts are complete (PTY-10)', async () => {
    const directories = [workDirectory(), workDirectory()].map((directory) => join(directory, 'scope'));
    const hosts = directories.map((scopeDir) =>
      launcher({ scopeDir, argv: ['sleep', '1000'], program: 'terminalHost' }),
    );
    const ready = await Promise.all(hosts.map(heardReady));
    for (const host of hosts) expect(await host.heard()).toEqual({ opened: { released: true } });
    for (const { child } of hosts) child.kill('SIGKILL');
    for (const scopeDir of directories) await appeared(scopeDir, 'exit.json');
    for (const [at, scopeDir] of directories.entries()) {
      expect(readReceipt(scopeDir, 'exit')).toMatchObject({ how: 'signaled', signal: 1, proof: 'ECHILD' });
      await isGone(ready[at]!.guardian.pid);
    }
  });
});

describe('a guardian that is killed while the terminal is open (linux case 77)', () => {
  async function killed(changes: TerminalChanges = {}) {
    const t = turns(workDirectory());
    const scope = await runInTerminal(['sh', '-c', holdInShell(t, 'echo still here')], changes);
    const pid = await t.ready();
    killGuardian(scope.launch.pid);
    await scope.launch.exited;
    return { scope, pid, release: t.release };
  }

  it('takes no terminal away: its workload is not hung up and goes on', async () => {
    const { scope, pid, release } = await killed();
    expect([isAlive(pid), statOf(pid)?.session]).toEqual([true, pid]);
    await release();
    await scope.terminal.saw('still here\r\n');
    await isGone(pid);
    expect(exists(join(scope.directory, 'exit.json'))).toBe(false);
  });

  it('which it would be in the guardian’s own session', async () => {
    const guardianPath = wrapped(workDirectory(), ['terminal'], guardianBuiltWith('WITHOUT_HANDOVER'));
    const { pid } = await killed({ guardianPath });
    await isGone(pid);
  });
});
