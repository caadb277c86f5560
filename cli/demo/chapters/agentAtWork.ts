/** Chapters 2 and 3: a Goal with a worktree, and an agent in it that works until it has a question. */
import { join } from 'node:path';
import { expectThat } from '../expectation.ts';
import { Listener, launch } from '../launching.ts';
import { request, title } from '../scripts.ts';
import type { Launched, Stage, Workplace } from '../stage.ts';

export async function makeWorkplace({ narrator, installation, scratch }: Stage): Promise<Workplace> {
  narrator.chapter(
    'A Goal, and a worktree for it',
    'A Goal is what somebody wants done. Its work happens in a git worktree of its own.',
  );
  const requestFile = join(scratch.desk, 'request.txt');
  narrator.command(
    ...['custody', 'goals', 'add', title, '--repo', scratch.repository, '--request', requestFile, '--queue'],
  );
  const goal = await installation.call('goals.add', { title, repo: scratch.repository, request, queue: true });
  narrator.fact('goal', `${goal.goalId} ${goal.status}: ${goal.title}`);
  narrator.command('custody', 'worktrees', 'add', goal.goalId);
  const worktree = await installation.call('worktrees.add', { goalId: goal.goalId });
  narrator.fact(
    'worktree',
    `${worktree.generationId} ${worktree.authority}, ${worktree.lifecycle}, branch ${worktree.branch}`,
  );
  expectThat(worktree.authority === 'managed', 'the worktree is managed', worktree.authority);
  return { goalId: goal.goalId, generationId: worktree.generationId, path: worktree.path };
}

export interface Agent extends Launched {
  readonly says: Listener;
}

export async function setToWork(stage: Stage, workplace: Workplace): Promise<Agent> {
  const { narrator, scratch } = stage;
  narrator.chapter(
    'A scripted agent at work, under a guardian',
    'A guardian is a small process beside each run. It needs no daemon, and no descendant of the run escapes it.',
  );
  const agent = await launch(stage, workplace, { name: 'agent', argv: ['sh', join(scratch.desk, 'agent.sh')] });
  narrator.command('custody', 'runs', 'logs', agent.run.runId, '--follow');
  const says = new Listener(stage, agent);
  const read = await says.until('reads');
  expectThat(read === request, 'the agent is given the request word for word', read);
  await says.until('asks');
  return { ...agent, says };
}
