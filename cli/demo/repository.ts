/** The repository that is worked on: always a clone of our own, so that nobody's repository is ever written to. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { attempt, outputOf } from './command.ts';
import { historyStream } from './history.ts';
import type { Scratch } from './scratch.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Source {
  readonly path: string;
  readonly why: 'named' | 'checkout' | 'made';
}

/**
 * For reading with the caller's own settings (safe.directory above all) but in no repository that the caller stands in,
 * and without anybody's hooks: those of core.hooksPath would run even in a clone (githooks(5)).
 */
export function callersGit(env: Environment): Environment {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || /^GIT_(CONFIG|EXEC_PATH)/.test(name));
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  return {
    ...Object.fromEntries(own),
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TEMPLATE_DIR: '',
    LC_ALL: 'C',
  };
}

export interface Cloning {
  readonly scratch: Scratch;
  readonly signal: AbortSignal;
  /** The environment that the caller had. */
  readonly env: Environment;
}

/** The named repository; else the checkout that this program lies in; else a small history made for the purpose. */
export async function sourceOf(named: string | undefined, cloning: Cloning): Promise<Source> {
  if (named !== undefined) return { path: await topOf(named, cloning), why: 'named' };
  const checkout = checkoutOfThisProgram();
  if (checkout !== undefined && (await isReadable(checkout, cloning))) return { path: checkout, why: 'checkout' };
  return { path: await made(cloning), why: 'made' };
}

/** An installed package lies in no repository of its own, even if its user keeps node_modules in one. */
function checkoutOfThisProgram(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return existsSync(join(at, '.git')) ? at : undefined;
  }
  return undefined;
}

/** Git refuses what belongs to somebody else, as a mounted checkout may. */
async function isReadable(path: string, { env, signal }: Cloning): Promise<boolean> {
  const { code } = await attempt('git', ['rev-parse', '--verify', '-q', 'HEAD'], {
    cwd: path,
    env: callersGit(env),
    signal,
  });
  return code === 0;
}

/** Throws `not_a_repository` (exit 2) for a path in none, and `repository_empty` (exit 13) where there is no commit. */
async function topOf(path: string, { env, signal }: Cloning): Promise<string> {
  const options = { cwd: path, env: callersGit(env), signal };
  const next = ['custody demo, without --repo'];
  if (!existsSync(path)) {
    throw new OperatingError({ code: 'usage', message: `there is no ${path}`, exitCode: 2, next });
  }
  const inside = await attempt('git', ['rev-parse', '--absolute-git-dir'], options);
  if (inside.code !== 0) {
    throw new OperatingError({
      code: 'not_a_repository',
      message: `git cannot read a repository at ${path}: ${inside.stderr.trim().split('\n')[0]}`,
      exitCode: 2,
      next,
    });
  }
  const head = await attempt('git', ['rev-parse', '--verify', '-q', 'HEAD'], options);
  if (head.code !== 0) {
    throw new OperatingError({
      code: 'repository_empty',
      message: `${path} has no commit to start from`,
      exitCode: 13,
      next,
    });
  }
  const top = await attempt('git', ['rev-parse', '--show-toplevel'], options);
  return top.code === 0 ? top.stdout.replace(/\n$/, '') : inside.stdout.replace(/\n$/, '');
}

/** A small history of our own; for what must not depend on any other repository. */
export async function made({ scratch, signal }: Pick<Cloning, 'scratch' | 'signal'>): Promise<string> {
  const path = join(scratch.dir, 'tides');
  const options = { env: callersGit(scratch.env), signal };
  await outputOf('git', ['init', '-q', path], options);
  await outputOf('git', ['symbolic-ref', 'HEAD', 'refs/heads/main'], { ...options, cwd: path });
  await outputOf('git', ['fast-import', '--quiet'], { ...options, cwd: path, input: historyStream() });
  return path;
}

/** What is typed. No checkout: files are only needed in the worktree, and filters of the caller's would run. */
export const cloneArguments = (source: Source, scratch: Scratch): string[] => [
  ...['clone', '--local', '--no-hardlinks', '--no-checkout'],
  ...[source.path, scratch.repository],
];

export interface Cloned {
  readonly commits: number;
  readonly head: string;
  readonly subject: string;
}

export async function cloned(source: Source, { scratch, signal, env }: Cloning): Promise<Cloned> {
  const own = { cwd: scratch.repository, env: callersGit(scratch.env), signal };
  await outputOf('git', cloneArguments(source, scratch), { env: callersGit(env), signal });
  const [head = '', subject = ''] = (await outputOf('git', ['log', '-1', '--format=%h%n%s'], own)).split('\n');
  return { commits: Number(await outputOf('git', ['rev-list', '--count', 'HEAD'], own)), head, subject };
}
