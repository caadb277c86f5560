/** Where the worker reaches the daemon: a socket of its own (0600, in a private directory), each connection with its peer. */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { onLines } from '../../../pty/launch/lines.ts';
import { withSocketAddress } from '../../runtime/places.ts';
import { type FromWorker, fromWorkerSchema, type ToWorker } from '../../worker/messages.ts';
import { type Peer, peerOf } from './peer.ts';

export interface Caller {
  readonly peer: Peer;
  /** False where the connection is over. */
  say(message: ToWorker): boolean;
  /** It is the worker: its connection makes room for nobody. */
  keep(): void;
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
  /** It was taken away and is there again, or cannot be opened. */
  readonly tell: (event: { readonly error?: unknown }) => void;
}

/** Connections that are looked at or talked to at once; one worker needs one. */
const mostConnections = 16;

const lookAgainAfterMs = 2_000;

export interface Door {
  /** Why nobody can come in, as the system says it; undefined while it is open. */
  readonly trouble: string | undefined;
  close(): Promise<void>;
}

/** Opens it, and does so anew whenever its name is gone: somebody may clear away what lies in the run directory. */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { path, tell } = options;
  const waitingRoom = new WaitingRoom();
  let introducing = Promise.resolve();
  let at: { readonly server: Server; readonly identity: string } | undefined;
  let trouble: string | undefined;

  async function open(): Promise<void> {
    // libuv removes the name that it has bound, so the old one goes before the new one comes.
    at?.server.close();
    at = undefined;
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      waitingRoom.enter(socket);
      // One after the other: each costs a process.
      introducing = introducing.then(() => introduced(socket, waitingRoom, options)).catch(() => void socket.destroy());
    });
    server.on('error', () => {});
    await listenAt(server, path);
    at = { server, identity: identityOf(path) };
  }

  async function renew(): Promise<void> {
    if (at !== undefined && identityOf(path) === at.identity) return;
    try {
      await open();
      trouble = undefined;
      tell({});
    } catch (error) {
      // Said once for as long as it is the same.
      const code = codeOf(error);
      if (trouble !== code) tell({ error });
      trouble = code;
    }
  }

  await renew();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  }, lookAgainAfterMs).unref();
  return {
    get trouble() {
      return trouble;
    },
    async close() {
      clearInterval(timer);
      // Or it would be open again, and in the way of the next daemon's.
      await renewing;
      at?.server.close();
      waitingRoom.close();
      rmSync(path, { force: true });
    },
  };
}

async function introduced(
  socket: Socket,
  waitingRoom: WaitingRoom,
  { guardianPath, uid, visit }: DoorOptions,
): Promise<void> {
  if (socket.destroyed) return;
  const peer = await peerOf(socket, guardianPath);
  if (peer === undefined || peer.uid !== uid || socket.destroyed) return void socket.destroy();
  const say = (message: ToWorker) => {
    if (!socket.writable) return false;
    socket.write(`${JSON.stringify(message)}\n`);
    return true;
  };
  const visitor = visit({ peer, say, keep: () => waitingRoom.leave(socket), leave: () => socket.end() });
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

/** Connections in the order in which they came. Whoever only holds one makes room for the next: it may be the worker. */
class WaitingRoom {
  readonly #all = new Set<Socket>();
  readonly #strangers = new Set<Socket>();

  enter(socket: Socket): void {
    this.#all.add(socket);
    this.#strangers.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        this.#all.delete(socket);
        this.#strangers.delete(socket);
      });
    const [oldest] = this.#strangers;
    if (this.#strangers.size > mostConnections) oldest?.destroy();
  }

  leave(socket: Socket): void {
    this.#strangers.delete(socket);
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? error);

/** A file system may give the number of a removed file to the next one at once. Empty where there is nothing. */
function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
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
