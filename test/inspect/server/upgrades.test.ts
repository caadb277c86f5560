/** Connections that ask for the inspection protocol: what anybody may send, who is told of what, and that all of them end. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { FleetAnswer } from '../../../inspect/server/contract.ts';
import { Follower } from '../../../inspect/server/stately/follower.ts';
import { eventually } from '../../support/eventually.ts';
import { hosted } from './support/hosted.ts';
import { ask, type Page } from './support/page.ts';

/** An upgrade as no client that is well would write it, over a connection whose own side stays open. */
function upgradeTo(page: Page, target: string): Socket {
  const socket = connect({ port: page.port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const lines = [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${page.port}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Up to where the other side ends. */
function statusOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  return new Promise((resolve) => {
    socket.once('end', () => resolve(text.split('\r\n')[0] ?? ''));
    socket.once('close', () => resolve(text.split('\r\n')[0] ?? ''));
  });
}

interface Told {
  readonly type: string;
  readonly sessionId: string;
}

/** A client of the protocol, and what it is told. */
function follow(url: string): { readonly socket: WebSocket; readonly until: (count: number) => Promise<Told[]> } {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  const told: Told[] = [];
  let wake = () => {};
  let code: number | undefined;
  socket.on('error', () => {});
  socket.on('message', (data) => {
    told.push(JSON.parse(String(data)));
    wake();
  });
  socket.on('close', (why) => {
    code = why;
    wake();
  });
  return {
    socket,
    async until(count) {
      while (told.length < count) {
        if (code !== undefined) throw new Error(`closed with ${code} after ${told.length}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return told;
    },
  };
}

describe('a connection that asks for an upgrade', () => {
  it('is refused when its target is no address, and the daemon goes on', async () => {
    const page = await hosted().open();
    for (const target of ['//', '///', 'http://[']) {
      expect(await statusOf(upgradeTo(page, target)), target).toBe('HTTP/1.1 400 Bad Request');
    }
    expect((await page.get<FleetAnswer>('/api/fleet')).actors).toEqual([]);
  });

  it('keeps nobody from closing when it was refused and does not hang up', async () => {
    const page = await hosted().open();
    const sockets = Array.from({ length: 4 }, () => upgradeTo(page, '/inspect?token=wrong'));
    expect(await Promise.all(sockets.map(statusOf))).toEqual(sockets.map(() => 'HTTP/1.1 401 Unauthorized'));
    await page.close();
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
  });
});

describe('a client of the inspection protocol', () => {
  it('is told of an actor that was created a moment before', async () => {
    const { open, addGoals, idOf } = hosted();
    const page = await open();
    await page.get('/api/fleet');
    await addGoals(0, 1);
    const [first] = await follow(page.inspectionUrl).until(1);
    expect(first).toMatchObject({ type: '@xstate.actor', sessionId: `goal/${idOf(0)}` });
  });

  it('is told of each that is there once, however slowly it reads, and of what is committed afterwards', async () => {
    const { open, addGoals, idOf } = hosted();
    await addGoals(0, 400, 'x'.repeat(190));
    const page = await open();
    await eventually(
      'everybody read in',
      async () => (await page.get<FleetAnswer>('/api/fleet')).complete || undefined,
    );
    const client = follow(page.inspectionUrl);
    await new Promise((resolve) => client.socket.once('open', resolve));
    client.socket.pause();
    await addGoals(400, 420);
    client.socket.resume();
    const told = await client.until(400 + 3 * 20);
    const announced = told.filter(({ type }) => type === '@xstate.actor').map(({ sessionId }) => sessionId);
    expect(announced.toSorted()).toEqual(Array.from({ length: 420 }, (_, number) => `goal/${idOf(number)}`));
    const begun = new Set<string>();
    for (const { type, sessionId } of told) {
      if (type === '@xstate.actor') begun.add(sessionId);
      else expect(begun.has(sessionId), `${type} of ${sessionId}`).toBe(true);
    }
  });

  it('is not listened to beyond a megabyte in a second', () => {
    const follower = new Follower({} as WebSocket);
    const heard = (count: number, atMs: number) =>
      Array.from({ length: count }, () => follower.mayHear(262_144, atMs)).filter(Boolean).length;
    expect(heard(10, 0)).toBe(4);
    expect(heard(1, 999)).toBe(0);
    expect(heard(10, 1_000)).toBe(4);
  });
});

describe('the files of the page', () => {
  it('are found in a directory whose name a URL writes otherwise', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'custody-'));
    onTestFinished(() => rmSync(parent, { recursive: true }));
    const directory = join(parent, 'größer als 100%');
    mkdirSync(directory);
    writeFileSync(join(directory, 'index.html'), '<p>here</p>');
    const page = await hosted().open({ assets: pathToFileURL(`${directory}/`) });
    expect(await ask(page.port, '/')).toMatchObject({ status: 200, text: '<p>here</p>' });
  });
});
