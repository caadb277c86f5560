/** A real installation with a real daemon and a real repository, in a directory of its own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { patientBounds } from '../../support/patience.ts';
import {
  emptyHome,
  type Finished,
  type Home,
  type JsonAnswer,
  json,
  type RunOptions,
  run,
  withJson,
} from './program.ts';

export interface Installation extends Home {
  readonly repo: string;
  /** Runs a command of this installation, in its repository. */
  custody(args: readonly string[], options?: Partial<RunOptions>): Promise<Finished>;
  /** The same with --json; throws unless it answers `ok`. */
  ask(args: readonly string[], options?: Partial<RunOptions>): Promise<JsonAnswer>;
  /** A queued Goal with a worktree. */
  goalWithWorktree(): Promise<{ readonly goalId: string; readonly generationId: string; readonly path: string }>;
  daemonPid(): number;
  /** Stops the daemon, which drains; throws when something is left that cannot be proved. */
  dispose(): Promise<void>;
}

export function makeRepository(dir: string, env: Readonly<Record<string, string>>): string {
  mkdirSync(dir, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(dir, 'README.md'), 'a repository\n');
  git('add', '.');
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.org', 'commit', '-qm', 'first');
  return dir;
}

export interface InstallationOptions {
  /** Name of the state directory. */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function installation({ name, env = {} }: InstallationOptions = {}): Promise<Installation> {
  const home = emptyHome(name);
  const merged = { ...home.env, ...patientBounds, ...env };
  const repo = makeRepository(join(home.dir, 'repository'), merged);
  const custody = (args: readonly string[], options: Partial<RunOptions> = {}) =>
    run(args, { cwd: repo, env: merged, ...options });
  const ask = async (args: readonly string[], options?: Partial<RunOptions>) =>
    answered(await custody(withJson(args), options));
  const made: Installation = {
    ...home,
    env: merged,
    repo,
    custody,
    ask,
    async goalWithWorktree() {
      const { goalId } = (await ask(['goals', 'add', 'a goal', '--queue', '--request', 'README.md'])).data;
      const { generationId, path } = (await ask(['worktrees', 'add', goalId])).data;
      return { goalId, generationId, path };
    },
    daemonPid: () => JSON.parse(readFileSync(join(home.stateDir, 'run', 'daemon.json'), 'utf8')).pid,
    async dispose() {
      const stopped = await custody(['daemon', 'stop', '--json']);
      if (stopped.code !== 0 && json(stopped).error?.code !== 'daemon_not_running') {
        throw new Error(`the daemon did not stop: ${stopped.stdout}${stopped.stderr}`);
      }
      home.remove();
    },
  };
  await ask(['init']);
  return made;
}

/** Section F: exactly these fields, nothing else on either stream, exit 0. */
export function answered(finished: Finished): JsonAnswer {
  const answer = json(finished);
  if (finished.code !== 0 || !answer.ok || finished.stderr !== '') {
    throw new Error(`exit ${finished.code}: ${finished.stdout}${finished.stderr}`);
  }
  const unexpected = Object.keys(answer).filter(
    (key) => !['ok', 'command', 'data', 'warnings', 'health', 'journalPosition'].includes(key),
  );
  if (unexpected.length > 0) throw new Error(`fields that the contract does not know: ${unexpected.join(', ')}`);
  return answer;
}

/** A refusal: the error object alone, its exit status, and at least one next step. */
export function refused(finished: Finished): NonNullable<JsonAnswer['error']> & { readonly exitCode: number } {
  const answer = json(finished);
  if (answer.ok || !answer.error || finished.code === 0 || finished.stderr !== '') {
    throw new Error(`not a refusal: exit ${finished.code}: ${finished.stdout}${finished.stderr}`);
  }
  if (Object.keys(answer).join() !== 'ok,error') throw new Error(`more than an error: ${finished.stdout}`);
  return { ...answer.error, exitCode: finished.code ?? -1 };
}
