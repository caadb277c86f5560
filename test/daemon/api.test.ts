import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApi, createApiServer, listenAt } from '../../actors/daemon/api/server.ts';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';

const socketOf = (daemon: TestDaemon): string =>
  readRendezvous(placesOf({ stateDir: daemon.home.stateDir, env: {} }))!.socket;

interface Question {
  readonly path: string;
  readonly body?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As a program that does not know the rules would ask. */
async function asked(socketPath: string, { path, body = '', method = 'POST', headers = {} }: Question) {
  const sent = request({ socketPath, path, method, headers: { 'content-type': 'application/json', ...headers } });
  sent.on('error', () => {});
  if (headers['content-length'] === undefined) sent.end(body);
  else sent.flushHeaders();
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const chunk of answer) text += chunk;
  sent.destroy();
  return { status: answer.statusCode as number, text };
}

describe('PRIV-04: the control socket', () => {
  it('takes nothing that does not fit the schema, and outlives whoever tries', async () => {
    const daemon = await testDaemon().start();
    const socket = socketOf(daemon);
    const refused = (code: string) => ({ status: 200, text: expect.stringContaining(`"code":"${code}"`) });
    const headers = { authorization: `Custody ${daemon.credential}` };
    for (const body of ['{', '{"title":1}']) {
      const answer = await asked(socket, { path: '/v1/call/goals.add', body, headers });
      expect(answer).toMatchObject(refused('invalid_event'));
    }
    expect(await asked(socket, { path: '/v1/call/status', body: '{"more":true}' })).toMatchObject(
      refused('invalid_event'),
    );
    expect(await asked(socket, { path: '/v1/call/__proto__' })).toMatchObject(refused('unknown_command'));
    expect(await asked(socket, { path: '/v1/stream/status' })).toMatchObject(refused('unknown_command'));
    expect((await asked(socket, { path: '/v1/call/status', method: 'GET' })).status).toBe(404);
    const large = { path: '/v1/call/goals.add', headers: { 'content-length': '30000000' } };
    expect((await asked(socket, large)).status).toBe(413);
    const garbage = createConnection(socket);
    garbage.on('error', () => {}).resume();
    garbage.end('no HTTP at all\r\n\r\n');
    await once(garbage, 'close');
    expect((await daemon.call('goals.list', {})).goals).toEqual([]);
    expect((await daemon.client.hello()).pid).toBe(daemon.pid);
  });

  it.each(['call/goals.add', 'stream/events.follow'])(
    'a client that leaves in the middle of %s is no bug',
    async (path) => {
      const bugs: unknown[] = [];
      const never = () => Promise.reject(new Error('nothing was asked'));
      const [hello, authorise] = [() => ({}), () => undefined];
      const asked = { call: never, stream: never as never, exposition: () => '' };
      const app = createApi({ hello, authorise, ...asked, onBug: (bug) => bugs.push(bug) });
      const dir = mkdtempSync(join(tmpdir(), 'custody-api-'));
      onTestFinished(() => rmSync(dir, { recursive: true }));
      const server = createApiServer(app);
      await listenAt(server, join(dir, 'run', 'api.sock'));
      const over = new Promise((resolve) => {
        server.once('request', (_, response) => response.once('close', resolve));
      });
      const leaving = createConnection(join(dir, 'run', 'api.sock'));
      const head = `POST /v1/${path} HTTP/1.1\r\nhost: custody\r\ncontent-length: 100\r\n\r\n{"title":`;
      server.once('request', () => leaving.destroy());
      leaving.write(head);
      await over;
      await new Promise((resolve) => {
        server.close(resolve);
      });
      expect(bugs).toEqual([]);
    },
  );

  it('a follower that leaves in the middle costs nothing', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    for (let nth = 0; nth < 5; nth += 1) await daemon.event({ type: 'goal.created' });
    const run = await daemon.exec(goalId, 'echo line; exit 3');
    expect(await daemon.proved(run.runId)).toMatchObject({ result: { code: 3 } });
  });

  it('is for its own user alone', async () => {
    const daemon = await testDaemon().start();
    const socket = socketOf(daemon);
    expect(lstatSync(socket).mode & 0o777).toBe(0o600);
    expect(lstatSync(join(socket, '..')).mode & 0o777).toBe(0o700);
    expect(lstatSync(daemon.home.stateDir).mode & 0o777).toBe(0o700);
    if (process.getuid?.() !== 0) return;
    const script = `require('net').connect(process.argv[1]).on('error', ({ code }) => console.log(code)).on('connect', () => console.log('in'))`;
    const options = { uid: 65_534, gid: 65_534, cwd: '/', encoding: 'utf8' } as const;
    expect(spawnSync(process.execPath, ['-e', script, socket], options).stdout).toBe('EACCES\n');
  });
});
