import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Installation, installation, refused } from './support/installation.ts';
import { json, run } from './support/program.ts';

let here: Installation;
afterEach(() => here.dispose());

const isGone = (pid: number) => () => {
  try {
    // A zombie is over: nobody reaps it in a container without an init.
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) || undefined;
  } catch {
    return true;
  }
};

async function killDaemon(): Promise<number> {
  const pid = here.daemonPid();
  process.kill(pid, 'SIGKILL');
  await eventually(`the end of ${pid}`, isGone(pid));
  return pid;
}

describe('a command that needs a daemon', () => {
  it('starts one that outlives it, in a session of its own, without its pipes or credentials', async () => {
    here = await installation({ env: { CANARY_TOKEN: 'canary' } });
    // `run` waits for the end of both pipes: a daemon that had inherited one would keep it waiting.
    const status = await here.ask(['status']);
    const pid = here.daemonPid();
    expect(status.data.daemon).toMatchObject({ pid });
    const [, , , , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
    expect(Number(session)).toBe(pid);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment).toContain(`HOME=${here.dir}`);
    expect(environment.join('\n')).not.toContain('canary');
    expect((await here.ask(['status'])).data.daemon.pid).toBe(pid);
  });

  it('finds the winner when several start at once', async () => {
    here = await installation();
    const answers = await Promise.all(Array.from({ length: 6 }, () => here.ask(['status'])));
    expect(new Set(answers.map(({ data }) => data.daemon.pid))).toEqual(new Set([here.daemonPid()]));
    expect(new Set(answers.map(({ data }) => data.daemon.startNumber)).size).toBe(1);
  });

  it('sees through the rendezvous of a dead daemon', async () => {
    here = await installation();
    const { startNumber } = (await here.ask(['status'])).data.daemon;
    const pid = await killDaemon();
    expect(here.daemonPid()).toBe(pid);
    const refusal = refused(await here.custody(['status', '--no-autostart', '--json']));
    expect(refusal).toMatchObject({ code: 'daemon_not_running', exitCode: 10, next: ['custody daemon start'] });
    expect(refused(await here.custody(['daemon', 'status', '--json'])).code).toBe('daemon_not_running');
    expect((await here.ask(['status'])).data.daemon).toMatchObject({
      startNumber: startNumber + 1,
      pid: here.daemonPid(),
    });
    expect(here.daemonPid()).not.toBe(pid);
  });

  it('says why when the daemon cannot start', async () => {
    here = await installation();
    const unreadable = await run(['status', '--json'], { env: { ...here.env, CUSTODY_CAPACITY: 'many' } });
    expect(unreadable.code).toBe(2);
    expect(json(unreadable).error).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('capacity'),
    });
  });
});

describe('a daemon that goes away during a call', () => {
  it('leaves the caller with a request id under which the repeat is done once (FAULT-02)', async () => {
    here = await installation();
    await here.ask(['status']);
    const pid = here.daemonPid();
    process.kill(pid, 'SIGSTOP');
    const adding = here.custody(['goals', 'add', 'once', '--request-id', 'one-and-only', '--json']);
    // The request is in the stopped daemon's socket once a second descriptor of it is waiting to be accepted.
    await eventually('the request at the socket', async () => {
      const sockets = readFileSync('/proc/net/unix', 'utf8').split('\n');
      const path = JSON.parse(readFileSync(join(here.stateDir, 'run', 'daemon.json'), 'utf8')).socket as string;
      return sockets.filter((line) => line.endsWith(path)).length > 1 || undefined;
    });
    await killDaemon();
    const error = refused(await adding);
    expect(error).toMatchObject({ code: 'daemon_gone', exitCode: 10, retryable: true });
    expect(error.next[0]).toContain('--request-id one-and-only');

    const first = await here.ask(['goals', 'add', 'once', '--request-id', 'one-and-only']);
    const second = await here.ask(['goals', 'add', 'once', '--request-id', 'one-and-only']);
    expect(second.data.goalId).toBe(first.data.goalId);
    expect((await here.ask(['goals', 'list'])).data.goals).toHaveLength(1);
  });
});
