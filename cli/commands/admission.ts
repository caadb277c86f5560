/** pause, resume: the admission gate. drain: what runs is ended, and the daemon stays. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { parseDuration } from '../duration.ts';
import { addRequestId, example } from '../globalOptions.ts';
import { drainLines } from '../print/daemon.ts';
import { line } from '../print/escape.ts';

export function registerAdmission(program: Command): void {
  for (const [verb, description] of [
    ['pause', 'launch nothing new; what runs goes on'],
    ['resume', 'launch again'],
  ] as const) {
    const command = addRequestId(program.command(verb).description(description)).action(
      action(async (invocation) => {
        const { requestId, output } = invocation;
        return output.answer(await invocation.call(verb, { requestId }), ({ admission }) => [
          line`admission ${admission}`,
        ]);
      }),
    );
    example(command, `custody ${verb}`);
  }
  registerDrain(program);
}

interface DrainOptions {
  readonly grace?: number;
  readonly wait?: number;
}

function registerDrain(program: Command): void {
  const command = addRequestId(program.command('drain').description('end all work with proof; the daemon stays'))
    .option('--grace <duration>', 'time between SIGTERM and the end, for every scope', parseDuration)
    .option('--wait <duration>', 'how long to wait for the proofs; exit 6 when they do not come', parseDuration)
    .action(
      action(async (invocation, { grace, wait }: DrainOptions) => {
        const { output, requestId } = invocation;
        output.status('draining');
        const reply = await invocation.call('drain', { graceMs: grace, waitMs: wait, requestId });
        output.clearStatus();
        return output.answer(reply, drainLines);
      }),
    );
  example(command, 'custody drain --grace 5s');
}
