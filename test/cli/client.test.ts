import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Client, DaemonAbsent } from '../../cli/client.ts';
import { HostClient } from '../../pty/wire/hostClient.ts';
import { inState, statOf } from '../guardian/support/processes.ts';
import { type FaultyDaemon, faultyDaemon, head } from './support/faultyDaemon.ts';

let daemon: FaultyDaemon | undefined;
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

async function clientOf(behave: (connection: Socket) => void, path?: string): Promise<Client> {
  daemon = await faultyDaemon(behave, path);
  return new Client({ socket: daemon.socket, pid: 4_242 }, () => undefined);
}

const reply = JSON.stringify({ ok: true, command: 'status', data: {}, warnings: [], journalPosition: 1, exitCode: 0 });

describe('a daemon that is not there', () => {
  it('is told from one that is silent: nothing was sent', async () => {
    const client = new Client({ socket: join(tmpdir(), 'custody-nobody', 'api.sock'), pid: 1 }, () => undefined);
    await expect(client.call('status', {})).rejects.toBeInstanceOf(DaemonAbsent);
  });

  it('is recognised by the refused connection when its socket is still lying there', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'custody-stale-'));
    const socket = join(dir, 'api.sock');
    const code = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => console.log('listening'))`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    await expect(new Client({ socket, pid: 1 }, () => undefined).call('status', {})).rejects.toBeInstanceOf(
      DaemonAbsent,
    );
    rmSync(dir, { recursive: true });
  });
});

/** Listens, accepts nothing, and dies in the instant in which somebody has connected: before anybody could hear of that. */
async function dyingListener(dir: string, connect: (socket: string) => Promise<unknown>): Promise<unknown> {
  const socket = join(dir, 'api.sock');
  const code = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGSTOP');
  await inState(child.pid!, 'T');
  const connecting = connect(socket);
  child.kill('SIGKILL');
  while (statOf(child.pid!)?.state !== 'Z'); // the loop of this process must not turn meanwhile
  return connecting;
}

describe('a listener that dies with a connection in its queue', () => {
  const directory = (): string => {
    const dir = mkdtempSync(join(tmpdir(), 'custody-dying-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  };

  it('is a daemon that is gone', async () => {
    const call = (socket: string) => new Client({ socket, pid: 1 }, () => undefined).call('pause', { requestId: 'q' });
    await expect(dyingListener(directory(), call)).rejects.toMatchObject({ code: 'daemon_gone', exitCode: 10 });
  });

  it('is a PTY host that is gone', async () => {
    const silent = {
      role: 'client',
      credential: undefined,
      output: () => {},
      event: () => {},
      ended: () => {},
    } as const;
    const connect = (address: string) => HostClient.connect({ address, ...silent });
    await expect(dyingListener(directory(), connect)).rejects.toMatchObject({ code: 'host_gone' });
  });
});

it('a request that cannot be written is an error of the call, and of nothing besides', async () => {
  const client = await clientOf(() => {});
  const endless: { self?: unknown; requestId?: string } = {};
  endless.self = endless;
  await expect(client.watchedCall('pause', endless)).rejects.toBeInstanceOf(TypeError);
  // A connection that was left behind would say so now, to nobody.
  await new Promise((resolve) => setImmediate(resolve));
});

describe('a daemon that dies during a call', () => {
  it.each([
    ['before it answers', (connection: Socket) => connection.destroy()],
    ['with a clean end before it answers', (connection: Socket) => connection.end()],
    ['in the head', (connection: Socket) => connection.end('HTTP/1.1 200 O')],
    ['in the body', (connection: Socket) => connection.end(head(500) + reply)],
  ])('%s is gone, and the request id makes a repeat safe', async (_, behave) => {
    const client = await clientOf(behave);
    await expect(client.call('pause', { requestId: 'req-1' })).rejects.toMatchObject({
      code: 'daemon_gone',
      exitCode: 10,
      retryable: true,
      next: [expect.stringContaining('--request-id req-1'), expect.any(String)],
    });
  });

  it('needs no request id where nothing can have changed', async () => {
    const client = await clientOf((connection) => connection.destroy());
    await expect(client.call('status', {})).rejects.toMatchObject({
      code: 'daemon_gone',
      next: [expect.stringContaining('changes nothing'), expect.any(String)],
    });
  });
});

describe('an answer that is none', () => {
  it.each([
    ['no JSON', `${head(5)}hello`, ['protocol_error', 1]],
    ['no reply', `${head(2)}{}`, ['protocol_error', 1]],
    ['null', `${head(4)}null`, ['protocol_error', 1]],
    ['an answer without a length', head() + reply, ['protocol_error', 1]],
    ['another status', head(0, '500 Internal Server Error'), ['protocol_error', 1]],
    ['a request that is too large', head(0, '413 Payload Too Large'), ['usage', 2]],
  ] as const)('%s has a name', async (_, answer, [code, exitCode]) => {
    const client = await clientOf((connection) => connection.end(answer));
    await expect(client.call('status', {})).rejects.toMatchObject({ code, exitCode });
  });

  it('silence is silence: it names the process and waits no longer than it was told to (D3)', async () => {
    const client = await clientOf(() => undefined);
    await expect(client.call('status', {}, 50)).rejects.toMatchObject({
      code: 'daemon_unresponsive',
      exitCode: 10,
      retryable: true,
      details: { pid: 4_242, waitedMs: 50 },
    });
  });
});

describe('a call that takes its time', () => {
  const watch = { everyMs: 20, withinMs: 200 };
  /** Answers hello until `calls` are through, and the call itself after that many hellos. */
  const busy = (hellosBefore: number) => {
    let waiting: Socket | undefined;
    let hellos = 0;
    return (connection: Socket) => {
      if (daemon?.requests.at(-1)?.startsWith('POST')) {
        waiting = connection;
        return;
      }
      hellos += 1;
      connection.end(`${head(2)}{}`);
      if (hellos === hellosBefore) waiting?.end(head(reply.length) + reply);
    };
  };

  it('is waited for while the daemon says hello', async () => {
    const client = await clientOf(busy(3));
    expect(await client.watchedCall('pause', { requestId: 'req-1' }, watch)).toMatchObject({ ok: true });
    expect(daemon?.requests.filter((text) => text.startsWith('GET /v1/hello'))).toHaveLength(3);
  });

  it('is given up when the daemon says nothing at all, with the request id that makes a repeat safe', async () => {
    const closed: Promise<void>[] = [];
    const client = await clientOf((connection) => {
      closed.push(new Promise((resolve) => connection.once('close', () => resolve())));
    });
    await expect(client.watchedCall('pause', { requestId: 'req-1' }, watch)).rejects.toMatchObject({
      code: 'daemon_unresponsive',
      exitCode: 10,
      retryable: true,
      next: expect.arrayContaining([expect.stringContaining('--request-id req-1')]),
      details: { pid: 4_242, requestId: 'req-1' },
    });
    // Nothing of it keeps the process.
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('hears of its own end, not of a hello that was refused', async () => {
    const client = await clientOf((connection) => {
      if (daemon?.requests.at(-1)?.startsWith('GET')) connection.destroy();
      else setTimeout(() => connection.end(head(reply.length) + reply), 100);
    });
    expect(await client.watchedCall('pause', {}, watch)).toMatchObject({ ok: true });
  });
});

describe('streams', () => {
  const lines = async (client: Client) => {
    const got: unknown[] = [];
    for await (const line of client.stream('events.follow', {})) got.push(line);
    return got;
  };
  const streaming = (...parts: readonly (string | Buffer)[]) =>
    clientOf((connection) => {
      connection.write(head());
      for (const part of parts) connection.write(part);
      connection.end();
    });

  it('put lines and characters together that arrive in pieces', async () => {
    const bytes = Buffer.from('{"a":"日本"}\n{"b":1}\n\n{"c":2}\n');
    const pieces = Array.from(bytes, (byte) => Buffer.of(byte));
    expect(await lines(await streaming(...pieces))).toEqual([{ a: '日本' }, { b: 1 }, { c: 2 }]);
  });

  it('end with the error that the last line carries', async () => {
    const error = { code: 'not_found', message: 'no run', retryable: false, next: ['custody runs list'], exitCode: 3 };
    const client = await streaming('{"a":1}\n', `${JSON.stringify({ error })}\n`);
    await expect(lines(client)).rejects.toMatchObject({ code: 'not_found', exitCode: 3, next: ['custody runs list'] });
  });

  it.each(['not json\n', '17\n', '{"half":\n'])('refuse the line %j', async (text) => {
    await expect(lines(await streaming(text))).rejects.toMatchObject({ code: 'protocol_error' });
  });

  it('are gone when the daemon dies in the middle of a line', async () => {
    await expect(lines(await streaming('{"a":1}\n{"b"'))).rejects.toMatchObject({ code: 'daemon_gone' });
  });

  it('are left by leaving the loop', async () => {
    let left: Promise<void> | undefined;
    const client = await clientOf((connection) => {
      left = new Promise((resolve) => connection.once('close', () => resolve()));
      connection.write(head());
      connection.write('{"a":1}\n');
    });
    for await (const _ of client.stream('events.follow', {})) break;
    await left;
  });
});

it('reaches a socket whose path is longer than the kernel takes', async () => {
  const base = mkdtempSync(join(tmpdir(), 'custody-long-'));
  const dir = join(base, 'ö '.repeat(60));
  mkdirSync(dir);
  const client = await clientOf((connection) => connection.end(head(reply.length) + reply), join(dir, 'api.sock'));
  expect(await client.call('status', {})).toMatchObject({ ok: true });
  await daemon?.close();
  daemon = undefined;
  rmSync(base, { recursive: true });
});
