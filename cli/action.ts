/** How a command's body meets commander. */
import type { Command } from 'commander';
import { type GlobalOptions, Invocation } from './invocation.ts';

/** Where an option stands on the line does not matter: `custody --json status` is `custody status --json`. */
export function globalsOf(command: Command): GlobalOptions {
  const globals: Record<string, unknown> = {};
  for (let at: Command | null = command; at; at = at.parent) {
    for (const name of ['json', 'stateDir', 'autostart', 'color', 'quiet', 'requestId']) {
      if (at.getOptionValueSource(name) === 'cli') globals[name] ??= at.getOptionValue(name);
    }
  }
  return globals;
}

/**
 * Wraps a command's body for commander, which calls with the operands, the options and the command. What the body
 * returns is the exit status.
 */
export function action<Options>(
  body: (invocation: Invocation, options: Options, operands: readonly string[]) => Promise<number> | number,
): (...parameters: unknown[]) => Promise<void> {
  return async (...parameters) => {
    const command = parameters.at(-1) as Command;
    const options = parameters.at(-2) as Options;
    const operands = parameters
      .slice(0, -2)
      .flat()
      .filter((operand) => operand !== undefined) as string[];
    const invocation = new Invocation(globalsOf(command));
    try {
      process.exitCode = await body(invocation, options, operands);
    } finally {
      invocation.output.clearStatus();
    }
  };
}
