import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation, refused } from './support/installation.ts';
import { withJson } from './support/program.ts';

let here: Installation;
beforeAll(async () => {
  here = await installation();
});
afterAll(() => here.dispose());

describe('--request-id', () => {
  it('makes each kind of change happen once', async () => {
    const twice = async (...args: string[]) => {
      const split = args.indexOf('--');
      const line = args.toSpliced(split < 0 ? args.length : split, 0, '--request-id', `twice ${args.join(' ')}`);
      const json = withJson(line);
      const [first, second] = [await here.custody(json), await here.custody(json)];
      expect(first.code).toBe(0);
      const [one, two] = [first, second].map(({ stdout }) => JSON.parse(stdout));
      expect(two.ok).toBe(true);
      return [one.data, two.data];
    };
    const [goal, sameGoal] = await twice('goals', 'add', 'a title', '--queue', '--request', 'README.md');
    expect(sameGoal.goalId).toBe(goal.goalId);
    const [worktree, sameWorktree] = await twice('worktrees', 'add', goal.goalId);
    expect(sameWorktree.generationId).toBe(worktree.generationId);
    const [launched, sameRun] = await twice('runs', 'exec', goal.goalId, '--', 'sh', '-c', 'echo x >> marks');
    expect(sameRun.runId).toBe(launched.runId);
    await here.ask(['runs', 'wait', launched.runId, '--until', 'proved']);
    expect((await here.ask(['runs', 'list'])).data.runs).toHaveLength(1);
    const marks = await here.custody(['runs', 'exec', goal.goalId, '--follow', '--', 'cat', 'marks']);
    expect(marks.stdout).toBe('x\n');
    const [stopped, stoppedAgain] = await twice('runs', 'stop', launched.runId);
    expect(stoppedAgain.runId).toBe(stopped.runId);
    const [cancelled, cancelledAgain] = await twice('goals', 'cancel', goal.goalId);
    expect(cancelledAgain).toMatchObject({ goalId: cancelled.goalId, status: cancelled.status });
  });

  it('cannot be used for something else', async () => {
    await here.ask(['goals', 'add', 'first', '--request-id', 'mine']);
    const other = await here.custody(['goals', 'add', 'second', '--request-id', 'mine', '--json']);
    expect(refused(other)).toMatchObject({ code: 'event_id_conflict', exitCode: 11, retryable: false });
  });
});

describe('ids', () => {
  it('may be shortened as long as they say which one', async () => {
    const { goalId } = (await here.ask(['goals', 'add', 'to be found'])).data;
    const goals: { goalId: string }[] = (await here.ask(['goals', 'list'])).data.goals;
    const length = [...goalId].findIndex(
      (_, at) => goals.filter((goal) => goal.goalId.startsWith(goalId.slice(0, at + 1))).length === 1,
    );
    expect((await here.ask(['goals', 'show', goalId.slice(0, length + 1)])).data.goalId).toBe(goalId);
  });

  it('that say less are refused, and none is guessed', async () => {
    const ambiguous = await here.custody(['goals', 'show', 'G', '--json']);
    expect([2, 3, 11]).toContain(refused(ambiguous).exitCode);
    expect(refused(ambiguous).code).toMatch(/ambiguous/);
  });
});
