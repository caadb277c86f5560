/** Asks a real shell what it would offer when Tab is pressed at the end of a line. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, program } from './program.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Puts `custody` on a PATH of its own, because the scripts call the word that stands on the line. */
export function installed(home: Home): Readonly<Record<string, string>> {
  const bin = join(home.dir, 'bin');
  mkdirSync(bin, { recursive: true });
  const wrapper = join(bin, 'custody');
  writeFileSync(wrapper, `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(program)} "$@"\n`);
  chmodSync(wrapper, 0o755);
  return { ...home.env, PATH: `${bin}:${home.env.PATH}`, LC_ALL: 'C.UTF-8', TERM: 'dumb' };
}

/** The candidates for `line`, without descriptions, in order and once each. */
export function offered(shell: Shell, line: string, options: { readonly home: Home; readonly cwd?: string }): string[] {
  const env = installed(options.home);
  const { stdout, stderr, status, error } = spawnSync(shell, [...arguments_[shell], scripts[shell](line)], {
    env,
    cwd: options.cwd ?? options.home.dir,
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (error || status !== 0) throw new Error(`${shell} ended with ${status}: ${error ?? stderr}`);
  if (stderr !== '') throw new Error(`${shell} complained: ${stderr}`);
  const lines = stdout.split(/\r?\n/).filter((text) => text !== '');
  return [...new Set(lines.map((text) => text.split('\t')[0] as string))];
}

const arguments_: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['--norc', '--noprofile', '-c'],
  zsh: ['-f', '-c'],
  fish: ['--no-config', '-c'],
};

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const scripts: Readonly<Record<Shell, (line: string) => string>> = {
  // What readline does: split the line into words, call the function that `complete` registered, read COMPREPLY.
  bash: (line) => `
    eval "$(custody completions bash)"
    COMP_LINE=${quote(line)}
    COMP_POINT=\${#COMP_LINE}
    read -ra COMP_WORDS <<< "$COMP_LINE"
    [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
    function_name=$(complete -p custody | sed -n 's/.*-F \\([^ ]*\\) .*/\\1/p')
    "$function_name" custody "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The line editor needs a terminal, so an inner zsh gets one; what it offers is written to a file.
  zsh: (line) => `
    zmodload zsh/zpty
    zpty inner zsh -f -i
    zpty -w inner ${quote(inner)}
    zpty -r inner start $'*custody-ready\\r*' || exit 1
    zpty -n -w inner ${quote(`${line}\t`)}
    zpty -r inner output $'*custody-end\\r*' || exit 1
    cat $TMPDIR/offered
    zpty -d inner`,
  fish: (line) => `
    custody completions fish | source
    complete -C ${quote(line)}`,
};

/** A shadow of compadd writes down what is offered; with -O, -A and -D it only filters and offers nothing. */
const inner = `
PROMPT=; unsetopt zle_bracketed_paste prompt_cr prompt_sp; stty -echo
autoload -Uz compinit && compinit -u -D
eval "$(custody completions zsh)"
zstyle ':completion:*' verbose no
compadd() {
  if [[ -n "\${argv[(r)-[OAD]]}" ]]; then builtin compadd "$@"; return; fi
  local -a found
  builtin compadd -O found "$@"
  print -rl -- $found >> $TMPDIR/offered
  builtin compadd "$@"
}
report() {
  : > $TMPDIR/offered
  zle complete-word
  BUFFER=
  print -r custody-end
}
zle -N report
bindkey '^I' report
print custody-''ready
`;
