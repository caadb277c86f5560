import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { onTestFinished } from 'vitest';

/** A client that says what it likes: for requests that the real one never sends. Reads only when a line is asked for. */
export interface RawClient {
  readonly socket: Socket;
  say(line: string): void;
  /** The next line; undefined when the connection has ended, however. */
  line(): Promise<string | undefined>;
}

export async function rawClient(directory: string): Promise<RawClient> {
  const fd = openSync(directory, 'r');
  const socket = createConnection(`/proc/self/fd/${fd}/ctl.sock`);
  await once(socket, 'connect');
  closeSync(fd);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  let rest = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const line = async (): Promise<string | undefined> => {
    for (;;) {
      const end = rest.indexOf('\n');
      if (end >= 0) {
        const found = rest.slice(0, end);
        rest = rest.slice(end + 1);
        return found;
      }
      const chunk = socket.read();
      if (chunk !== null) rest += chunk;
      else if (socket.closed || socket.readableEnded) return undefined;
      else await Promise.race([new Promise((resolve) => socket.once('readable', resolve)), closed]);
    }
  };
  return { socket, line, say: (text) => void socket.write(`${text}\n`) };
}
