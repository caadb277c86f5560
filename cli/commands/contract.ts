/** contract verify: what a proof says on this host, tried out. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { checksExitCode, contractLines } from '../print/checks.ts';

export function registerContract(program: Command): void {
  const contract = program.command('contract').description('what an exit proof says, and what it does not');
  example(
    contract
      .command('verify')
      .description('try to escape from a guardian in every way that this host offers, and record what came of it')
      .action(action(verify)),
    'custody contract verify',
  );
}

async function verify(invocation: Invocation): Promise<number> {
  invocation.output.status('trying to escape from guardians');
  const answer = await invocation.call('contract.verify', {});
  return Math.max(invocation.output.answer(answer, contractLines), checksExitCode(answer.data.checks));
}
