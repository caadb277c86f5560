import { describe, expect, it } from 'vitest';
import { statOf } from '../guardian/support/processes.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import {
  expectNoneBesideAnother,
  silenceMs,
  ticked,
  tickingWorker,
  workerOf,
  workerScopes,
  workingDaemon,
} from './support/workers.ts';

/** A transaction that was not committed has not begun for whoever comes next, so the other side is the one that counts. */
const sides = process.env.CUSTODY_SOAK ? (['before_commit', 'after_commit'] as const) : (['after_commit'] as const);

describe('REC-09 a daemon that dies in the middle of a recovery', () => {
  const deaths = [
    ['worker exits', 'worker.scopeSettled'],
    ['worker exits', 'recovery.started'],
    ['worker exits', 'ownership.rescanned'],
    ['worker exits', 'replacement.launched'],
    ['worker exits', 'guardian.attached'],
    ['worker exits', 'worker.registered'],
    ['worker exits', 'scheduler.tick'],
    ['worker is silent', 'deadline.reached'],
    ['worker is silent', 'worker.stopRequested'],
    ['worker is silent', 'drain.requested'],
    ['worker is silent', 'worker.scopeSettled'],
  ] as const;
  it.each(deaths.flatMap(([how, type]) => sides.map((side) => [how, type, side] as const)))(
    '%s, killed at %s, %s: one worker, none beside an earlier one',
    async (how, type, side) => {
      const silence = how === 'worker is silent' ? { CUSTODY_SILENCE_MS: silenceMs } : {};
      const daemon = await workingDaemon({ env: silence }).start(failingDaemonCommand());
      await ticked(daemon);
      const { pid, incarnationId } = await workerOf(daemon);
      await killAt(daemon, { at: 'after_journal_insert', of: type, next: side });
      process.kill(pid!, how === 'worker is silent' ? 'SIGSTOP' : 'SIGKILL');
      await daemon.process.exited;
      await daemon.start(failingDaemonCommand());
      const tick = await daemon.event(
        { type: 'scheduler.tick' },
        ({ actor, payload }) => actor.kind === 'recoveryFence' && payload.incarnationId !== incarnationId,
      );
      const worker = await tickingWorker(daemon);
      expect(worker).toMatchObject({
        incarnationId: tick.payload.incarnationId,
        recovery: { phase: 'idle' },
      });
      expect(statOf(pid!)).toBeUndefined();
      const scopes = await workerScopes(daemon);
      expect(scopes.map(({ scopeId }) => scopeId)).toEqual([worker.scopeId]);
      await expectNoneBesideAnother(daemon);
    },
  );
});
