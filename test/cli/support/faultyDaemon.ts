/** A listener that misbehaves on purpose: what a daemon does when it is killed, stopped or replaced by something else. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withSocketAddress } from '../../../actors/runtime/places.ts';

export interface FaultyDaemon {
  readonly socket: string;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** Calls `behave` with each connection once the head of a request has arrived. */
export async function faultyDaemon(behave: (connection: Socket) => void, path?: string): Promise<FaultyDaemon> {
  const socket = path ?? join(mkdtempSync(join(tmpdir(), 'custody-faulty-')), 'api.sock');
  const requests: string[] = [];
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    connection.once('data', (data) => {
      requests.push(data.toString('utf8'));
      behave(connection);
    });
  });
  await withSocketAddress(socket, (address) => new Promise<void>((resolve) => server.listen(address, () => resolve())));
  return {
    socket,
    requests,
    close: () =>
      new Promise((resolve) => {
        for (const connection of connections) connection.destroy();
        server.close(() => {
          rmSync(dirname(socket), { recursive: true, force: true });
          resolve();
        });
      }),
  };
}

/** The head of an answer; without a length it is that of a stream, which ends with the connection. */
export const head = (length?: number, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${length === undefined ? '' : `content-length: ${length}\r\n`}\r\n`;
