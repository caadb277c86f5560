/** The daemon of the page's tests, for a benchmark: its Goals are made and moved on by order. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { operatorCredential, operatorKey } from '../../actors/runtime/credentials.ts';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { Client } from '../../cli/client.ts';
import { bundleStoryDaemon } from '../../test/inspect/web/support/story.ts';

export interface StoryDaemon {
  /** Of the Goals that were moved on. */
  readonly versions: Map<string, number>;
  /** The address that lets one page in. */
  open(): Promise<string>;
  /** Resolves with the wall time at which it was committed. */
  order(what: Readonly<Record<string, unknown>>): Promise<number>;
  end(): Promise<void>;
}

interface StartOptions {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function startStoryDaemon({ root, stateDir, env }: StartOptions): Promise<StoryDaemon> {
  const directory = join(root, 'node_modules', '.cache', 'custody-bench');
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'storyDaemon.mjs');
  bundleStoryDaemon(root, program);
  const child = spawn(process.execPath, [program, '--state-dir', stateDir], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdio[3] as Readable }), 'line')) as [string];
  if (!(JSON.parse(line) as { readonly ok: boolean }).ok) throw new Error(line);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const places = placesOf({ stateDir, env: {} });
  const client = new Client(readRendezvous(places)!, () => operatorCredential(operatorKey(places)));
  return {
    versions: new Map(),
    async open() {
      const reply = await client.call<{ readonly url: string }>('inspect.open', {});
      if (!reply.ok) throw new Error(reply.error.message);
      return reply.data.url;
    },
    async order(what) {
      child.stdin!.write(`${JSON.stringify(what)}\n`);
      const { value } = await lines.next();
      const answer = JSON.parse(value as string) as { readonly failed?: string; readonly atWallMs: number };
      if (answer.failed !== undefined) throw new Error(answer.failed);
      return answer.atWallMs;
    },
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
