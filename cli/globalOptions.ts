/** The options that every command takes, and the small helpers with which commands are declared. */
import { type Command, Help, Option } from 'commander';

const group = 'Global options:';

/** Adds the global options to a command and everything below it. */
export function addGlobalOptions(command: Command): void {
  // A group only leads on to its commands; its help stays short.
  const isGroup = command.parent !== null && command.commands.length > 0;
  const shown = (option: Option) => option.helpGroup(group).hideHelp(isGroup);
  const add = (flags: string, description: string) => command.addOption(shown(new Option(flags, description)));
  add('--json', 'print one JSON object (streams: JSON lines) and nothing else on stdout');
  add('--state-dir <dir>', 'state directory (default: $CUSTODY_HOME, else the XDG state directory)');
  add('--no-autostart', 'fail with daemon_not_running instead of starting the daemon');
  add('--no-color', 'no colours, as with NO_COLOR');
  const hasOwnQuiet = command.options.some(({ long }) => long === '--quiet');
  const quiet = new Option(hasOwnQuiet ? '-q' : '-q, --quiet', 'print ids only, no hints');
  // Commander asks for the name when the option is added, and never again.
  quiet.attributeName = () => 'quiet';
  command.addOption(shown(quiet));
  for (const child of command.commands) addGlobalOptions(child);
}

const asDeclared = new Help();

/** What a command takes of its own comes first, also where that is only --help. */
export function groupItems<Item extends Command | Option>(
  ...items: [unsorted: Item[], visible: Item[], groupOf: (item: Item) => string]
): Map<string, Item[]> {
  const groups = [...asDeclared.groupItems(...items)];
  return new Map(groups.sort(([one], [other]) => Number(one === group) - Number(other === group)));
}

/** For commands that change something. */
export const addRequestId = (command: Command): Command =>
  command.option('--request-id <id>', 'name this change: repeating it with the same id does it at most once');

/** Every command shows at least one line that can be copied. */
export const example = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText(
    'after',
    `\n${lines.length > 1 ? 'Examples' : 'Example'}:\n${lines.map((text) => `  $ ${text}`).join('\n')}`,
  );

/** Collects a repeatable option. */
export const collect = (value: string, former: readonly string[] | undefined): string[] => [...(former ?? []), value];
