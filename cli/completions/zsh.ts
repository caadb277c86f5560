/** Completion for zsh; works through eval and as a file named _custody in fpath. */
import { type CommandShape, encoded, everyCommand, menuText } from './shape.ts';

/** The script: tables from the command tree (menus carry descriptions), and one function that walks the line. */
export function zshScript(root: CommandShape): string {
  const commands = everyCommand(root);
  const children = commands.map(({ path, children }) =>
    entry(path, children.map(({ name, description }) => item(name, description)).join('\n')),
  );
  const options = commands.map(({ path, options }) =>
    entry(path, options.flatMap(({ flags, description }) => flags.map((flag) => item(flag, description))).join('\n')),
  );
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) => (value ? flags.map((flag) => entry(`${path}|${flag}`, encoded(value))) : [])),
  );
  const operands = commands.flatMap(({ path, operands }) =>
    operands.map((operand, at) => entry(`${path}|${at}`, encoded(operand))),
  );
  return `#compdef custody
# zsh completion for custody; use: eval "$(custody completions zsh)" after compinit
typeset -gA _custody_children=(
${children.join('\n')}
)
typeset -gA _custody_options=(
${options.join('\n')}
)
typeset -gA _custody_values=(
${values.join('\n')}
)
typeset -gA _custody_operands=(
${operands.join('\n')}
)
${walker}`;
}

const entry = (key: string, value: string): string => `  ${quoted(key)} ${quoted(value)}`;
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** _describe separates at the first colon that is not escaped. */
const item = (name: string, description: string): string => `${name}:${menuText(description).replaceAll(':', '\\:')}`;

const walker = `
_custody_offer() {
  local completer=$1
  local -a state items
  case $completer in
    ids:*)
      [[ -n $_custody_state ]] && state=(--state-dir "\${_custody_state/#\\~/$HOME}")
      items=(\${(f)"$(\${~words[1]} __complete "\${completer#ids:}" $state 2>/dev/null)"})
      items=(\${\${items//:/\\\\:}/$'\\t'/:})
      _describe -V "\${completer#ids:}" items
      ;;
    words:*) items=(\${=completer#words:}); compadd -a items ;;
    files) _files ;;
  esac
}

_custody() {
  local at word key shape=custody operands=0 _custody_state=
  local -a items
  for (( at = 2; at < CURRENT; at++ )); do
    word=\${words[at]}
    key="$shape|$word"
    if [[ $word == -- ]]; then
      words=("\${(@)words[at+1,-1]}")
      (( CURRENT -= at ))
      _normal
      return
    elif [[ -n \${_custody_values[$key]} ]]; then
      if (( at + 1 == CURRENT )); then _custody_offer "\${_custody_values[$key]}"; return; fi
      (( at++ ))
      [[ $word == --state-dir ]] && _custody_state=\${words[at]}
    elif [[ $word != -* && $'\\n'\${_custody_children[$shape]} == *$'\\n'$word:* ]]; then
      shape+=" $word"
      operands=0
    elif [[ $word != -* ]]; then
      (( operands++ ))
    fi
  done
  if [[ \${words[CURRENT]} == -* ]]; then
    items=(\${(f)_custody_options[$shape]})
    _describe -o option items
  elif [[ -n \${_custody_children[$shape]} ]]; then
    items=(\${(f)_custody_children[$shape]})
    _describe command items
  else
    _custody_offer "\${_custody_operands[$shape|$operands]}"
  fi
}

if [[ \${funcstack[1]} == _custody ]]; then _custody "$@"; else compdef _custody custody; fi
`;
