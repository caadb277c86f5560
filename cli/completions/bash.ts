/** Completion for bash 4 and later, without the bash-completion package. */
import { type CommandShape, encoded, everyCommand } from './shape.ts';

/** The script: three tables from the command tree, and one function that walks the line with them. */
export function bashScript(root: CommandShape): string {
  const commands = everyCommand(root);
  const children = commands.map(({ path, children }) => entry(path, children.map(({ name }) => name).join(' ')));
  const options = commands.map(({ path, options }) => entry(path, options.flatMap(({ flags }) => flags).join(' ')));
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => (value ? flags.map((flag) => entry(`${path}|${flag}`, encoded(value))) : [])),
  );
  const operands = commands.flatMap(({ path, operands }) =>
    operands.map((operand, at) => entry(`${path}|${at}`, encoded(operand))),
  );
  return `# bash completion for custody; use: eval "$(custody completions bash)"
declare -gA _custody_children=(
${children.join('\n')}
)
declare -gA _custody_options=(
${options.join('\n')}
)
declare -gA _custody_values=(
${values.join('\n')}
)
declare -gA _custody_operands=(
${operands.join('\n')}
)
${walker}`;
}

const entry = (key: string, value: string): string => `  [${quoted(key)}]=${quoted(value)}`;
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const walker = `
_custody_offer() {
  local completer=$1 current=$2
  case $completer in
    ids:*)
      local state=()
      [[ -n $_custody_state ]] && state=(--state-dir "\${_custody_state/#\\~/$HOME}")
      mapfile -t COMPREPLY < <(compgen -W "$("\${COMP_WORDS[0]/#\\~/$HOME}" __complete "\${completer#ids:}" "\${state[@]}" 2>/dev/null | cut -f1)" -- "$current")
      ;;
    words:*) mapfile -t COMPREPLY < <(compgen -W "\${completer#words:}" -- "$current") ;;
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    command) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
  esac
}

_custody() {
  local current=\${COMP_WORDS[COMP_CWORD]} path=custody word at operands=0 _custody_state=
  COMPREPLY=()
  for (( at = 1; at < COMP_CWORD; at++ )); do
    word=\${COMP_WORDS[at]}
    if [[ $word == -- ]]; then
      if (( at + 1 == COMP_CWORD )); then _custody_offer command "$current"; else _custody_offer files "$current"; fi
      return
    elif [[ -n \${_custody_values["$path|$word"]} ]]; then
      if (( at + 1 == COMP_CWORD )); then _custody_offer "\${_custody_values["$path|$word"]}" "$current"; return; fi
      (( at++ ))
      [[ $word == --state-dir ]] && _custody_state=\${COMP_WORDS[at]}
    elif [[ $word != -* && " \${_custody_children[$path]} " == *" $word "* ]]; then
      path+=" $word"
      operands=0
    elif [[ $word != -* ]]; then
      (( operands++ ))
    fi
  done
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "\${_custody_options[$path]}" -- "$current")
  elif [[ -n \${_custody_children[$path]} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "\${_custody_children[$path]}" -- "$current")
  else
    _custody_offer "\${_custody_operands["$path|$operands"]}" "$current"
  fi
}

complete -F _custody custody
`;
