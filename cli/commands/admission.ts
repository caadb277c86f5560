/** pause, resume: the admission gate. */
import type { Command } from 'commander';
import { action } from '../action.ts';
import { addRequestId, example } from '../globalOptions.ts';
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
}
