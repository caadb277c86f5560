import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, installation } from './support/installation.ts';
import { finished, program } from './support/program.ts';
import { offered, type Shell } from './support/shells.ts';

const esc = '\u001b';
const hostile = `evil ${esc}]0;owned\u0007 \u202e title`;

let here: Installation;
let goalId: string;
let generationId: string;
let runId: string;

beforeAll(async () => {
  here = await installation();
  ({ goalId, generationId } = await here.goalWithWorktree());
  ({ runId } = (await here.ask(['runs', 'exec', goalId, '--name', hostile, '--wait', '--', 'true'])).data);
  await here.ask(['goals', 'add', hostile]);
});
afterAll(() => here.dispose());

/** On a terminal of its own, which util-linux's script(1) provides. */
const onTerminal = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  finished(
    spawn('script', ['-qec', ['"$NODE" "$CUSTODY"', ...args].join(' '), '/dev/null'], {
      env: { ...here.env, TERM: 'xterm', NODE: process.execPath, CUSTODY: program, ...env },
      cwd: here.repo,
    }),
  );

describe('for people', () => {
  const views: readonly (readonly string[])[] = [
    [],
    ['status'],
    ['doctor'],
    ['config'],
    ['daemon', 'status'],
    ['repos', 'list'],
    ['goals', 'list'],
    ['goals', 'show', 'GOAL', '--history', '--evidence'],
    ['worktrees', 'list'],
    ['worktrees', 'show', 'WORKTREE'],
    ['worktrees', 'predict', 'WORKTREE'],
    ['runs', 'list'],
    ['runs', 'show', 'RUN'],
    ['processes', '--all'],
    ['processes', '--released'],
    ['events', '--limit', '500'],
  ];

  it.each(views)('custody %s %s %s is plain text without a terminal, and a name moves no cursor', async (...args) => {
    const names: Readonly<Record<string, string>> = { GOAL: goalId, WORKTREE: generationId, RUN: runId };
    const { stdout, stderr, code } = await here.custody(args.map((word) => names[word] ?? word));
    expect([0, 13]).toContain(code);
    expect(stdout).not.toBe('');
    expect(stdout + stderr).not.toMatch(/(?![\n\u200c\u200d])[\p{Cc}\p{Cf}]/u);
  });

  it('the hostile name is still readable', async () => {
    expect((await here.custody(['goals', 'list'])).stdout).toContain('evil \\x1b]0;owned\\x07 \\u{202e} title');
    expect((await here.ask(['goals', 'list'])).data.goals).toContainEqual(expect.objectContaining({ title: hostile }));
  });

  it('colours appear on a terminal, unless they are forbidden', async () => {
    expect((await onTerminal(['status'])).stdout).toContain(`${esc}[`);
    expect((await onTerminal(['status', '--no-color'])).stdout).not.toContain(`${esc}[`);
    expect((await onTerminal(['status'], { NO_COLOR: '1' })).stdout).not.toContain(`${esc}[`);
    expect((await onTerminal(['status', '--json'])).stdout).not.toContain(`${esc}[`);
  });

  it('an error names the next step', async () => {
    const { stdout, stderr, code } = await here.custody(['goals', 'show', 'Gnothing']);
    expect({ stdout, code }).toEqual({ stdout: '', code: 3 });
    expect(stderr).toMatch(/^error: .*\(not_found\)\n {2}try: custody goals list\n$/);
  });
});

describe.each<Shell>(['bash', 'zsh', 'fish'])('%s completes ids', (shell) => {
  it('of the daemon that serves, for operands and for options, wherever the state is', () => {
    expect(offered(shell, `custody runs show ${runId.slice(0, 3)}`, { home: here })).toEqual([runId]);
    expect(offered(shell, 'custody runs exec --worktree ', { home: here })).toEqual([generationId]);
    const elsewhere = { ...here, env: { ...here.env, CUSTODY_HOME: '/nonexistent' } };
    const line = `custody --state-dir ${here.stateDir} worktrees show `;
    expect(offered(shell, line, { home: elsewhere })).toEqual([generationId]);
    expect(offered(shell, 'custody worktrees show ', { home: elsewhere })).toEqual([]);
  });
});
