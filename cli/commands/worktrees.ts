/** worktrees add, list, show, predict, close, seal; the others are in worktreeControl.ts. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { addRequestId, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { predictionLines } from '../print/prediction.ts';
import { newWorktreeLines, worktreeDecisionLines, worktreeDetailLines, worktreeLines } from '../print/worktrees.ts';
import { registerWorktreeControl } from './worktreeControl.ts';

const idOnly = ['<worktree>', 'id or an unambiguous beginning of it'] as const;
const idOrPath = ['<worktree>', `${idOnly[1]}, or its directory, with a / or . in front`] as const;

export function registerWorktrees(program: Command): void {
  const worktrees = program
    .command('worktrees')
    .description('where work happens; sealed only when nobody is left in it');
  example(
    addRequestId(worktrees.command('add').description('create a worktree for a Goal'))
      .argument('<goal>', 'id or an unambiguous beginning of it')
      .option('--branch <branch>', 'name of the new branch')
      .option('--base <commit>', 'where it starts (default: HEAD)')
      .option('--path <path>', 'where to put it (default: inside the state directory)')
      .action(action(add)),
    'custody worktrees add G4k --branch contributing',
  );
  example(
    worktrees
      .command('list')
      .description('worktrees with lifecycle and authority')
      .option('--goal <goal>', 'only those of this Goal')
      .option('-a, --all', 'also sealed ones')
      .action(action(list)),
    'custody worktrees list',
  );
  example(
    worktrees
      .command('predict')
      .description('could it be cleaned up? every fact that protects it (exit 13 if there is one); nothing is moved')
      .argument(...idOrPath)
      .option('--no-processes', 'do not look which processes are in it; then the answer is never yes')
      .option('--allow-unseen', 'processes of yours that cannot be looked into are counted, and do not protect')
      .option('--ignored', 'files that git ignores protect as well')
      .option('--limit <duration>', 'longest time for each question to git (default: 30s)', parseDuration)
      .action(action(predict)),
    'custody worktrees predict W7p',
  );
  for (const [verb, description] of [
    ['show', 'one worktree with its runs and what they left'],
    ['close', 'admit no further run; what runs goes on'],
    ['seal', 'certify that no run of it can still write; refused with the reasons (exit 13)'],
  ] as const) {
    const command = worktrees
      .command(verb)
      .description(description)
      .argument(idOnly[0], verb === 'show' ? idOrPath[1] : idOnly[1]);
    if (verb !== 'show') addRequestId(command);
    example(command.action(action(one(verb))), `custody worktrees ${verb} W7p`);
  }
  registerWorktreeControl(worktrees);
}

interface PredictOptions {
  readonly processes: boolean;
  readonly allowUnseen?: boolean;
  readonly ignored?: boolean;
  readonly limit?: number;
}

async function predict(invocation: Invocation, options: PredictOptions, [id = '']: readonly string[]): Promise<number> {
  const { processes, allowUnseen, ignored, limit } = options;
  invocation.output.status('looking at the worktree');
  const answer = await invocation.call('worktrees.predict', {
    id: named(id),
    processes,
    allowUnseen,
    ignored,
    limitMs: limit,
  });
  return invocation.output.answer(answer, predictionLines, (data) => data.blockers.map(({ code }) => code));
}

/** No id begins with a dot or has a slash. */
const named = (typed: string): string => (/^\.|\//.test(typed) ? resolve(typed) : typed);

interface AddOptions {
  readonly branch?: string;
  readonly base?: string;
  readonly path?: string;
}

async function add(invocation: Invocation, options: AddOptions, [goalId = '']: readonly string[]): Promise<number> {
  const { requestId, output } = invocation;
  const { branch, base, path } = options;
  output.status('creating the worktree');
  const answer = await invocation.call('worktrees.add', {
    goalId,
    branch,
    base,
    path: path === undefined ? undefined : resolve(path),
    requestId,
  });
  return output.answer(answer, newWorktreeLines, (data) => [data.generationId]);
}

interface ListOptions {
  readonly goal?: string;
  readonly all?: boolean;
}

async function list(invocation: Invocation, { goal, all }: ListOptions): Promise<number> {
  return invocation.output.answer(
    await invocation.call('worktrees.list', { goalId: goal, all }),
    ({ worktrees }, style) => worktreeLines(worktrees, style),
    ({ worktrees }) => worktrees.map(({ generationId }) => generationId),
  );
}

function one(verb: 'show' | 'close' | 'seal') {
  return async (invocation: Invocation, _: unknown, [id = '']: readonly string[]): Promise<number> => {
    const answer =
      verb === 'show'
        ? await invocation.call('worktrees.show', { id: named(id) })
        : await invocation.call(`worktrees.${verb}`, { id, requestId: invocation.requestId });
    const print = verb === 'show' ? worktreeDetailLines : worktreeDecisionLines;
    return invocation.output.answer(answer, print, (data) => [data.generationId]);
  };
}
