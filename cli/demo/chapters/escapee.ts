/** Chapter 6: a run whose root ends and whose child does not, and a seal that is refused because of it (drill D1). */
import type { ApiError, BlockerView, ProcessView } from '../../../actors/daemon/api/views.ts';
import { line } from '../../print/escape.ts';
import { result } from '../../print/words.ts';
import { expectThat, found } from '../expectation.ts';
import { Listener, launch } from '../launching.ts';
import { escapeeCommand } from '../scripts.ts';
import type { Launched, Stage, Workplace } from '../stage.ts';

/** A root that has ended, and what it has left. */
export interface Left {
  readonly launched: Launched;
  readonly pid: number;
  readonly summary: string;
  readonly refusal: Pick<ApiError, 'code' | 'message' | 'exitCode'>;
  readonly holders: readonly ProcessView[];
}

export async function leaveAnEscapee(stage: Stage, place: Workplace): Promise<Left> {
  const { narrator, installation } = stage;
  narrator.chapter(
    'Somebody stays behind',
    'The command ends; a child in a session of its own does not, and could still write to the worktree.',
  );
  const launched = await launch(stage, place, { name: 'escapee', argv: escapeeCommand, onRootExit: 'wait' });
  const says = new Listener(stage, launched);
  const pid = Number(found(/\d+/.exec(await says.until('leaves'))?.[0], 'the pid of what stays behind'));
  const after = await installation.call('runs.wait', { id: launched.run.runId, until: 'ended', waitMs: 30_000 });
  narrator.command('custody', 'processes');
  const { scopes } = await installation.call('processes', {});
  const scope = scopes.find(({ scopeId }) => scopeId === launched.scopeId);
  const isHeldOpen = scope?.assessment.state === 'live' && scope.workload === 'finished';
  expectThat(isHeldOpen, 'the scope is held open: root ended, tree not drained', scope ?? after);
  narrator.warning('escapee', `root: ${result(after.result)}; scope: ${scope.assessment.state}, ${scope.summary}`);
  const { refusal, holders } = await refusedSeal(stage, place, launched);
  expectThat(
    holders.some((holder) => holder.pid === pid),
    `the refusal names pid ${pid}`,
    holders,
  );
  return { launched, pid, summary: scope.summary, refusal, holders };
}

async function refusedSeal({ narrator, installation }: Stage, { generationId }: Workplace, { scopeId }: Launched) {
  narrator.command('custody', 'worktrees', 'close', generationId);
  const { lifecycle } = await installation.call('worktrees.close', { id: generationId });
  narrator.fact('worktree', `${lifecycle}: no further run is admitted`);
  narrator.command('custody', 'worktrees', 'seal', generationId);
  const { code, message, exitCode, details, next } = await installation.refusal('worktrees.seal', { id: generationId });
  expectThat(code === 'seal_refused', 'the seal is refused', code);
  const blockers = (details?.blockers ?? []) as readonly BlockerView[];
  const holders = blockers.filter((blocker) => blocker.scopeId === scopeId).flatMap((blocker) => blocker.holders ?? []);
  narrator.warning('refused', `${message} (${code}, exit ${exitCode})`);
  for (const { pid, name, state } of holders)
    narrator.warning('holder', line`pid ${pid} (${name ?? '?'}), state ${state}`);
  for (const advice of next) narrator.fact('try', advice);
  return { refusal: { code, message, exitCode }, holders };
}
