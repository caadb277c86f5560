/**
 * The worker's connection to the daemon, made anew for as long as the worker lives: a daemon that leaves is followed by
 * another, and what the worker has launched goes on meanwhile (ruling 21).
 */
import { createConnection, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { frameMaxBytes } from '../../pty/launch/frame.ts';
import { onLines } from '../../pty/launch/lines.ts';
import { withSocketAddress } from '../runtime/places.ts';
import { type FromWorker, type ToWorker, toWorkerSchema } from './messages.ts';

/** A command as long as a guardian takes it has to get through, however its characters are spelled in JSON. */
const lineMax = 6 * frameMaxBytes;

export interface LinkListener {
  connected(): void;
  heard(message: ToWorker): void;
  /** Nothing more is heard, and what was not acknowledged must not be acted upon. */
  lost(): void;
}

export interface DaemonLink {
  /** False where nobody is connected: it is not kept for later. */
  say(message: FromWorker): boolean;
  close(): void;
}

/** Tries for as long as it is open, `retryMs` after each failure. */
export function keepLink(path: string, retryMs: number, listener: LinkListener): DaemonLink {
  const closing = new AbortController();
  let socket: Socket | undefined;

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      socket = await withSocketAddress(path, connected).catch(() => undefined);
      if (socket !== undefined) await conversation(socket);
      socket = undefined;
      await setTimeout(retryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  function conversation(open: Socket): Promise<void> {
    return new Promise((resolve) => {
      const words = {
        line(value: unknown) {
          const message = toWorkerSchema.safeParse(value);
          if (message.success) listener.heard(message.data);
          else open.destroy(new Error('the daemon speaks another protocol'));
        },
        ended() {
          listener.lost();
          resolve();
        },
      };
      onLines(open, words, lineMax);
      listener.connected();
    });
  }

  void keep();
  return {
    say(message) {
      if (socket === undefined || !socket.writable) return false;
      // A daemon that was stopped reads nothing; what is stale by the time that it does need not wait for it in memory.
      if (message.type === 'tick' && socket.writableNeedDrain) return false;
      socket.write(`${JSON.stringify(message)}\n`);
      return true;
    },
    close() {
      closing.abort();
      socket?.destroy();
    },
  };
}

function connected(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket.off('error', reject)));
  });
}
