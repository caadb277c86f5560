/** contract check: what a proof says on this host, tried out. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { checksExitCode, contractLines } from '../print/checks.ts';

export function registerContract(program: Command): void {
  const contract = program.command('contract').description('what an exit proof says, and what it does not');
  example(
    contract
      .command('check')
      .description('run the containment self-check on this host and record it')
      .action(action(check)),
    'custody contract check',
  );
}

async function check(invocation: Invocation): Promise<number> {
  invocation.output.status('trying to escape from a guardian');
  const answer = await invocation.call('contract.check', {});
  return Math.max(invocation.output.answer(answer, contractLines), checksExitCode(answer.data.checks));
}
