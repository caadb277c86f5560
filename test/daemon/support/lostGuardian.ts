/** A guardian that is killed, so that nothing can be proved by its own receipt any more. */
import { isGone } from '../../guardian/support/processes.ts';
import type { TestDaemon } from '../../support/daemon.ts';
import { signalVerified, startReceipt } from '../../support/daemonLeftovers.ts';

export async function loseGuardian(daemon: TestDaemon, scopeId: string): Promise<void> {
  const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
  signalVerified(guardian, 'SIGKILL');
  await isGone(guardian.pid);
}
