/** A terminal of which nothing is kept, by choice (PRIV-02): it works as any other, and nothing that it said is on a disk. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { run } from '../cli/support/program.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { contentOf, everyFile } from './support/files.ts';
import { opened, over, ptyHostOf, shows, typed } from './support/terminals.ts';

const canary = 'canary-terminal-77ab01';
/** Says the canary, which is in no argument. */
const talk = `printf 'canary-%s-77ab01\\n' terminal`;
const unrecorded = { terminal: { recorded: false } };

const holders = ({ home }: TestDaemon): string[] =>
  [...everyFile(home.dir)]
    .filter(({ path, info }) => info.isFile() && contentOf(path).includes(canary))
    .map(({ path }) => path);

const custody = (daemon: TestDaemon, ...args: string[]) =>
  run(args, { env: { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir }, cwd: daemon.home.repo });

const placeOf = async (daemon: TestDaemon, id: string): Promise<string> =>
  (await daemon.call('sessions.show', { id })).transcriptDir;

describe('PRIV-02: a terminal that is not recorded', () => {
  it('is watched, waited for and rendered from memory; its end is proved, and nothing is left of it', async () => {
    const daemon = await testDaemon().start();
    const { sessionId: id, runId } = await opened(daemon, `${talk}; cat`, unrecorded);
    await shows(daemon, id, canary);
    await typed(daemon, id, 'more');
    await shows(daemon, id, 'more');
    expect((await daemon.call('sessions.screen', { id })).lines.join('\n')).toContain(canary);
    expect((await custody(daemon, 'sessions', 'tail', id)).stdout).toContain(canary);
    expect((await custody(daemon, 'sessions', 'screen', id)).stdout).toContain(canary);
    const place = await placeOf(daemon, id);
    expect(statSync(dirname(place)).mode & 0o777).toBe(0o700);
    await daemon.restart();
    await shows(daemon, id, canary);
    expect(holders(daemon)).toEqual([]);
    await typed(daemon, id, '\u0004');
    expect(await over(daemon, id)).toMatchObject({ capture: 'unrecorded', missing: null, result: { how: 'exited' } });
    await daemon.proved(runId);
    await eventually('it is forgotten', async () => !existsSync(place) || undefined);
    expect(holders(daemon)).toEqual([]);
  });

  it('is not there to be exported, read or shown afterwards, and that is said by name', async () => {
    const daemon = await testDaemon().start();
    const { sessionId: id } = await opened(daemon, talk, unrecorded);
    const place = await over(daemon, id).then(() => placeOf(daemon, id));
    await eventually('it is forgotten', async () => !place.startsWith('/dev/shm') || !existsSync(place) || undefined);
    for (const args of [
      ['export', id],
      ['tail', id],
      ['screen', id],
    ]) {
      const refused = await custody(daemon, 'sessions', ...args);
      expect(refused).toMatchObject({ code: 13, stdout: '' });
      expect(refused.stderr).toContain('transcript_not_recorded');
    }
    expect((await daemon.call('sessions.list', { all: true })).sessions).toMatchObject([{ capture: 'unrecorded' }]);
  });

  it('brings a result that counts like any other', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '60000' } }).start();
    const { sessionId: id } = await opened(daemon, "trap '' TERM HUP; read go", unrecorded);
    const session = { sessionId: id, token: sessionToken(operatorKey(daemon.home), id) };
    await daemon.call('agent.result', { session, result: '{"n":1}' });
    await typed(daemon, id, 'go');
    await over(daemon, id);
    const digest = createHash('sha256').update('{"n":1}').digest('hex');
    expect(await daemon.call('sessions.result', { id })).toMatchObject({ digest, text: '{"n":1}' });
  });

  it('leaves nothing in memory when its holder was killed, and is not called unrecorded then', async () => {
    const daemon = await testDaemon().start();
    const { sessionId: id } = await opened(daemon, `${talk}; exec cat`, unrecorded);
    await shows(daemon, id, canary);
    const place = await placeOf(daemon, id);
    const ofAnother = join(dirname(place), 'Pgone');
    mkdirSync(ofAnother);
    await daemon.kill();
    process.kill(ptyHostOf(daemon).pid, 'SIGKILL');
    await daemon.start();
    expect(existsSync(ofAnother)).toBe(false);
    expect(await over(daemon, id)).toMatchObject({ capture: 'incomplete', missing: 'hostLost' });
    await eventually('it is forgotten', async () => !existsSync(place) || undefined);
    expect(holders(daemon)).toEqual([]);
  });

  it('is what all of them are where it is so configured; a launch may say otherwise', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_TRANSCRIPTS: 'none' } }).start();
    const silent = await opened(daemon, talk);
    expect(await over(daemon, silent.sessionId)).toMatchObject({ capture: 'unrecorded' });
    const { goalId } = await daemon.goal();
    const asked = ['runs', 'exec', goalId, '--pty', '--transcript', '--json', '--', 'sh', '-c', talk];
    const { data: kept } = JSON.parse((await custody(daemon, ...asked)).stdout);
    expect(await over(daemon, kept.sessionId)).toMatchObject({ capture: 'complete' });
    expect(readdirSync(await placeOf(daemon, kept.sessionId))).toContain('raw.000001');
    expect(holders(daemon)).toHaveLength(1);
  });

  it('is asked for on the command line, and needs a terminal', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const asked = ['runs', 'exec', goalId, '--pty', '--no-transcript', '--json', '--', 'sh', '-c', `${talk}; exec cat`];
    const { data } = JSON.parse((await custody(daemon, ...asked)).stdout);
    await shows(daemon, data.sessionId, canary);
    expect(holders(daemon)).toEqual([]);
    for (const option of ['--no-transcript', '--transcript']) {
      const without = await custody(daemon, 'runs', 'exec', goalId, option, '--', 'true');
      expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining(`${option} needs --pty`) });
    }
  });
});
