import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { openStore } from '../../persistence/store.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, refuseAt } from '../support/daemonFailpoints.ts';
import { eventually } from '../support/eventually.ts';
import { fenceStory, killWorker, positionOf, ticked, workerOf, workingDaemon } from './support/workers.ts';

const doorOf = (daemon: TestDaemon): string => join(daemon.home.stateDir, 'run', 'worker.sock');

/** Comes in and says nothing, or half a line. */
async function holdOpen(daemon: TestDaemon, half: string): Promise<void> {
  const socket = createConnection(doorOf(daemon)).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()).once('close', () => resolve()));
  socket.write(half);
}

const replaced = ['worker.scopeSettled', 'recovery.started', 'ownership.rescanned', 'replacement.launched'];

describe('the door of the worker', () => {
  it.each(['', '{"type":"tick"'])('is not blocked by those who come in and say %j', async (half) => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { pid, incarnationId } = await workerOf(daemon);
    for (let count = 0; count < 24; count += 1) await holdOpen(daemon, half);
    // The one that is known made room for nobody.
    expect(await workerOf(daemon)).toMatchObject({ pid, incarnationId, state: 'ticking' });
    const since = await positionOf(daemon);
    await killWorker(daemon);
    await ticked(daemon, since);
    expect(await fenceStory(daemon, since)).toEqual([...replaced, 'scheduler.tick']);
  });

  it('is made anew where somebody has cleared it away', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    rmSync(doorOf(daemon));
    const since = await positionOf(daemon);
    await killWorker(daemon);
    await ticked(daemon, since);
    expect(await fenceStory(daemon, since)).toEqual([...replaced, 'scheduler.tick']);
  });

  it('is opened as soon as nothing stands in its place, and health says what does', async () => {
    const daemon = workingDaemon();
    openStore({ stateDir: daemon.home.stateDir, clock: calendarClock, create: true }).close();
    mkdirSync(doorOf(daemon), { recursive: true, mode: 0o700 });
    await daemon.start();
    const reason = await eventually('the reason', async () => {
      const { health } = await daemon.call('status', {});
      return health.reasons.find(({ code }) => code === 'worker_unreachable');
    });
    expect(reason.next).toEqual(['custody doctor', 'custody recover --explain']);
    rmdirSync(doorOf(daemon));
    await ticked(daemon);
    const { health } = await daemon.call('status', {});
    expect(health.reasons).toEqual([]);
  });

  it('lets a worker come again whose registration the store did not take', async () => {
    const daemon = await workingDaemon().start(failingDaemonCommand());
    await ticked(daemon);
    const since = await positionOf(daemon);
    await refuseAt(daemon, { at: 'after_journal_insert', of: 'worker.registered', next: 'before_commit' });
    await killWorker(daemon);
    await ticked(daemon, since);
    expect(await fenceStory(daemon, since)).toEqual([...replaced, 'scheduler.tick']);
  });
});
