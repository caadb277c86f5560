import { readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';

/** Files of procfs that a process holds open, by the pid they belong to; its own do not count. */
function watchedBy(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  const targets = readdirSync(directory).flatMap((fd) => {
    try {
      return [readlinkSync(`${directory}/${fd}`)];
    } catch {
      return [];
    }
  });
  return targets.filter((target) => /^\/proc\/\d+\/stat(us)?$/.test(target)).sort();
}

it('OBS-01, OBS-11: a daemon keeps its eyes on the guardian of a live scope, and takes them off one that is over', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600');
  const { pid } = startReceipt(daemon.scopeDir(scopeId))!.guardian;
  const both = [`/proc/${pid}/stat`, `/proc/${pid}/status`];
  const seen = () => watchedBy(daemon.pid);
  await eventually('its guardian is watched', () => (seen().length === both.length ? true : undefined));
  expect(seen()).toEqual(both);
  await daemon.call('runs.stop', { id: runId });
  await daemon.proved(runId);
  expect(seen()).toEqual([]);
});
