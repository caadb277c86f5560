/** status and processes: one health value, capacity, and every scope with what is known about it. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { line } from '../print/escape.ts';
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
      .option('-a, --all', 'a census besides: what else runs here that has to do with this installation')
      .option('--released', 'also scopes that are proved exited')
      .action(action(processes)),
    'custody processes --all',
  );
  example(
    program.command('next').description('what to do next about what needs attention').action(action(next)),
    'custody next',
  );
}

/** A view of the same health as `status` shows (REC-08). */
async function next(invocation: Invocation): Promise<number> {
  const answer = await invocation.call('status', {});
  const actions = answer.data.health.next;
  return invocation.output.answer(
    { ...answer, command: 'next', data: { state: answer.data.health.state, actions } },
    ({ actions: shown }) => (shown.length === 0 ? ['nothing needs attention'] : shown.map((each) => line`${each}`)),
  );
}

async function status(invocation: Invocation): Promise<number> {
  return invocation.output.answer(await invocation.call('status', {}), statusLines);
}

interface ProcessesOptions {
  readonly all?: boolean;
  readonly released?: boolean;
}

async function processes(invocation: Invocation, { all, released }: ProcessesOptions): Promise<number> {
  const answer = await invocation.call('processes', { all, released });
  return invocation.output.answer(answer, processLines, ({ scopes }) => scopes.map(({ scopeId }) => scopeId));
}
