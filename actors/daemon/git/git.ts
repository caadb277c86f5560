/** Custody's own git, under a guardian as everything else (ruling 25). */
import type { ScopeId } from '../../../machines/ids.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { filterDriversIn, gitCommand, listFilterSettings } from './command.ts';
import { type EffectResult, runEffect } from './effectRunner.ts';

export interface GitRequest {
  readonly scopeId: ScopeId;
  readonly cwd: string;
  readonly args: readonly string[];
  readonly filterDrivers?: readonly string[];
}

type Parts = Parameters<typeof runEffect>[0];

/** Standard output of a git command that succeeded. Throws `git_failed` (exit 13) with git's own first line. */
export async function git(parts: Parts, request: GitRequest): Promise<Buffer> {
  const outcome = await attemptGit(parts, request);
  if (outcome.result.how === 'exited' && outcome.result.code === 0) return outcome.stdout;
  throw gitFailed(request.args[0] ?? 'git', outcome);
}

/** Names of the filter drivers that this repository configures. No match is exit status 1 (git-config(1)). */
export async function filterDriversOf(
  parts: Parts,
  request: Omit<GitRequest, 'args' | 'filterDrivers'>,
): Promise<readonly string[]> {
  const outcome = await attemptGit(parts, { ...request, args: listFilterSettings });
  const { how, code } = outcome.result;
  if (how === 'exited' && (code === 0 || code === 1)) return filterDriversIn(outcome.stdout);
  throw gitFailed('config', outcome);
}

function attemptGit(parts: Parts, { scopeId, cwd, args, filterDrivers }: GitRequest): Promise<EffectResult> {
  const { argv, env } = gitCommand(args, filterDrivers);
  return runEffect(parts, {
    scopeId,
    purpose: `git ${args[0]}`,
    recipe: { argv, env, cwd, umask: 0o022, stdin: null },
  });
}

function gitFailed(verb: string, { result, stderr }: EffectResult): OperatingError {
  const lines = stderr.toString('utf8').split('\n');
  const telling = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? '';
  const said = telling.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
  const how = result.how === 'exited' ? `exit ${result.code}` : result.how;
  return new OperatingError({
    code: 'git_failed',
    message: `git ${verb} failed (${how}): ${said}`,
    exitCode: 13,
    next:
      verb === 'worktree'
        ? ['git worktree list', 'name what exists: --base COMMIT, --branch NEW, --path NEW']
        : ['git status'],
    details: { how: result.how, code: result.code },
  });
}
