/** A check that writes down that it ran, and waits until it is let go. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { checksOf, workingDaemon } from './workers.ts';

/** Not started yet; `then` is what the check does when it is let go. */
export function checkHeldBy(then = 'true', env: Readonly<Record<string, string>> = {}): TestDaemon {
  const daemon = workingDaemon({ env });
  const { dir } = daemon.home;
  const check = `echo run >> ${dir}/ran; until [ -e ${dir}/go ]; do sleep 0.02; done; ${then}`;
  Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(check) });
  return daemon;
}

export const letGo = (daemon: TestDaemon): void => writeFileSync(join(daemon.home.dir, 'go'), '');

export function runsOf(daemon: TestDaemon): number {
  const path = join(daemon.home.dir, 'ran');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0;
}

/** The scope of the check, once its program has begun. */
export async function runningCheck(daemon: TestDaemon) {
  await daemon.event({ type: 'scope.requested' }, ({ payload }) => payload.purpose === 'check');
  return eventually('a running check', async () => {
    const { scopes } = await daemon.call('processes', {});
    const scope = scopes.find(({ purpose }) => purpose === 'check');
    const isRunning = scope?.assessment.state === 'live' && scope.workloadPid !== null && runsOf(daemon) > 0;
    return isRunning ? scope : undefined;
  });
}
