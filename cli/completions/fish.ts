/** Completion for fish. */
import { type CommandShape, type Completer, encoded, everyCommand, menuText, type OptionShape } from './shape.ts';

/** One `complete` line per command, option and place; conditions ask a function that walks the line. */
export function fishScript(root: CommandShape): string {
  const commands = everyCommand(root);
  const groups = commands.filter(({ children }) => children.length > 0);
  const valued = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => (value ? flags.map((flag) => quoted(`${path}|${flag}`)) : [])),
  );
  const nested = groups.flatMap(({ children }) => children.map(({ path }) => quoted(path)));
  return `# fish completion for custody; use: custody completions fish | source
set -g __custody_valued ${valued.join(' ')}
set -g __custody_paths ${nested.join(' ')}
${walker}
complete -c custody -e
complete -c custody -f
${groups.flatMap(childLines).join('\n')}
${commands.flatMap((command) => command.options.map((option) => optionLine(command.path, option))).join('\n')}
${commands.flatMap(operandLines).join('\n')}
complete -c custody -n "__custody_at 'custody runs exec' rest" -a '(__custody_rest)'
`;
}

const childLines = ({ path, children }: CommandShape): string[] =>
  children.map(
    ({ name, description }) =>
      `complete -c custody -n "__custody_at '${path}' 0" -a ${quoted(name)} -d ${quoted(menuText(description))}`,
  );

function operandLines({ path, operands }: CommandShape): string[] {
  return operands.flatMap((operand, at) => {
    const source = sourceOf(operand);
    return source === '' ? [] : [`complete -c custody -n "__custody_at '${path}' ${at}" ${source}`];
  });
}

function optionLine(path: string, { flags, description, value }: OptionShape): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ');
  const source = value ? `${value.kind === 'files' ? '-r' : '-x'} ${sourceOf(value)}` : '';
  return `complete -c custody -n "__custody_at '${path}'" ${names} ${source} -d ${quoted(menuText(description))}`;
}

function sourceOf(completer: Completer): string {
  switch (completer.kind) {
    case 'ids':
      return `-a ${quoted(`(__custody_ids ${completer.of})`)}`;
    case 'words':
      return `-a ${quoted(encoded(completer).slice('words:'.length))}`;
    case 'files':
      return '-F';
    default:
      return '';
  }
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const walker = `
# Prints the path of commands on the line, the number of operands (or "rest" after --), and the state directory.
function __custody_line
    set -l words (commandline -opc)
    set -l path custody
    set -l operands 0
    set -l state
    set -l at 2
    while test $at -le (count $words)
        set -l word $words[$at]
        if test "$word" = --
            set operands rest
            break
        else if contains -- "$path|$word" $__custody_valued
            set at (math $at + 1)
            test "$word" = --state-dir; and set state $words[$at]
        else if contains -- "$path $word" $__custody_paths
            set path "$path $word"
            set operands 0
        else if not string match -q -- '-*' $word
            set operands (math $operands + 1)
        end
        set at (math $at + 1)
    end
    printf '%s\\n' $path $operands $state
end

function __custody_at
    set -l line (__custody_line)
    test "$line[1]" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; and test "$line[2]" != rest; and return 0
    test "$line[2]" = "$argv[2]"
end

function __custody_ids
    set -l line (__custody_line)
    set -l program (commandline -opc)[1]
    if test (count $line) -gt 2
        $program __complete $argv[1] --state-dir $line[3] 2>/dev/null
    else
        $program __complete $argv[1] 2>/dev/null
    end
end

function __custody_rest
    complete -C (commandline -cp | string replace -r '^.*? -- ' '')
end
`;
