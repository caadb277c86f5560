/** What commander rejects, in the shape of every other error: code `usage`, exit 2, the nearest command as next step. */
import type { Command, CommanderError } from 'commander';
import type { ApiError } from '../actors/daemon/api/views.ts';

export function usageOf(thrown: CommanderError, program: Command, words: readonly string[]): ApiError {
  const command = deepestCommand(program, words);
  const path = pathOf(command);
  const children = command.commands.map((child) => child.name()).filter((name) => !name.startsWith('__'));
  const text = thrown.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const message = thrown.code === 'commander.help' ? `${path} needs one of: ${children.join(', ')}` : text;
  const nearest = /\(Did you mean (?:one of )?([^,?)]+)/.exec(text)?.[1];
  const next = [`${path} --help`];
  if (thrown.code === 'commander.unknownCommand' && command === program) next.unshift(...namesakes(program, text));
  if (nearest) next.unshift(`${path} ${nearest}${childBehind(command, { nearest, words })}`);
  if (/Argument/.test(thrown.code) && thrown.code !== 'commander.invalidArgument')
    next.unshift(`${path} ${command.usage()}`);
  if (thrown.code === 'commander.unknownOption' && path === 'custody runs exec') {
    next.unshift('custody runs exec GOAL [options] -- CMD... (options of the command itself come after --)');
  }
  return { code: 'usage', message, retryable: false, next, exitCode: 2 };
}

/** With a noun that was misspelt, the verb behind it. */
function childBehind(
  command: Command,
  { nearest, words }: { readonly nearest: string; readonly words: readonly string[] },
): string {
  const verbs = command.commands.find((child) => child.name() === nearest)?.commands ?? [];
  const verb = verbs.find((child) => words.includes(child.name()));
  return verb === undefined ? '' : ` ${verb.name()}`;
}

/** Who types `custody attach` means a command that stands one level below. */
function namesakes(program: Command, text: string): readonly string[] {
  const typed = /unknown command '([^']*)'/.exec(text)?.[1];
  const groups = program.commands.filter(({ commands }) => commands.some((child) => child.name() === typed));
  return groups.map((group) => `${pathOf(group)} ${typed}`);
}

export const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** The command that the words lead to as far as they name one; options and their values in between are passed over. */
export function deepestCommand(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    if (word === '--' || (command.commands.length === 0 && command !== program)) break;
    command = command.commands.find((child) => child.name() === word) ?? command;
  }
  return command;
}
