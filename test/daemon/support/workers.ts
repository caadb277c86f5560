/** A daemon with checks configured, and so with a scheduling worker. */
import { expect } from 'vitest';
import type { EventView } from '../../../actors/daemon/api/views.ts';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';

interface WorkerOptions {
  /** Run in a shell, for every repository. */
  readonly check?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const checksOf = (check: string): string => JSON.stringify({ '*': ['sh', '-c', check] });

/** Not started yet. Ticks come often, so that what waits for the next one need not wait long. */
export function workingDaemon({ check = 'true', env = {} }: WorkerOptions = {}): TestDaemon {
  return testDaemon({ env: { CUSTODY_CHECKS: checksOf(check), CUSTODY_TICK_INTERVAL_MS: '50', ...env } });
}

/** For tests of a worker that is silent: longer than a loaded machine keeps one from ticking that is not. */
export const silenceMs = '2000';

/** The tick by which an incarnation became the worker; any, or one after `since`. */
export const ticked = (daemon: TestDaemon, since = 0): Promise<EventView> =>
  daemon.event({ type: 'scheduler.tick', since }, ({ actor }) => actor.kind === 'recoveryFence');

export const workerOf = async (daemon: TestDaemon) => (await daemon.call('status', {})).worker;

/** A worker whose tick this daemon has heard; only the first of them is journaled. */
export const tickingWorker = (daemon: TestDaemon) =>
  eventually('a tick of the worker', async () => {
    const worker = await workerOf(daemon);
    return worker.state === 'ticking' ? worker : undefined;
  });

/** Ends the worker's process alone: its guardian tells how. */
export async function killWorker(daemon: TestDaemon): Promise<void> {
  const { pid } = await workerOf(daemon);
  process.kill(pid!, 'SIGKILL');
}

/** Asked with a call that waits for nobody. */
export async function positionOf(daemon: TestDaemon): Promise<number> {
  const reply = await daemon.attempt('config', {});
  return reply.ok ? reply.journalPosition : 0;
}

/** What the fence was told, in the order of the journal. */
export async function fenceStory(daemon: TestDaemon, since = 0): Promise<string[]> {
  const events = await daemon.events({ since });
  return events.filter(({ actor }) => actor.kind === 'recoveryFence').map(({ type }) => type);
}

/** Scopes of workers that are not proved to be gone. */
export async function workerScopes(daemon: TestDaemon) {
  const { scopes } = await daemon.call('processes', {});
  return scopes.filter(({ purpose }) => purpose === 'scheduling worker');
}

/** I-24: at each commit that launches a worker, every earlier one is proved to be gone. */
export async function expectNoneBesideAnother(daemon: TestDaemon): Promise<void> {
  const living = new Set<string>();
  for (const { type, actor, payload } of await daemon.events()) {
    if (actor.kind === 'recoveryFence' && type === 'replacement.launched') {
      expect([...living]).toEqual([]);
      expect(payload).toMatchObject({ pending: 0, unverified: 0 });
      living.add(payload.incarnationId as string);
    }
    if (actor.kind === 'workerIncarnation' && type === 'scope.exitProved') living.delete(actor.id);
  }
  expect(living.size).toBe(1);
}
