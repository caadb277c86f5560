/** Every command, with its options, its help and its errors. */
import { type Command, CommanderError } from 'commander';
import { endWithReader } from './closedReader.ts';
import { failureOf } from './failure.ts';
import { Output } from './output.ts';
import { showOverview } from './overview.ts';
import { buildProgram } from './program.ts';
import { deepestCommand, usageOf } from './usage.ts';

/** Sets the exit status of the process; what is printed and asked is up to the command that `words` name. */
export async function main(typed: readonly string[]): Promise<void> {
  endWithReader(process.stdout);
  endWithReader(process.stderr);
  // Leaving a wait or a stream ends only the looking; the work goes on.
  process.once('SIGINT', () => process.exit(130));
  const program = buildProgram(typed[0]);
  const words = typed[0] === 'help' ? helpOf(program, typed.slice(1)) : typed;
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (thrown) {
    process.exitCode = report(thrown, program, words);
  }
}

/** `help runs exec` is `runs exec --help`, at any depth; a name that nothing has is refused as it is everywhere. */
function helpOf(program: Command, asked: readonly string[]): readonly string[] {
  const names = asked.filter((word) => !word.startsWith('-'));
  let command = program;
  for (const name of names) {
    if (command.commands.length === 0) break;
    const child = command.commands.find((each) => each.name() === name);
    if (child === undefined) return asked;
    command = child;
  }
  return [...names, '--help'];
}

/** Shows what stopped the command and returns the exit status. */
function report(thrown: unknown, program: Command, words: readonly string[]): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    if (thrown.code === 'commander.help' && deepestCommand(program, words) === program) return showOverview(program);
  }
  const error = thrown instanceof CommanderError ? usageOf(thrown, program, words) : failureOf(thrown);
  // The options may be what could not be parsed, so the words themselves say which form was asked for.
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  new Output({ json: own.includes('--json'), quiet: false, color: !own.includes('--no-color') }).failure(error);
  return error.exitCode;
}
