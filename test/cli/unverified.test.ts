import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { type Installation, installation, refused } from './support/installation.ts';
import { json } from './support/program.ts';

let here: Installation;
let runId: string;
let scopeId: string;
let workloadPid: number;

/** A guardian that is killed takes the proof with it: nothing is made up in its place. */
beforeAll(async () => {
  here = await installation();
  const { goalId } = await here.goalWithWorktree();
  runId = (await here.ask(['runs', 'exec', goalId, '--', 'sleep', '600'])).data.runId;
  const [scope] = (await here.ask(['processes'])).data.scopes;
  ({ scopeId, workloadPid } = scope);
  killGuardian(scope.guardianPid);
  await eventually('the gap', async () => {
    return (await here.custody(['processes', '--json'])).code === 5 || undefined;
  });
});

afterAll(async () => {
  process.kill(workloadPid, 'SIGKILL');
  await here.custody(['daemon', 'stop', '--keep-work']);
  await here.dispose();
});

describe('work whose guardian is gone', () => {
  it('is called unverified, in capitals and with the reason', async () => {
    const { stdout } = await here.custody(['processes']);
    expect(stdout).toContain(scopeId);
    expect(stdout).toMatch(/UNVERIFIED gap: guardian gone/);
  });

  it('makes the health of the whole, with something to try', async () => {
    const asked = await here.custody(['status', '--json']);
    expect(asked.code).toBe(5);
    const { data, health } = json(asked);
    expect(data.health).toMatchObject({
      state: 'ownership_unverified',
      reasons: [expect.objectContaining({ scopeId })],
    });
    expect(health).toEqual(data.health);
    const { stdout } = await here.custody(['status']);
    expect(stdout).toMatch(/^health {5}ownership unverified\n {2}.*\n( {4}try: custody .*\n)+/);
  });

  it('ends a wait for proof at once: exit 5, done but unverified', async () => {
    const waited = await here.custody(['runs', 'wait', runId, '--until', 'proved', '--json']);
    expect(waited.code).toBe(5);
    expect(JSON.parse(waited.stdout)).toMatchObject({
      ok: true,
      data: { scope: { state: 'unverified', certainty: 'gap' } },
    });
  });

  it('keeps the daemon from being stopped: exit 6, which scope, and the way out', async () => {
    const error = refused(await here.custody(['daemon', 'stop', '--json']));
    expect(error).toMatchObject({ exitCode: 6, retryable: true, details: { blocked: [scopeId] } });
    expect(error.next.join()).toContain('--keep-work');
    expect((await here.ask(['daemon', 'status'])).data.running).toBe(true);
  });
});
