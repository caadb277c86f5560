/** Chapter 5: the agent commits and ends; a second run in the same worktree checks what it has committed. */
import { join } from 'node:path';
import { result } from '../../print/words.ts';
import { expectThat } from '../expectation.ts';
import { Listener, launch } from '../launching.ts';
import { proofOf } from '../narrator.ts';
import { questions } from '../scripts.ts';
import type { Launched, Stage, Workplace } from '../stage.ts';
import { said, send, show } from '../terminal.ts';
import type { Picture } from '../viewer.ts';
import type { Agent } from './agentAtWork.ts';

export interface Checked {
  readonly commit: string;
  readonly check: Launched;
  /** Where in the journal the check's result is. */
  readonly resultAt: number;
}

export async function commitAndCheck(stage: Stage, place: Workplace, agent: Agent): Promise<Checked> {
  const { narrator, scratch } = stage;
  const { sessionId, viewer } = agent;
  narrator.chapter(
    'The agent commits, and a check looks at it',
    'A check is a run like any other. How a run ended is read from a receipt of its guardian, never guessed.',
  );
  await send(stage, sessionId, 'yes');
  const isCommitted = ({ rows }: Picture) => rows.some((row) => /^commits: [0-9a-f]{40,}$/.test(row));
  const picture = await viewer.until('the agent commits', isCommitted);
  const commit = said(picture, 'commits');
  const asked = picture.rows.findIndex((row) => row.includes(questions.commit));
  show(stage, picture.rows.slice(asked, asked + 2));
  const status = await viewer.left();
  expectThat(status === 0, 'the viewer leaves with the session', status);
  narrator.fact('viewer', `pid ${viewer.pid} saw it to the end, and has left`);
  await ended(stage, agent, 'agent');
  const check = await launch(stage, place, { name: 'check', argv: ['sh', join(scratch.desk, 'check.sh')] });
  const says = new Listener(stage, check);
  const checked = await says.until('commit');
  expectThat(checked === commit, `the check finds commit ${commit}`, checked);
  await says.until('right');
  const resultAt = await ended(stage, check, 'check');
  return { commit, check, resultAt };
}

/** Waits for the proof that nothing of the run is left; returns where the journal has its result. */
async function ended({ narrator, installation }: Stage, { run, scopeId }: Launched, name: string): Promise<number> {
  const { runId } = run;
  narrator.command('custody', 'runs', 'wait', runId, '--until', 'proved');
  const after = await installation.call('runs.wait', { id: runId, until: 'proved', waitMs: 30_000 });
  expectThat(after.result?.how === 'exited' && after.result.code === 0, `${runId} exits 0`, after.result);
  expectThat(after.scope?.state === 'exited', `${runId} is proved to be gone`, after.scope);
  const { events } = await installation.call('events', { actor: scopeId, limit: 1_000 });
  const recorded = events.filter(({ type }) => type === 'workload.statusReceipt').map(({ position }) => position);
  expectThat(recorded.length === 1, 'the result is recorded once', recorded);
  narrator.good(
    name,
    `${result(after.result)}, in the journal once (position ${recorded[0]}); ${proofOf(after.scope)}`,
  );
  return recorded[0] as number;
}
