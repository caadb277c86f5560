/** What the worker's process itself runs into, seen from the other end of its socket. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ToWorker, type WorkerContext, workerProtocol } from '../../actors/worker/messages.ts';
import { startWorker } from '../../actors/worker/worker.ts';
import { onLines } from '../../pty/launch/lines.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { eventually } from '../support/eventually.ts';

const contextIn = (directory: string): WorkerContext => ({
  protocol: workerProtocol,
  incarnationId: 'K1' as never,
  runtimeId: 'X1' as never,
  registrationId: 'K2' as never,
  token: 'a'.repeat(64),
  socket: join(directory, 'worker.sock'),
  scopeId: 'S1' as never,
  scopeDir: directory,
  guardianPath: '/nowhere',
  installationId: 'i',
  nodeId: 'n',
  targetId: 't',
  tickIntervalMs: 60_000,
  retryMs: 10,
});

/** A worker that has registered with us, and what it says. */
async function connected() {
  const directory = workDirectory();
  const context = contextIn(directory);
  const server = createServer().listen(context.socket);
  await once(server, 'listening');
  const worker = startWorker(context);
  onTestFinished(() => {
    worker.close();
    server.close();
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const said: Record<string, unknown>[] = [];
  onLines(socket, { line: (value) => said.push(value as Record<string, unknown>), ended: () => {} });
  const say = (message: ToWorker) => socket.write(`${JSON.stringify(message)}\n`);
  const heard = (type: string) => eventually(type, async () => said.find((message) => message.type === type));
  await heard('register');
  say({ type: 'registered', targetId: 't' });
  return { directory, say, heard };
}

const file = { dev: '1', ino: '1' };
const slot = { ...file, nonce: 'n', nonceHash: 'h' };

const spawnIn = (scopeDir: string, argv: string[]): ToWorker => ({
  type: 'spawn',
  launchId: 'S2' as never,
  request: {
    scopeId: 'S2' as never,
    scopeDir,
    slots: { start: slot, status: slot, exit: slot, adopted: file },
    argv,
    env: {},
    cwd: '/',
    umask: 0o077,
    handshakeMs: 1_000,
    graceMs: 0,
    budgetMs: 1_000,
  },
});

it('a place for output that cannot be opened is a launch that failed, and the worker goes on', async () => {
  const { directory, say, heard } = await connected();
  say(spawnIn(join(directory, 'not-there'), ['true']));
  expect(await heard('failed')).toMatchObject({ launchId: 'S2', code: 'evidence_unavailable', phase: 'spawn' });
  say({ type: 'check', checkId: 'R1' });
  expect(await heard('begin')).toMatchObject({ checkId: 'R1' });
});

it('a command line of several hundred kilobytes arrives', async () => {
  const { directory, say, heard } = await connected();
  say(spawnIn(directory, ['true', ...Array<string>(6).fill('x'.repeat(100_000))]));
  expect(await heard('failed')).toMatchObject({ launchId: 'S2', phase: 'spawn' });
});

it('output that cannot be read is no artifact, and the verdict is said all the same', async () => {
  const { say, heard } = await connected();
  // A file that there is and that gives an error at its beginning (proc_pid_mem(5)).
  say({ type: 'ended', checkId: 'R1', end: { how: 'exited', code: 0 }, streams: ['/proc/self/mem'] });
  expect(await heard('verdict')).toMatchObject({ checkId: 'R1', verdict: 'accepted', artifactDigests: [] });
});
