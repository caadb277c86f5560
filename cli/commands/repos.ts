/** repos add, list. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../action.ts';
import { addRequestId, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { repositoryLines } from '../print/repos.ts';

export function registerRepos(program: Command): void {
  const repos = program.command('repos').description('git repositories whose Goals are looked after');
  example(
    addRequestId(
      repos
        .command('add')
        .description('register a repository; goals add does so by itself')
        .argument('[path]', 'the repository or any directory inside it', '.'),
    ).action(action(add)),
    'custody repos add ~/src/project',
  );
  example(repos.command('list').description('registered repositories').action(action(list)), 'custody repos list');
}

async function add(invocation: Invocation, _: unknown, [path = '.']: readonly string[]): Promise<number> {
  const answer = await invocation.call('repos.add', { path: resolve(path), requestId: invocation.requestId });
  return invocation.output.answer(
    answer,
    (data, style) => repositoryLines([data], style),
    (data) => [data.repoId],
  );
}

async function list(invocation: Invocation): Promise<number> {
  return invocation.output.answer(
    await invocation.call('repos.list', {}),
    ({ repositories }, style) => repositoryLines(repositories, style),
    ({ repositories }) => repositories.map(({ repoId }) => repoId),
  );
}
