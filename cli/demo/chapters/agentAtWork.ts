/** Chapters 2 and 3: a Goal with a worktree, and an agent in it that works in a terminal until it has a question. */
import { join } from 'node:path';
import { expectThat, found } from '../expectation.ts';
import { launch } from '../launching.ts';
import { questions, request, title } from '../scripts.ts';
import type { Launched, Stage, Workplace } from '../stage.ts';
import { expectSame, isAsking, said, screenAsking, send, size } from '../terminal.ts';
import type { Picture, Viewer } from '../viewer.ts';
import { parentOf } from '../witness.ts';

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
  readonly sessionId: string;
  /** Holds the terminal. */
  readonly hostPid: number;
  /** Looks on. */
  readonly viewer: Viewer;
  /** The screen, when it had come to its second question. */
  readonly picture: Picture;
}

export async function setToWork(stage: Stage, workplace: Workplace): Promise<Agent> {
  const { narrator, scratch } = stage;
  narrator.chapter(
    'A scripted agent at work, in a terminal, under a guardian',
    'A PTY host holds the terminal, a guardian the work. Neither needs a daemon, and no descendant of the run escapes.',
  );
  const argv = ['sh', join(scratch.desk, 'agent.sh')];
  const launched = await launch(stage, workplace, { name: 'agent', argv, terminal: size });
  const sessionId = found(launched.run.sessionId, 'a terminal session for the run');
  const hostPid = await parentOf(launched.guardianPid);
  narrator.fact('session', `${sessionId}: a terminal of ${size.cols}x${size.rows}, held by PTY host pid ${hostPid}`);
  const viewer = watch(stage, sessionId, '--read-only');
  await viewer.until('the agent asks', (shown) => isAsking(shown, questions.files));
  narrator.fact('viewer', `pid ${viewer.pid} watches from another terminal`);
  await send(stage, sessionId, 'yes');
  const picture = await screenAsking(stage, sessionId, questions.commits);
  const read = said(picture, 'reads');
  expectThat(read === request, 'the agent is given the request word for word', read);
  await expectSame(viewer, picture);
  narrator.good('viewer', `pid ${viewer.pid} shows the same, row by row`);
  return { ...launched, sessionId, hostPid, viewer, picture };
}

/** Somebody attaches in a window of the session's own size. */
export function watch({ narrator, audience }: Stage, sessionId: string, ...options: readonly string[]): Viewer {
  narrator.command('custody', 'sessions', 'attach', sessionId, ...options);
  return audience.join(size, sessionId, ...options);
}
