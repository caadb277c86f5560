import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';
import { finished, start } from './support/program.ts';

let here: Installation;
beforeAll(async () => {
  here = await installation();
});
afterAll(() => here.dispose());

describe('the daemon', () => {
  it('is replaced under running work, which goes on (ruling 21)', async () => {
    const { goalId } = await here.goalWithWorktree();
    const { runId } = (await here.ask(['runs', 'exec', goalId, '--', 'sleep', '600'])).data;
    const before = (await here.ask(['processes'])).data.scopes[0];
    const { startNumber, pid } = (await here.ask(['daemon', 'status'])).data;
    const after = (await here.ask(['daemon', 'restart', '--keep-work'])).data;
    expect(after).toMatchObject({ running: true, started: true, startNumber: startNumber + 1 });
    expect(after.pid).not.toBe(pid);
    const scope = (await here.ask(['processes'])).data.scopes[0];
    expect(scope).toMatchObject({
      runId,
      guardianPid: before.guardianPid,
      workloadPid: before.workloadPid,
      assessment: { state: 'live' },
    });
  });

  it('drains when it is stopped, names what it has proved, and is gone when the command returns (SHUT-06)', async () => {
    const { scopeId } = (await here.ask(['processes'])).data.scopes[0];
    const stopped = (await here.ask(['daemon', 'stop'])).data;
    expect(stopped).toMatchObject({ stopped: true, settled: [scopeId], blocked: [] });
    expect(refused(await here.custody(['daemon', 'status', '--json'])).code).toBe('daemon_not_running');
    expect(refused(await here.custody(['daemon', 'stop', '--json']))).toMatchObject({ exitCode: 10 });
    expect((await here.ask(['processes', '--released'])).data.scopes).toContainEqual(
      expect.objectContaining({ scopeId, assessment: { state: 'exited', proof: 'own_receipt' } }),
    );
  });

  it('that cannot be reached is named, not taken for none', async () => {
    const { pid, socket } = (await here.ask(['daemon', 'start'])).data;
    // Stopped, so that it cannot make its socket anew before it is asked for.
    process.kill(pid, 'SIGSTOP');
    rmSync(socket);
    const unreachable = { code: 'daemon_unreachable', exitCode: 10, retryable: true, details: { pid } };
    expect(refused(await here.custody(['daemon', 'stop', '--json']))).toMatchObject(unreachable);
    expect(refused(await here.custody(['daemon', 'status', '--json']))).toMatchObject(unreachable);
    rmSync(join(here.stateDir, 'run', 'daemon.json'));
    expect(refused(await here.custody(['daemon', 'stop', '--json']))).toMatchObject({
      code: 'daemon_unreachable',
      details: { pid: null },
    });
    process.kill(pid, 'SIGCONT');
    // Whoever waits for a daemon gets this one, once it has noticed.
    expect((await here.ask(['status'])).data.daemon.pid).toBe(pid);
  });

  it('is not stopped for a successor that would not start', async () => {
    const { pid } = (await here.ask(['daemon', 'start'])).data;
    const file = join(here.dir, '.config', 'custody', 'config.jsonc');
    mkdirSync(dirname(file), { recursive: true });
    const said = async () => (await here.custody(['config'])).stderr;
    writeFileSync(file, '{"capacity": 9}');
    expect(await said()).toMatch(
      /^warning: the file has another value for capacity by now; try: custody daemon restart/,
    );
    writeFileSync(file, '{"capacity": 8}');
    expect(await said()).toBe('');
    for (const broken of ['{', '{"capacity": 0}', '{"capacities": 1}']) {
      writeFileSync(file, broken);
      expect(await said()).toContain(`warning: the next daemon would not start: ${file}`);
      expect(refused(await here.custody(['daemon', 'restart', '--json']))).toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(file),
        exitCode: 2,
        next: [`edit ${file}`],
      });
    }
    rmSync(file);
    const variable = await here.custody(['daemon', 'restart', '--json'], {
      env: { ...here.env, CUSTODY_CAPACITY: '0' },
    });
    expect(refused(variable)).toMatchObject({ code: 'config_invalid', next: ['unset CUSTODY_CAPACITY'] });
    expect((await here.ask(['daemon', 'status'])).data.pid).toBe(pid);
  });

  it('restart starts one even if none was there', async () => {
    await here.ask(['daemon', 'stop']);
    expect((await here.ask(['daemon', 'restart'])).data).toMatchObject({ running: true, started: true });
  });

  it('in the foreground is refused in one object while another one serves', async () => {
    await here.ask(['daemon', 'start']);
    const second = await here.custody(['daemon', 'start', '--foreground', '--json']);
    expect(refused(second)).toMatchObject({ code: 'runtime_busy', exitCode: 7 });
    const spoken = await here.custody(['daemon', 'start', '--foreground']);
    expect(spoken).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('another Custody process') });
  });

  it('serves in the foreground until its terminal or service manager ends it', async () => {
    await here.ask(['daemon', 'stop']);
    const foreground = start(['daemon', 'start', '--foreground'], { env: here.env });
    const ended = finished(foreground);
    for (;;) if ((await here.custody(['daemon', 'status', '--quiet'])).code === 0) break;
    foreground.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect((await here.custody(['daemon', 'status'])).code).toBe(10);
  });
});
