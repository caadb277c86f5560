/**
 * A stream between a containment check and what it launches: it is the workload's standard input and output at once. Who
 * listens at our end hears lines, and hears an end exactly when no process holds the other one any more; so nothing has
 * to be asked twice, and whoever reads from it ends by itself when the process that made the check has died.
 */
import { once } from 'node:events';
import { unlink } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withSocketAddress } from '../../runtime/places.ts';

export interface Talk {
  /** The other end, to be given to a launch. */
  readonly theirs: Socket;
  /** Our end, for whoever speaks something else than lines over it. */
  readonly ours: Socket;
  /** Closes our copy of the other end, once the launch has its own. */
  handedOver(): void;
  /** The rest of the next line that begins with `word`; lines before it are dropped. Rejects at the end. */
  heard(word: string): Promise<string>;
  say(line: string): void;
  /** Resolves when nobody holds the other end any more. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Both ends, connected through a socket in a private directory that exists already; the name is gone afterwards. */
async function connected(directory: string): Promise<{ ours: Socket; theirs: Socket }> {
  const path = join(directory, 'talk.sock');
  const server = createServer({ pauseOnConnect: true });
  await withSocketAddress(path, async (address) => {
    server.listen(address);
    await once(server, 'listening');
  });
  try {
    return await withSocketAddress(path, async (address) => {
      const accepted = once(server, 'connection');
      // Paused, because what is read here would be missing there.
      const theirs = createConnection(address).pause();
      const [[ours]] = await Promise.all([accepted, once(theirs, 'connect')]);
      return { ours: ours as Socket, theirs };
    });
  } finally {
    server.close();
    await unlink(path).catch(() => undefined);
  }
}

export async function talkIn(directory: string): Promise<Talk> {
  const { ours, theirs } = await connected(directory);
  ours.on('error', () => undefined); // what matters of it is that the stream closes
  theirs.on('error', () => undefined);
  return {
    ours,
    theirs,
    handedOver: () => void theirs.destroy(),
    ...lines(ours),
    say: (line) => void ours.write(`${line}\n`),
    close: () => {
      theirs.destroy();
      ours.destroy();
    },
  };
}

/** Reading begins with the first question: until then the stream may belong to somebody who speaks another language. */
function lines(ours: Socket): Pick<Talk, 'heard' | 'ended'> {
  let text = '';
  let wake: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    ours.once('close', () => {
      resolve();
      wake();
    });
  });
  const next = (word: string): string | undefined => {
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      if (line === word || line.startsWith(`${word} `)) return line.slice(word.length + 1);
    }
    return undefined;
  };
  const listen = (): void => {
    if (ours.listenerCount('data') > 0) return;
    ours.on('data', (chunk) => {
      text += String(chunk);
      wake();
    });
    ours.resume();
  };
  return {
    get ended() {
      listen();
      return ended;
    },
    async heard(word) {
      listen();
      for (;;) {
        const rest = next(word);
        if (rest !== undefined) return rest;
        if (ours.destroyed) throw new Error('nobody is there to say it');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
