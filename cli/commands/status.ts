/** status and processes: one health value, capacity, and every scope with what is known about it. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { processLines } from '../print/processes.ts';
import { statusLines } from '../print/status.ts';

export function registerStatus(program: Command): void {
  example(
    program
      .command('status')
      .description('health, capacity, and how much is live, unproved or waiting')
      .action(action(status)),
    'custody status',
  );
  example(
    program
      .command('processes')
      .description('scopes with their assessment, guardian and members')
      .option('-a, --all', 'also those that are proved exited')
      .action(action(processes)),
    'custody processes --all',
  );
}

async function status(invocation: Invocation): Promise<number> {
  return invocation.output.answer(await invocation.call('status', {}), statusLines);
}

async function processes(invocation: Invocation, { all }: { readonly all?: boolean }): Promise<number> {
  const answer = await invocation.call('processes', { all });
  return invocation.output.answer(answer, processLines, ({ scopes }) => scopes.map(({ scopeId }) => scopeId));
}
