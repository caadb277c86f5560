/** What the demonstration has found, as one JSON object and as its last lines. */
import { line } from '../print/escape.ts';
import type { Style } from '../print/style.ts';
import { ownProgram, spelling } from '../spelling.ts';
import type { Closing } from './closing.ts';
import type { Story } from './story.ts';

interface Told {
  readonly story: Story;
  readonly closing: Closing;
  readonly elapsedMs: number;
}

export function reportOf({ story, closing, elapsedMs }: Told) {
  const { groundwork, place, adoption, left, sealed, recording, receipts } = story;
  const { repository, init } = groundwork;
  return {
    elapsedMs,
    repository: {
      source: repository.source.path,
      why: repository.source.why,
      commits: repository.commits,
      head: repository.head,
    },
    contract: { name: init.contract.name, verified: init.contract.verified, checks: init.contract.checks },
    goalId: place.goalId,
    generationId: place.generationId,
    adoption,
    commit: story.commit,
    check: { runId: story.checkRunId, resultAt: story.checkResultAt },
    escapee: {
      runId: left.launched.run.runId,
      scopeId: left.launched.scopeId,
      pid: left.pid,
      summary: left.summary,
      refusal: left.refusal,
      holders: left.holders,
    },
    sealed,
    recording,
    receipts,
    doesNotCover: init.doesNotCover,
    closing,
  };
}

export function lastLines({ elapsedMs }: ReturnType<typeof reportOf>, style: Style): string[] {
  const custody = spelling({ env: process.env, program: ownProgram() });
  return [
    '',
    `${style.green('done')} in ${(elapsedMs / 1_000).toFixed(1)} s`,
    style.dim(line`next: ${custody} init`),
    style.dim(line`then, inside a git repository of yours: ${custody} goals add TITLE --request FILE --queue`),
  ];
}
