import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holdInShell, turns } from '../guardian/support/fifo.ts';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { eventually } from '../support/eventually.ts';

const scopesOf = (daemon: TestDaemon) => join(daemon.home.stateDir, 'scopes');
const spares = (daemon: TestDaemon) => readdirSync(scopesOf(daemon)).filter((name) => name.startsWith('.spare-'));

describe('GRD-05: a directory whose name was lost with the power', () => {
  it('is given back to the scope that runs in it, with what it has written', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId, scopeId } = await daemon.exec(goalId, `echo before; ${holdInShell(turn, 'echo after')}`);
    await turn.ready();
    await daemon.kill();
    renameSync(daemon.scopeDir(scopeId), join(scopesOf(daemon), '.spare-70'));
    await daemon.start();
    expect(existsSync(join(scopesOf(daemon), '.spare-70'))).toBe(false);
    await turn.release();
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited', proof: 'own_receipt' } });
    expect(readFileSync(join(daemon.scopeDir(scopeId), 'stdout.log'), 'utf8')).toBe('before\nafter\n');
  });

  it('is kept and shown where no scope is known for it, and spares are made beside it', async () => {
    const daemon = await testDaemon().start();
    await daemon.kill();
    const [stray, empty] = ['.spare-1', '.spare-2'].map((name) => join(scopesOf(daemon), name)) as [string, string];
    for (const directory of [stray, empty]) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'start.reserved'), '');
    }
    writeFileSync(join(stray, 'stdout.log'), 'kept');
    await daemon.start();
    expect(readFileSync(join(stray, 'stdout.log'), 'utf8')).toBe('kept');
    const { health } = await daemon.call('status', {});
    expect(health).toMatchObject({ state: 'degraded', reasons: [{ code: 'stray_output', scopeId: '.spare-1' }] });
    expect(health.reasons[0]?.detail).toContain(stray);
    await eventually('spares', () => spares(daemon).length === 3 || undefined);
    const { goalId } = await daemon.goal();
    await daemon.proved((await daemon.exec(goalId, 'true')).runId);
    expect(existsSync(join(stray, 'stdout.log'))).toBe(true);
  });
});

describe('GRD-06: a name that would not survive a power loss', () => {
  it('is no place for evidence, so nothing is released', async () => {
    // Whoever may read everything cannot be kept from syncing a directory.
    const prefix = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'];
    const daemon = new TestDaemon(daemonHome({}), { prefix: process.getuid!() === 0 ? prefix : [] });
    onTestFinished(() => daemon.dispose());
    await daemon.start();
    const { goalId } = await daemon.goal();
    await eventually('spares', () => spares(daemon).length === 2 || undefined);
    chmodSync(scopesOf(daemon), 0o300);
    const ran = join(daemon.home.dir, 'ran');
    const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch '${ran}'`));
    chmodSync(scopesOf(daemon), 0o700);
    expect(refusal).toMatchObject({ code: 'evidence_unavailable', exitCode: 10, retryable: true });
    const { runId } = refusal.details as { runId: string };
    expect(await daemon.proved(runId)).toMatchObject({ state: 'cancelled', scope: { proof: 'never_launched' } });
    expect(existsSync(ran)).toBe(false);
    expect(await daemon.proved((await daemon.exec(goalId, 'exit 4')).runId)).toMatchObject({ result: { code: 4 } });
  });
});
