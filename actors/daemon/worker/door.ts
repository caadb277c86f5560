/** Where the worker reaches the daemon: a socket of its own (0600, in a private directory), each connection with its peer. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { onLines } from '../../../pty/launch/lines.ts';
import { withSocketAddress } from '../../runtime/places.ts';
import { type FromWorker, fromWorkerSchema, type ToWorker } from '../../worker/messages.ts';
import { type Peer, peerOf } from './peer.ts';

export interface Caller {
  readonly peer: Peer;
  /** False where the connection is over. */
  say(message: ToWorker): boolean;
  /** Ends the connection once everything that was said has been sent. */
  leave(): void;
}

export interface Visitor {
  heard(message: FromWorker): void;
  gone(): void;
}

interface DoorOptions {
  readonly path: string;
  readonly guardianPath: string;
  readonly uid: number;
  readonly visit: (caller: Caller) => Visitor;
}

/** Connections that are looked at or talked to at once; one worker needs one. */
const mostConnections = 16;

export interface Door {
  close(): void;
}

/** Rejects with what the system says of the address. */
export async function openDoor({ path, guardianPath, uid, visit }: DoorOptions): Promise<Door> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    void introduced(socket);
  });
  server.maxConnections = mostConnections;
  server.on('error', () => {});

  async function introduced(socket: Socket): Promise<void> {
    const peer = await peerOf(socket, guardianPath);
    if (peer === undefined || peer.uid !== uid || socket.destroyed) return void socket.destroy();
    const say = (message: ToWorker) => {
      if (!socket.writable) return false;
      socket.write(`${JSON.stringify(message)}\n`);
      return true;
    };
    const visitor = visit({ peer, say, leave: () => socket.end() });
    onLines(socket, {
      line(value) {
        const message = fromWorkerSchema.safeParse(value);
        if (message.success) visitor.heard(message.data);
        else socket.destroy(new Error('another protocol'));
      },
      ended: () => visitor.gone(),
    });
    socket.resume();
  }

  await listenAt(server, path);
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
      rmSync(path, { force: true });
    },
  };
}

async function listenAt(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  await withSocketAddress(path, (address) => {
    const formerMask = process.umask(0o177);
    return new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(address, () => resolve(void server.off('error', reject)));
    }).finally(() => process.umask(formerMask));
  });
  chmodSync(path, 0o600);
}
