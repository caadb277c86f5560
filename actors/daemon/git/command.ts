/**
 * What Custody's own git may do (ruling 25): no hooks, no file system monitor, no background maintenance, no transport,
 * no credential prompt, and no filter driver of the repository's configuration. An agent's own git is its own affair.
 */

export interface GitCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type Setting = readonly [name: string, value: string];

const switchedOff: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['advice.detachedHead', 'false'],
];

/**
 * Settings travel in GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n (git-config(1)), because a driver name may hold
 * characters that `-c name=value` would take apart.
 */
export function gitCommand(
  args: readonly string[],
  filterDrivers: readonly string[] = [],
  more: readonly Setting[] = [],
): GitCommand {
  const settings = [...switchedOff, ...more, ...filterDrivers.flatMap(withoutFilter)];
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: process.env.HOME ?? '/',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: 'false',
    GIT_CONFIG_COUNT: String(settings.length),
  };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return { argv: ['git', ...args], env };
}

/** A required driver that is missing would fail the checkout, hence the last line. */
const withoutFilter = (driver: string): Setting[] => [
  [`filter.${driver}.smudge`, ''],
  [`filter.${driver}.clean`, ''],
  [`filter.${driver}.process`, ''],
  [`filter.${driver}.required`, 'false'],
];

/** Arguments that list the filter settings of a repository, included files and all; they start nothing. */
export const listFilterSettings: readonly string[] = [
  'config',
  '--includes',
  '-z',
  '--name-only',
  '--get-regexp',
  '^filter\\.',
];

/** Driver names out of that list: `filter.<name>.<setting>`, where the name may itself hold dots. */
export function filterDriversIn(output: Buffer): string[] {
  const names = output.toString('utf8').split('\0').filter(Boolean);
  return [...new Set(names.map((name) => name.slice('filter.'.length, name.lastIndexOf('.'))))];
}
