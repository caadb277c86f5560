/** One drill: a whole kind of fault as a small case, and what every drill works with. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import { eventually, found } from '../demo/expectation.ts';
import type { Stage, Workplace } from '../demo/stage.ts';
import { workloadEnvironment } from '../launchEnvironment.ts';

export interface Drilling extends Pick<Stage, 'installation' | 'scratch' | 'interruption'> {
  /** The throw-away repository. */
  readonly repository: string;
  /** A path for a file of this drill's own, outside every worktree. */
  readonly file: (name: string) => string;
}

export interface Drill {
  readonly name: string;
  readonly title: string;
  /** What was observed, a line each. Throws where it is not what must hold. */
  readonly run: (drilling: Drilling) => Promise<readonly string[]>;
}

/** Should this process be killed outright, the daemon still ends what was launched when this time is over. */
const longestRunMs = 300_000;

/** More than anything here takes on a machine that is busy with other things. */
export const patienceMs = 30_000;

export async function workplace({ installation, repository }: Drilling, title: string): Promise<Workplace> {
  const added = { title, repo: repository, request: `drill: ${title}\n`, queue: true };
  const { goalId } = await installation.call('goals.add', added);
  const { generationId, path } = await installation.call('worktrees.add', { goalId });
  return { goalId, generationId, path };
}

export type Exec = CallResults['runs.exec'] & { readonly scopeId: string };

/** Runs a script of sh, whose operands are `$1` …. */
export async function exec(
  { installation }: Drilling,
  { goalId }: Workplace,
  { script, operands = [], ...options }: ScriptOptions,
): Promise<Exec> {
  const argv = ['sh', '-c', script, 'sh', ...operands];
  const env = workloadEnvironment(process.env, []);
  const run = await installation.call('runs.exec', { goalId, argv, env, timeoutMs: longestRunMs, ...options });
  return { ...run, scopeId: found(run.scopeId, 'a scope for the run') };
}

interface ScriptOptions
  extends Partial<Pick<CallArguments<'runs.exec'>, 'onRootExit' | 'terminal' | 'requestId' | 'timeoutMs'>> {
  readonly script: string;
  readonly operands?: readonly string[];
}

export const scopeOf = async ({ installation }: Drilling, scopeId: string) => {
  const { scopes } = await installation.call('processes', { released: true });
  return found(
    scopes.find((scope) => scope.scopeId === scopeId),
    `scope ${scopeId}`,
  );
};

export const proved = ({ installation }: Drilling, runId: string) =>
  installation.call('runs.wait', { id: runId, until: 'proved', waitMs: patienceMs });

export const exists = async (path: string): Promise<boolean> => (await sizeOf(path)) !== undefined;

export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}

export const appeared = ({ interruption }: Drilling, path: string): Promise<void> =>
  eventually(interruption.signal, `${path} appears`, () => exists(path));

export const linesIn = async (path: string): Promise<number> => (await readFile(path, 'utf8')).split('\n').length - 1;

export const placeFor =
  (directory: string, drill: string) =>
  (name: string): string =>
    join(directory, `${drill}-${name}`);
