import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../cli/client.ts';
import { turns } from '../guardian/support/fifo.ts';
import { testDaemon } from '../support/daemon.ts';
import { faultyDaemon, head } from './support/faultyDaemon.ts';
import { finished, start } from './support/program.ts';

describe('D3: a stream from a daemon that does not run', () => {
  it('says so on standard error, waits on, and goes on as if nothing had been', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const script = `echo before; echo $$ > '${turn.paths[0]}'; read line < '${turn.paths[1]}'; echo after`;
    const { runId } = await daemon.exec(goalId, script);
    await turn.ready();
    process.kill(daemon.pid, 'SIGSTOP');
    const { stateDir, env } = daemon.home;
    const child = start(['--state-dir', stateDir, 'runs', 'logs', runId, '--follow'], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    const over = finished(child);
    const said = new Promise<string>((resolve) => {
      let text = '';
      child.stderr!.on('data', (chunk: Buffer) => {
        text += chunk;
        if (text.includes('\n')) resolve(text);
      });
    });
    expect(await said).toContain(`the daemon (pid ${daemon.pid}) has not answered for `);
    process.kill(daemon.pid, 'SIGCONT');
    await turn.release();
    expect(await over).toMatchObject({ code: 0, stdout: 'before\nafter\n' });
  });

  it('tells each time that it was asked in vain, for how long by then, and when it answers again', async () => {
    let isSilent = true;
    const daemon = await faultyDaemon((connection) => {
      if (daemon.requests.at(-1)?.startsWith('POST')) connection.write(`${head()}{"first":1}\n`);
      else if (!isSilent) connection.end(`${head(2)}{}`);
    });
    onTestFinished(() => daemon.close());
    const heard: number[] = [];
    let enough!: () => void;
    const all = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const onSilence = (silentMs: number) => {
      heard.push(silentMs);
      if (heard.length === 2) isSilent = false;
      if (silentMs === 0) enough();
    };
    const client = new Client({ socket: daemon.socket, pid: 4_242 }, () => undefined);
    const lines = client.stream('events.follow', {}, { onSilence, watch: { everyMs: 5, withinMs: 200 } });
    expect((await lines.next()).value).toEqual({ first: 1 });
    await all;
    const silences = heard.slice(0, -1);
    expect(silences.length).toBeGreaterThanOrEqual(2);
    expect(silences).toEqual([...silences].sort((one, other) => one - other));
    expect(silences[0]).toBeGreaterThan(0);
    await lines.return();
  });
});
