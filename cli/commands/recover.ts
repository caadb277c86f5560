/** recover: how the scheduling worker is replaced, and why it may not be. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { recoverLines } from '../print/recover.ts';

export function registerRecover(program: Command): void {
  example(
    program
      .command('recover')
      .description('how the scheduling worker is replaced, and what keeps it from being replaced')
      .option('--now', 'try again at once what is refused, and wait for what comes of it')
      .option('--explain', 'only say how it stands (what it does without options)')
      .option('--wait <duration>', 'wait at most this long', parseDuration)
      .action(action(recover)),
    'custody recover --explain',
    'custody recover --now --wait 10s',
  );
}

interface Options {
  readonly now?: boolean;
  readonly wait?: number;
}

async function recover(invocation: Invocation, { now = false, wait }: Options): Promise<number> {
  const answer = await invocation.call('recover', { now, ...(wait === undefined ? {} : { waitMs: wait }) });
  return invocation.output.answer(answer, recoverLines, ({ blockers }) => blockers.map(({ scopeId }) => scopeId));
}
