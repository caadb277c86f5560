/** Peers that die, say nonsense or nothing, and hosts that die under them: nothing runs that was not released. */
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { operatorCredential } from '../../actors/runtime/credentials.ts';
import { jsonFrame } from '../../pty/wire/frames.ts';
import { HostClient } from '../../pty/wire/hostClient.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { guardian } from '../guardian/support/programs.ts';
import { appeared, exists, workDirectory } from '../guardian/support/scope.ts';
import { seeded } from '../host/support/random.ts';
import { ptyHost, readReceipt, type TestHost } from './support/host.ts';

/** Longer than the patience of any test, so that nothing ends by itself in time. */
const handshakeMs = 300_000;

/** A guardian that is started when it is let go. */
function slowGuardian(directory: string) {
  const turn = turns(directory, 'slow');
  const path = join(directory, 'slow-guardian');
  writeFileSync(
    path,
    `#!/bin/sh\necho $$ > '${turn.paths[0]}'\nread go < '${turn.paths[1]}'\nexec '${guardian()}' "$@"\n`,
  );
  chmodSync(path, 0o755);
  return { path, turn };
}

describe('a session whose daemon is gone before the release never runs (ruling 6)', () => {
  it('when it died while the guardian was being started', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const ran = join(host.directory, 'ran');
    const slow = slowGuardian(host.directory);
    const options = { guardianPath: slow.path, handshakeMs, release: false };
    const opening = host.open(daemon, ['touch', ran], options).catch((error: unknown) => error);
    await slow.turn.ready();
    daemon.client.close();
    expect(await opening).toMatchObject({ code: 'host_gone' });
    const next = await host.daemon();
    await slow.turn.release();
    const scopeDir = join(host.directory, 'scope-1');
    await appeared(scopeDir, 'exit.json');
    expect(readReceipt(scopeDir, 'status')).toMatchObject({ how: 'notReleased' });
    expect(exists(ran)).toBe(false);
    await expect.poll(async () => (await host.report(next, 'P1')).state, { timeout: 60_000 }).toBe('ended');
  });

  it('when another daemon has taken its place', async () => {
    const host = await ptyHost();
    const former = await host.daemon();
    const ran = join(host.directory, 'ran');
    const { scopeDir } = await host.open(former, ['touch', ran], { release: false, handshakeMs });
    await host.daemon();
    await appeared(scopeDir, 'exit.json');
    expect(readReceipt(scopeDir, 'status')).toMatchObject({ how: 'notReleased' });
    expect(exists(ran)).toBe(false);
  });
});

describe('a host that is killed', () => {
  it('between open and release: the gate closes with it', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const ran = join(host.directory, 'ran');
    const { scopeDir, id } = await host.open(daemon, ['touch', ran], { release: false, handshakeMs });
    host.child.kill('SIGKILL');
    await expect(daemon.ask({ do: 'release', sessionId: id })).rejects.toMatchObject({ code: 'host_gone' });
    await appeared(scopeDir, 'exit.json');
    expect(readReceipt(scopeDir, 'status')).toMatchObject({ how: 'notReleased' });
    expect(exists(ran)).toBe(false);
  });

  it('between the release and the first byte: hung up, and the receipts complete (76)', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const { scopeDir, ready } = await host.open(daemon, ['sleep', '600']);
    host.child.kill('SIGKILL');
    await appeared(scopeDir, 'exit.json');
    expect(readReceipt(scopeDir, 'status')).toMatchObject({ how: 'signaled', signal: 1 });
    await isGone(ready.workload.pid);
  });

  it('while a session is opened: whoever asked is told, and nothing of it runs', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const slow = slowGuardian(host.directory);
    const opening = host.open(daemon, ['touch', 'ran'], { guardianPath: slow.path, handshakeMs, release: false });
    const refused = opening.catch((error: unknown) => error);
    const pid = await slow.turn.ready();
    host.child.kill('SIGKILL');
    expect(await refused).toMatchObject({ code: 'host_gone' });
    await isGone(host.child.pid!);
    await slow.turn.release();
    await isGone(pid);
    expect(exists(join(host.directory, 'ran'))).toBe(false);
  });
});

/** Connected, and no word said. */
async function stranger(host: TestHost): Promise<Socket> {
  const socket = connect(host.socket);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.resume().once('close', () => resolve()));

describe('a host serves on', () => {
  it.each([
    ['a frame of four gigabytes', Buffer.from([1, 0xff, 0xff, 0xff, 0xff])],
    ['a type that nobody knows', Buffer.from([9, 1, 0, 0, 0, 0])],
    ['a request for a web page', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ])('and hangs up on a peer that sends %s', async (_, bytes) => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    const socket = await stranger(host);
    socket.write(bytes);
    await closed(socket);
    expect(await host.report(daemon, session.id)).toMatchObject({ state: 'running' });
  });

  it('and refuses by name what is not JSON, what is no request, and what comes before the greeting', async () => {
    const host = await ptyHost();
    const socket = await stranger(host);
    const heard: string[] = [];
    socket.on('data', (chunk) => heard.push(chunk.toString()));
    const until = (text: string) => expect.poll(() => heard.join(''), { timeout: 60_000 }).toContain(text);
    const broken = Buffer.from('{"do":"hello"');
    const frame = jsonFrame({});
    socket.write(Buffer.concat([frame.subarray(0, 1), Buffer.from([broken.length, 0, 0, 0]), broken]));
    await until('not JSON');
    for (const request of [null, [], 7, { do: 'list', id: 4 }]) socket.write(jsonFrame(request));
    await until('say hello first');
    socket.write(jsonFrame({ do: 'hello', id: 5, protocol: [0], role: 'daemon' }));
    await until('protocol_unsupported');
    await until('"supported":[2,1]');
    const credential = operatorCredential(host.key);
    socket.write(jsonFrame({ do: 'hello', id: 6, protocol: [0, 1], role: 'client', credential }));
    await until('"reply":6,"ok":true,"data":{"protocol":1,');
  });

  it('while somebody is connected who never says a word, or half of one', async () => {
    const host = await ptyHost();
    await stranger(host);
    (await stranger(host)).write(Buffer.from([1, 0xff, 0]));
    const daemon = await host.daemon();
    const { end } = await host.run(daemon, ['echo', 'served']);
    expect(end).toMatchObject({ complete: true });
  });

  it('while a thousand random frames come in, and every session keeps its terminal', async () => {
    const host = await ptyHost();
    const daemon = await host.daemon();
    const session = await host.open(daemon, ['cat']);
    const random = seeded(41);
    for (let round = 0; round < 20; round += 1) {
      const socket = await stranger(host);
      for (let frame = 0; frame < 50; frame += 1) {
        const body = Buffer.from(Array.from({ length: random(40) }, () => random(256)));
        socket.write(Buffer.concat([Buffer.from([random(4), body.length, 0, 0, 0]), body]));
      }
      socket.end();
      await closed(socket);
    }
    expect(host.child.exitCode).toBeNull();
    expect(isAlive(session.ready.workload.pid)).toBe(true);
    expect(await host.report(daemon, session.id)).toMatchObject({ state: 'running' });
  });
});

describe('a client whose host is something else', () => {
  it.each([
    ['garbage', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a frame that is not JSON', Buffer.from([1, 3, 0, 0, 0, 0x7b, 0x7b, 0x7b])],
    ['output without its offset', Buffer.from([2, 1, 0, 0, 0, 0x41])],
  ])('that answers %s is told that the connection is gone, and lives', async (_, answer) => {
    const address = join(workDirectory(), 'pty.sock');
    const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.write(answer)));
    await new Promise<void>((resolve) => server.listen(address, resolve));
    onTestFinished(() => void server.close());
    let isEnded = false;
    const ended = (): void => {
      isEnded = true;
    };
    const connecting = HostClient.connect({ address, role: 'client', credential: undefined, event: () => {}, ended });
    await expect(connecting).rejects.toMatchObject({ code: 'host_gone' });
    expect(isEnded).toBe(true);
  });
});
