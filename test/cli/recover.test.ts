/** recover --assume-ended: asked twice, by hand or by options, and answered with exit 5. */
import { describe, expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { lostRun } from '../support/guardianLoss.ts';
import { exited, TestTerminal } from '../support/terminal.ts';
import { json, run } from './support/program.ts';

async function lost(): Promise<{ readonly daemon: TestDaemon; readonly scopeId: string; readonly path: string }> {
  const daemon = await testDaemon().start();
  const { scopeId, path, endRoot } = await lostRun(daemon);
  await endRoot();
  return { daemon, scopeId, path };
}

const words = 'assume ended';
const because = ['--because', 'the host was rebuilt'];

describe('recover --assume-ended', () => {
  it('takes both confirmations as options where nobody can be asked', async () => {
    const { daemon, scopeId } = await lost();
    const recover = (...options: string[]) => {
      const args = ['recover', '--assume-ended', scopeId.slice(0, 8), ...options, '--state-dir', daemon.home.stateDir];
      return run(args, { env: daemon.home.env });
    };
    expect(json(await recover('--json'))).toMatchObject({ ok: false, error: { code: 'usage' } });
    const asked = await recover(...because, '--json');
    expect(asked.code).toBe(13);
    expect(json(asked)).toMatchObject({
      error: { code: 'confirmation_required', next: [expect.stringContaining(`--confirm-scope ${scopeId}`)] },
    });
    const half = await recover(...because, '--confirm-scope', scopeId, '--json');
    expect(json(half)).toMatchObject({ error: { code: 'confirmation_required' } });
    const done = await recover(...because, '--confirm-scope', scopeId, '--confirm-text', words);
    expect(done.code).toBe(5);
    expect(done.stdout).toContain('ASSUMED, not proved');
    expect(done.stdout).toContain('quarantined');
  });

  it('asks a person twice, and takes no short answer', async () => {
    const { daemon, scopeId, path } = await lost();
    const recover = () => {
      const terminal = new TestTerminal({ cols: 120, rows: 30 });
      const args = ['recover', '--assume-ended', scopeId, ...because, '--state-dir', daemon.home.stateDir];
      const child = terminal.run([process.execPath, cliProgram, ...args], { env: daemon.home.env });
      return { terminal, child };
    };
    const hasty = recover();
    await hasty.terminal.shows('type the whole id of the scope');
    await hasty.terminal.type('y\r');
    expect((await exited(hasty.child)).code).toBe(13);
    await hasty.terminal.shows('nothing was changed');

    const { terminal, child } = recover();
    await terminal.shows(`Nothing will ever prove that nobody of ${scopeId} is left`);
    await terminal.shows('guardian, pid');
    await terminal.shows('type the whole id of the scope');
    await terminal.type(`${scopeId}\r`);
    await terminal.shows(`type the words "${words}"`);
    await terminal.type(`${words}\r`);
    expect((await exited(child)).code).toBe(5);
    await terminal.shows('quarantined');
    const { worktrees } = await daemon.call('worktrees.list', {});
    expect(worktrees).toMatchObject([{ lifecycle: 'quarantined' }]);
    expect(worktrees[0]!.path).not.toBe(path);
  });
});
