import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';
import { finished, program, start } from './support/program.ts';

let here: Installation;
let goalId: string;
beforeAll(async () => {
  here = await installation();
  ({ goalId } = await here.goalWithWorktree());
});
afterAll(() => here.dispose());

const shell = (script: string) =>
  finished(
    spawn('bash', ['-c', script], { env: { ...here.env, NODE: process.execPath, CUSTODY: program }, cwd: here.repo }),
  );

describe('a reader that has seen enough', () => {
  it.each(['status', 'events', 'events --json', "runs exec GOAL --follow -- sh -c 'seq 1 100000; sleep 600'"])(
    'is no failure of custody %s',
    async (command) => {
      const line = command.replace('GOAL', goalId);
      const { stdout, stderr } = await shell(`"$NODE" "$CUSTODY" ${line} | head -n 1 > /dev/null; echo $PIPESTATUS`);
      expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
      for (const { runId } of (await here.ask(['runs', 'list', '--active'])).data.runs) {
        await here.ask(['runs', 'stop', runId, '--grace', '0', '--wait', '20s']);
      }
    },
  );
});

it('a reader that has left ends a stream with the next line that it would have got', async () => {
  const left = shell('"$NODE" "$CUSTODY" events --follow --json | head -n 1 > /dev/null; echo $PIPESTATUS');
  let ended = false;
  void left.then(() => {
    ended = true;
  });
  while (!ended) await here.ask(['goals', 'add', 'one more line']);
  expect(await left).toMatchObject({ stdout: '0\n', stderr: '' });
});

it.each(['status', 'status --json', 'goals list', 'events'])(
  'an answer that cannot be written is a failure: %s',
  async (line) => {
    const { stdout, stderr } = await shell(`"$NODE" "$CUSTODY" ${line} > /dev/full; echo $?`);
    expect(stdout).toBe('1\n');
    expect(stderr).toContain('ENOSPC');
  },
);

describe('--follow', () => {
  it('shows what is recorded from now on, and Ctrl-C leaves quietly with 130', async () => {
    const since = String((await here.ask(['status'])).journalPosition);
    const following = start(['events', '--follow', '--json', '--since', since], { env: here.env });
    const ended = finished(following);
    const lines = createInterface({ input: following.stdout! })[Symbol.asyncIterator]();
    const { goalId: added } = (await here.ask(['goals', 'add', 'seen at once'])).data;
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ type: 'goal.created', actor: { id: added } });
    following.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('goes on from the last few events when it is told how many', async () => {
    const { events } = (await here.ask(['events', '-n', '2'])).data;
    const following = start(['events', '--follow', '--json', '-n', '2'], { env: here.env });
    const ended = finished(following);
    const lines = createInterface({ input: following.stdout! })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value).position;
    expect([await next(), await next()]).toEqual(events.map(({ position }: { position: number }) => position));
    const added = await here.ask(['goals', 'add', 'seen next']);
    expect(await next()).toBe(added.journalPosition);
    following.kill('SIGINT');
    await ended;
  });

  it('shows output as it comes, until nothing of the run is left', async () => {
    const following = start(
      [
        'runs',
        'exec',
        goalId,
        '--follow',
        '--',
        'sh',
        '-c',
        'echo first; while ! [ -e go ]; do sleep 0.05; done; echo last',
      ],
      { env: here.env },
    );
    const ended = finished(following);
    await new Promise((resolve) => following.stdout?.once('data', resolve));
    await here.ask(['runs', 'exec', goalId, '--wait', '--', 'touch', 'go']);
    expect(await ended).toMatchObject({ code: 0, stdout: 'first\nlast\n', stderr: '' });
  });

  it('ends with daemon_gone when the daemon dies, and the work goes on', async () => {
    const { runId } = (await here.ask(['runs', 'exec', goalId, '--', 'sh', '-c', 'echo started; sleep 600'])).data;
    const following = start(['runs', 'logs', runId, '-f', '--json'], { env: here.env });
    const ended = finished(following);
    await new Promise((resolve) => following.stdout?.once('data', resolve));
    process.kill(here.daemonPid(), 'SIGKILL');
    const { code, stdout } = await ended;
    expect(code).toBe(10);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)).toMatchObject({
      ok: false,
      error: { code: 'daemon_gone', retryable: true },
    });
    expect((await here.ask(['runs', 'show', runId])).data.scope).toEqual({ state: 'live' });
    await here.ask(['runs', 'stop', runId, '--grace', '0', '--wait', '20s']);
  });

  it('of what does not exist is refused like everything else', async () => {
    expect(refused(await here.custody(['runs', 'logs', 'Rnothing', '-f', '--json'])).code).toBe('not_found');
  });
});

describe('Ctrl-C during a wait', () => {
  it('ends the waiting and nothing else', async () => {
    const waiting = start(['runs', 'exec', goalId, '--follow', '--', 'sh', '-c', 'echo started; sleep 600'], {
      env: here.env,
    });
    const ended = finished(waiting);
    await new Promise((resolve) => waiting.stdout?.once('data', resolve));
    waiting.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stdout: 'started\n', stderr: '' });
    const [run] = (await here.ask(['runs', 'list', '--active'])).data.runs;
    expect(run.scope).toEqual({ state: 'live' });
    await here.ask(['runs', 'stop', run.runId, '--grace', '0', '--wait', '20s']);
  });
});
