/** recover: how the scheduling worker is replaced, why it may not be, and the last resort for what cannot be proved. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { addRequestId, example } from '../globalOptions.ts';
import type { Invocation } from '../invocation.ts';
import { recoverLines } from '../print/recover.ts';
import { type AssumeOptions, assumeEnded } from './assumeEnded.ts';

export function registerRecover(program: Command): void {
  example(
    addRequestId(
      program
        .command('recover')
        .description('how the scheduling worker is replaced, what keeps it from that, and the last resort')
        .option('--now', 'try again at once what is refused, and wait for what comes of it')
        .option('--explain', 'only say how it stands (what it does without options)')
        .option('--wait <duration>', 'wait at most this long', parseDuration)
        .option('--assume-ended <scope>', 'last resort: answer for it that nobody of this scope is left')
        .option('--because <text>', 'how you know; it is kept for good')
        .option('--confirm-scope <scope>', 'first confirmation: the whole id of the scope')
        .option('--confirm-text <words>', 'second confirmation: the words that are asked for')
        .action(action(recover)),
    ),
    'custody recover --explain',
    'custody recover --now --wait 10s',
    "custody recover --assume-ended S --because 'the host was rebuilt'",
  );
}

interface Options extends Partial<AssumeOptions> {
  readonly now?: boolean;
  readonly wait?: number;
}

async function recover(invocation: Invocation, options: Options): Promise<number> {
  const { now = false, wait, assumeEnded: scopeId } = options;
  if (scopeId !== undefined) return assumeEnded(invocation, { ...options, assumeEnded: scopeId });
  const answer = await invocation.call('recover', { now, ...(wait === undefined ? {} : { waitMs: wait }) });
  return invocation.output.answer(answer, recoverLines, ({ blockers }) => blockers.map(({ scopeId }) => scopeId));
}
