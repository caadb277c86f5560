/** A daemon with checks configured, and so with a scheduling worker. */
import type { EventView } from '../../../actors/daemon/api/views.ts';
import { type TestDaemon, testDaemon } from '../../support/daemon.ts';

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

/** The tick by which an incarnation became the worker; any, or one after `since`. */
export const ticked = (daemon: TestDaemon, since = 0): Promise<EventView> =>
  daemon.event({ type: 'scheduler.tick', since }, ({ actor }) => actor.kind === 'recoveryFence');

export const workerOf = async (daemon: TestDaemon) => (await daemon.call('status', {})).worker;
