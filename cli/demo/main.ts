/**
 * The demonstration behind `custody demo`: a Goal, a worktree and an agent in a terminal, on a scratch clone; the daemon
 * and whoever watches killed in the middle; somebody who stays behind; the proof that ends it. Everything in one directory,
 * which is removed.
 */
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { failureOf } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import { Output } from '../output.ts';
import { type Closing, close } from './closing.ts';
import { toolMissing } from './command.ts';
import { withComplaints } from './diagnosis.ts';
import { outputClosed } from './interruption.ts';
import { lastLines, reportOf } from './report.ts';
import { tools } from './scripts.ts';
import type { Stage } from './stage.ts';
import { stageFor } from './staging.ts';
import { type Story, tell } from './story.ts';
import { missing } from './witness.ts';

export interface DemoOptions {
  /** A repository to clone into the scratch directory; without it the checkout of this program, or a small one made for it. */
  readonly repo?: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  /** Leave the scratch directory where it is, and say where. */
  readonly keep?: boolean;
}

/** Returns the exit status. Throws `demo_failed` and `interrupted`, after everything that was started has been ended. */
export async function runDemo({ repo, keep = false, ...options }: DemoOptions): Promise<number> {
  const startedAt = performance.now();
  const tool = await missing(tools);
  if (tool !== undefined) throw toolMissing(tool);
  const output = new Output(options);
  const stage = stageFor(output, { what: 'the demonstration', name: 'demo' });
  const ending = await told(stage, repo);
  stage.interruption.end();
  const closing = await closed(stage, keep, ending);
  if (ending.story === undefined) {
    if (ending.failure.code === outputClosed) return 0;
    throw ending.failure;
  }
  const report = reportOf({ story: ending.story, closing, elapsedMs: Math.round(performance.now() - startedAt) });
  return output.answer(localAnswer('demo', report), lastLines, ({ goalId, generationId }) => [goalId, generationId]);
}

type Ending =
  | { readonly story: Story; readonly failure?: undefined }
  | { readonly story?: undefined; readonly failure: OperatingError };

async function told(stage: Stage, repo: string | undefined): Promise<Ending> {
  try {
    return { story: await tell(stage, repo) };
  } catch (cause) {
    return { failure: withComplaints(cause, stage.scratch) };
  }
}

/** If something is left as well, the first cause is still the one that is told, with the way to what is left. */
async function closed(stage: Stage, keep: boolean, { story, failure: first }: Ending): Promise<Closing> {
  try {
    return await close(stage, { keep, hostPid: story?.adoption.hostPid.after });
  } catch (cause) {
    if (first === undefined) throw cause;
    const leftover = failureOf(cause);
    throw new OperatingError(
      {
        ...failureOf(first),
        message: `${first.message}; moreover: ${leftover.message}`,
        exitCode: first.exitCode || leftover.exitCode,
        next: [...leftover.next, ...first.next],
      },
      first,
    );
  }
}
