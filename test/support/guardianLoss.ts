/** A guardian that is lost whole: everything that it consists of is killed, so that nobody is left who could prove anything. */
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import type { TestDaemon } from './daemon.ts';
import { signalVerified, startReceipt } from './daemonLeftovers.ts';
import { loseGuardian } from './guardianPair.ts';

/** The guardian of a scope of this daemon. */
export const loseGuardianOf = (daemon: TestDaemon, scopeId: string): Promise<void> =>
  loseGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);

interface Losing {
  /** What a run beside it does. */
  readonly beside?: string;
  /** What its root does first. */
  readonly first?: string;
}

/** A run whose guardian was lost; its root still runs, and has written a file. */
export async function lostRun(daemon: TestDaemon, { beside, first = ':' }: Losing = {}) {
  const { goalId, generationId, path } = await daemon.goal();
  const other = beside === undefined ? undefined : await daemon.exec(goalId, beside);
  const turn = turns(daemon.home.dir);
  const script = `${first}; echo work > written; echo $$ > "${turn.paths[0]}"; exec sleep 600`;
  const { runId, scopeId } = await daemon.exec(goalId, script);
  await turn.ready();
  const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
  await loseGuardian(guardian);
  await daemon.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
  const endRoot = async (): Promise<void> => {
    signalVerified(workload, 'SIGKILL');
    await isGone(workload.pid);
    await daemon.ended(runId);
  };
  return { goalId, generationId, path, scopeId: scopeId!, endRoot, other };
}
