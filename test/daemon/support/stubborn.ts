/** Work that does not go by itself. */
import { turns } from '../../guardian/support/fifo.ts';
import type { ExecOptions, TestDaemon } from '../../support/daemon.ts';

/** Ignores every request to leave, in a session of its own, and takes the root along that way. */
export async function stubborn(daemon: TestDaemon, name: string, options: ExecOptions = {}) {
  const { goalId } = await daemon.goal();
  const turn = turns(daemon.home.dir, name);
  const child = `trap "" TERM HUP INT; echo $$ > "${turn.paths[0]}"; while :; do sleep 600; done`;
  const { runId, scopeId } = await daemon.exec(goalId, `trap "" TERM; setsid sh -c '${child}' & wait`, options);
  await turn.ready();
  return { goalId, runId, scopeId: scopeId! };
}
