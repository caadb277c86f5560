/** What somebody sees who has just met this program: readable answers, the same words everywhere, a way out of every refusal. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation } from './support/installation.ts';
import { emptyHome, run } from './support/program.ts';

let here: Installation;
let goalId: string;
let runId: string;

beforeAll(async () => {
  here = await installation();
  ({ goalId } = await here.goalWithWorktree());
  ({ runId } = (await here.ask(['runs', 'exec', goalId, '--wait', '--until', 'proved', '--', 'true'])).data);
  await here.ask([
    'runs',
    'exec',
    goalId,
    '--on-root-exit',
    'wait',
    '--wait',
    '--',
    'sh',
    '-c',
    '(setsid sleep 600 &)',
  ]);
}, 120_000);
afterAll(() => here.dispose());

const seen = async (...args: string[]) => (await here.custody(args)).stdout;

describe('a newcomer', () => {
  it('reads lines and no JSON in what a run is', async () => {
    for (const id of [runId, (await here.ask(['runs', 'list', '--active'])).data.runs[0].runId]) {
      const shown = await seen('runs', 'show', id);
      expect(shown).toMatch(/goal ref +goal id \w+, occurrence \d+, step todo/);
      expect(shown).not.toMatch(/[{}[\]]|null|undefined/);
    }
  });

  it('meets one word for one thing: running, ended, proved, held open', async () => {
    expect(await seen('runs', 'show', runId)).toContain('proved (own receipt)');
    expect(await seen('runs', 'list')).toContain('proved (own receipt)');
    expect(await seen('processes', '--released')).toContain('proved (own receipt)');
    const launched = await seen('runs', 'exec', goalId, '--', 'sleep', '600');
    expect(launched).toMatch(/state +running/);
    expect(launched).not.toContain('summary');
    for (const text of [launched, await seen('runs', 'list'), await seen('processes'), await seen('status')])
      expect(text).not.toMatch(/\bbound\b|\bexited\b/);
    const held = await seen('runs', 'wait', (await here.ask(['runs', 'list'])).data.runs[1].runId);
    expect(held).toMatch(/stdout is not complete: held open by pid \d+/);
    const [last] = (await here.ask(['runs', 'list'])).data.runs;
    await here.ask(['runs', 'stop', last.runId, '--grace', '0']);
  });

  it.each([
    ['ambiguous_id', ['runs', 'show', 'R']],
    ['preconditions_unmet', ['runs', 'exec', 'GOAL', '--cwd', 'nowhere', '--', 'true']],
    ['usage', ['runs', 'exec', 'GOAL', '--cwd', '/', '--', 'true']],
    ['git_failed', ['worktrees', 'add', 'GOAL', '--base', 'nowhere']],
    ['usage', ['worktrees', 'add', 'GOAL', '--branch=-x']],
    ['invalid_event', ['goals', 'add', '']],
  ])('is told what to try after %s', async (code, args) => {
    const refused = await here.custody(args.map((word) => (word === 'GOAL' ? goalId : word)));
    expect(refused.stderr).toContain(`(${code})`);
    expect(refused.stderr).not.toMatch(/issues:|[{}]/);
    expect(refused.stderr).toMatch(/\n {2}try: \S/);
  });

  it('is told which program is not there, and which Goal has nothing to be queued for', async () => {
    const { stderr } = await here.custody(['runs', 'exec', goalId, '--', 'no-such-program']);
    expect(stderr).toContain('"no-such-program" could not be executed (ENOENT)');
    const empty = (await here.ask(['goals', 'add', 'without a request'])).data.goalId;
    const refused = await here.custody(['goals', 'queue', empty]);
    expect(refused.stderr).toContain('was added without a request (preconditions_unmet)');
    expect(refused.stderr).toContain('try: custody goals add TITLE --request FILE --queue');
  });

  it('hears of a command that has failed, whatever its output says, and of a Goal that cannot be queued any more', async () => {
    const followed = await here.custody(['runs', 'exec', goalId, '--follow', '--', 'sh', '-c', 'exit 3']);
    expect(followed).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^R\w+: exit 3\n$/) });
    const refused = await here.custody(['goals', 'queue', goalId]);
    expect(refused.stderr).toContain(`${goalId} cannot be queued: its status is todo, and not backlog`);
    expect(refused.stderr).toContain('try: custody goals add TITLE --request FILE --queue');
  });

  it('is led from the end of the work to the end of its directory', async () => {
    const own = await here.goalWithWorktree();
    expect(await seen('worktrees', 'close', own.generationId)).toContain(
      `next: custody worktrees seal ${own.generationId}`,
    );
    expect(await seen('worktrees', 'seal', own.generationId)).toContain(
      `next: custody worktrees ticket ${own.generationId} --executor custody-archive`,
    );
    const issued = await seen('worktrees', 'ticket', own.generationId, '--executor', 'custody-remove');
    const [, file = ''] = /next: custody-remove (\S+)/.exec(issued) ?? [];
    const remove = fileURLToPath(new URL('../../dist/custody-remove.cjs', import.meta.url));
    const removed = execFileSync(process.execPath, [remove, file], { env: here.env, encoding: 'utf8' });
    const [, receipt = ''] = /next: custody worktrees retire \S+ --receipt (\S+)/.exec(removed) ?? [];
    expect(await seen('worktrees', 'retire', own.generationId, '--receipt', receipt)).toMatch(/lifecycle +retired/);
    expect(existsSync(own.path)).toBe(false);
  });

  it('hears nothing of a quiet init that succeeds', async () => {
    const home = emptyHome();
    for (const _ of ['the first', 'another'])
      expect(await run(['init', '-q'], { env: home.env })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    home.remove();
  });
});
