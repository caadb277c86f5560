/**
 * Programs that hand work to somebody outside the tree (GRD-12): to a server that ran before, to a scheduler, to another
 * machine. Looked for in what a launch is asked to start, in memory only; what is kept is the name out of this list. It
 * names what it can see in the recipe and says nothing about what the work does later.
 */
import { basename } from 'node:path';
import { type Delegator, delegatorNames } from '../../../machines/delegators.ts';

interface Asked {
  readonly argv: readonly string[];
  /** The variables that the caller passes. */
  readonly env: Readonly<Record<string, string>>;
}

const known: ReadonlySet<string> = new Set(delegatorNames);

/** A variable that leads a program to a server, and whose it is. */
const variables: Readonly<Record<string, Delegator>> = {
  TMUX: 'tmux',
  STY: 'screen',
  DOCKER_HOST: 'docker',
  CONTAINER_HOST: 'podman',
  KUBECONFIG: 'kubectl',
  DBUS_SESSION_BUS_ADDRESS: 'dbus-launch',
  SSH_AUTH_SOCK: 'ssh',
};

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish']);

/** They run the command that follows, behind options and numbers of their own. */
const wrappers: ReadonlySet<string> = new Set(
  'env exec command nohup setsid sudo doas nice ionice timeout time stdbuf xargs chrt taskset unshare'.split(' '),
);

/** Words of one command that are looked at. Without a bound a recipe of nothing but wrappers would hold up every launch. */
const mostWords = 200;

/** In the order of the list, each once. */
export function delegatorsIn({ argv, env }: Asked): readonly Delegator[] {
  const found = new Set<string>([...inWords(argv), ...Object.keys(env).flatMap((name) => variables[name] ?? [])]);
  return delegatorNames.filter((name) => found.has(name));
}

/** What one command line runs; the script of a shell is looked into, as deep as it goes. */
function inWords(all: readonly string[]): readonly string[] {
  const words = all.slice(0, mostWords);
  const at = words.findIndex((word) => !isBeside(word));
  const program = at < 0 ? '' : basename(words[at]!);
  const rest = words.slice(at + 1);
  if (shells.has(program)) return inShell(rest);
  if (wrappers.has(program)) return inWords(behindOptions(rest));
  return known.has(program) ? [program] : [];
}

/** Assignments and words of the shell's grammar stand before the program. */
const isBeside = (word: string): boolean =>
  /^[A-Za-z_]\w*=/.test(word) || ['', '!', '{', 'if', 'then', 'elif', 'else', 'while', 'until', 'do'].includes(word);

/** The value of an option cannot be told from a program without knowing the wrapper, so the first known word counts, too. */
function behindOptions(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^(-|\d)/.test(word) && !isBeside(word));
  if (first < 0) return [];
  const isKnown = (word: string): boolean => [known, shells, wrappers].some((set) => set.has(basename(word)));
  const later = words.findIndex((word, at) => at >= first && isKnown(word));
  return words.slice(isKnown(words[first]!) || later < 0 ? first : later);
}

function inShell(args: readonly string[]): readonly string[] {
  const option = args.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word));
  const script = option < 0 ? undefined : args[option + 1];
  return script === undefined ? [] : inScript(script);
}

/** Cut wherever the grammar of a shell may begin another command: a warning may be one too many, not one too few. */
function inScript(script: string): readonly string[] {
  return unquoted(script)
    .split(/[;&|\n()`]/)
    .flatMap((command) => inWords(command.trim().split(/\s+/)));
}

/** The path before a shell ends where the next command may begin, so that a long script is read once. */
const quoted =
  /((?:^|[\s;&|(])(?:[^\s;&|('"]*\/)?(?:sh|bash|dash|zsh|ksh|ash|fish)\s+-[a-zA-Z]*c\s*)?('[^']*'|"(?:[^"\\]|\\.)*")/g;

/** What stands in quotes is a text, unless it is one word, the script of another shell, or has commands of its own in it. */
function unquoted(script: string): string {
  return script.replace(quoted, (_, shell: string | undefined, text: string) => {
    const inner = text.slice(1, -1);
    if (shell !== undefined) return `\n${unquoted(inner)}\n`;
    if (/^[\w./-]+$/.test(inner)) return inner;
    return text.startsWith('"') ? substitutionsIn(inner) : '_';
  });
}

/** Up to the first closing parenthesis: what stands behind one that is nested is text again, and looked at no more. */
const substitutionsIn = (text: string): string => {
  const [, ...inParentheses] = text.split('$(');
  const inBackticks = text.split('`').filter((_, at) => at % 2 === 1);
  return `_${[...inParentheses.map((one) => one.split(')', 1)[0]), ...inBackticks].map((one) => `(${one})`).join('')}`;
};
