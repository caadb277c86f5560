import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type FromWorker,
  type ToWorker,
  type WorkerContext,
  workerContextSchema,
} from '../../actors/worker/messages.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { checksOf, positionOf, ticked, tickingWorker, workerOf, workingDaemon } from './support/workers.ts';

/** What the worker was launched with. It lies in a file without a name, which a process of the same user can read. */
function contextOf(pid: number): WorkerContext {
  const file = openSync(`/proc/${pid}/fd/0`, 'r');
  try {
    const buffer = Buffer.alloc(65_536);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return workerContextSchema.parse(JSON.parse(buffer.toString('utf8', 0, length)));
  } finally {
    closeSync(file);
  }
}

/** Somebody at the worker's door, who says what is given and hears what is answered. */
async function caller(daemon: TestDaemon) {
  const socket = createConnection(join(daemon.home.stateDir, 'run', 'worker.sock'));
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return {
    async ask(message: unknown): Promise<ToWorker | undefined> {
      socket.write(`${JSON.stringify(message)}\n`);
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
  };
}

const speakerOf = ({ incarnationId, runtimeId, registrationId, token }: WorkerContext) => ({
  incarnationId,
  runtimeId,
  registrationId,
  token,
});

const tickOf = (context: WorkerContext, changes: Partial<Extract<FromWorker, { type: 'tick' }>> = {}) => ({
  type: 'tick',
  ...speakerOf(context),
  targetId: context.targetId,
  nodeId: context.nodeId,
  seq: 1_000_000,
  checkId: null,
  ...changes,
});

describe('whoever comes to the door of the worker', () => {
  it('WRK-03 is nobody without being the process that was launched, whatever it knows', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { pid, incarnationId } = await workerOf(daemon);
    const context = contextOf(pid!);
    const stranger = await caller(daemon);
    const registration = { type: 'register', ...speakerOf(context), scopeId: context.scopeId };
    expect(await stranger.ask(tickOf(context))).toEqual({ type: 'refused', code: 'not_registered_worker' });
    expect(await stranger.ask({ type: 'begin', checkId: 'R1' })).toEqual({
      type: 'refused',
      code: 'not_registered_worker',
    });
    expect(await stranger.ask(registration)).toEqual({ type: 'refused', code: 'not_registered_worker' });
    expect(await tickingWorker(daemon)).toMatchObject({ incarnationId, pid });
  });

  it.each([
    ['another incarnation', { incarnationId: 'K0000000000' }, 'unknown_incarnation'],
    ['another token', { token: '0'.repeat(64) }, 'other_token'],
    ['another registration', { registrationId: 'K0000000000' }, 'other_token'],
    ['another scope', { scopeId: 'S0000000000' }, 'other_token'],
  ])('WRK-01 WRK-02 is refused with %s', async (_, change, code) => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const context = contextOf((await workerOf(daemon)).pid!);
    const stranger = await caller(daemon);
    const answer = await stranger.ask({ type: 'register', ...speakerOf(context), scopeId: context.scopeId, ...change });
    expect(answer).toEqual({ type: 'refused', code });
  });

  it('is cut off when it speaks another language, and nobody is disturbed', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { incarnationId } = await workerOf(daemon);
    const stranger = await caller(daemon);
    expect(await stranger.ask({ type: 'obey' })).toBeUndefined();
    expect(await tickingWorker(daemon)).toMatchObject({ incarnationId });
  });
});

describe('a worker', () => {
  it('WRK-04 takes its target from nowhere but its launch context', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_TARGET: 'another', CUSTODY_TARGET_ID: 'another' } }).start();
    const tick = await ticked(daemon);
    const { pid } = await workerOf(daemon);
    expect(tick.payload.targetId).toBe(contextOf(pid!).targetId);
    expect(tick.payload.targetId).not.toBe('another');
  });

  it('WRK-04 is none without a launch context', () => {
    const program = new URL('../../dist/worker.js', import.meta.url).pathname;
    const { status, stderr } = spawnSync(process.execPath, [program], { input: '{}', encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 66,
      stderr: 'custody: a worker is started by the daemon, with its launch context on standard input\n',
    });
  });

  it('outlives its daemon, is found again by the next one, and is not replaced', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const before = await workerOf(daemon);
    const since = await positionOf(daemon);
    await daemon.restart('SIGKILL');
    const after = await tickingWorker(daemon);
    expect(after).toMatchObject({ incarnationId: before.incarnationId, pid: before.pid });
    expect(await daemon.events({ since, type: 'recovery.started' })).toEqual([]);
  });

  it('WRK-02 is told of another target by a daemon that has one, and counts only once it ticks for it', async () => {
    const daemon = await workingDaemon({ check: 'true' }).start();
    const first = await ticked(daemon);
    const { incarnationId } = await workerOf(daemon);
    const since = await positionOf(daemon);
    await daemon.kill('SIGTERM');
    Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf('exit 0') });
    await daemon.start();
    const worker = await tickingWorker(daemon);
    expect(worker.incarnationId).toBe(incarnationId);
    const types = (await daemon.events({ since, actor: incarnationId! })).map(({ type }) => type);
    expect(types).toEqual(['target.changed', 'scheduler.tick']);
    const [tick] = await daemon.events({ since, actor: incarnationId!, type: 'scheduler.tick' });
    expect(tick?.payload.targetId).not.toBe(first.payload.targetId);
  });
});
