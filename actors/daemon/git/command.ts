/**
 * What Custody's own git may do (ruling 25): no hooks, no file system monitor, no background maintenance, no transport,
 * no credential prompt, and no filter driver of the repository's configuration. An agent's own git is its own affair.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface GitCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const switchedOff = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'submodule.recurse=false',
  'advice.detachedHead=false',
];

/** `commonGitDir` is where the repository's configuration is read, to name the filter drivers that are switched off. */
export function gitCommand(commonGitDir: string, args: readonly string[]): GitCommand {
  const settings = [...switchedOff, ...filterDrivers(commonGitDir).flatMap(withoutFilter)];
  return {
    argv: ['git', ...settings.flatMap((setting) => ['-c', setting]), ...args],
    env: {
      PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
      HOME: process.env.HOME ?? '/',
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_EDITOR: 'false',
      GIT_ATTR_NOSYSTEM: '1',
    },
  };
}

/** A required driver that is missing would fail the checkout, hence both lines. */
const withoutFilter = (driver: string): string[] => [
  `filter.${driver}.smudge=`,
  `filter.${driver}.clean=`,
  `filter.${driver}.process=`,
  `filter.${driver}.required=false`,
];

/**
 * Names of `[filter "…"]` sections in the shared configuration. A name with a line break, an equals sign or a dot-dot
 * cannot be put on a command line faithfully; git itself refuses such names in a section header.
 */
function filterDrivers(commonGitDir: string): string[] {
  const names = new Set<string>();
  for (const file of ['config', 'config.worktree']) {
    let text: string;
    try {
      text = readFileSync(join(commonGitDir, file), 'utf8');
    } catch {
      continue;
    }
    for (const match of text.matchAll(/^\s*\[\s*filter\s+"((?:[^"\\\n]|\\.)*)"\s*\]/gim)) {
      names.add(match[1]!.replace(/\\(.)/g, '$1'));
    }
    for (const match of text.matchAll(/^\s*\[\s*filter\.([\w.-]+)\s*\]/gim)) names.add(match[1]!);
  }
  return [...names];
}
