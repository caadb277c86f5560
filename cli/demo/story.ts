/** The demonstration from its first line to its last, and what it has found. */

import { makeWorkplace, setToWork } from './chapters/agentAtWork.ts';
import { commitAndCheck } from './chapters/checking.ts';
import { type Adoption, killAndAdopt } from './chapters/daemonDeath.ts';
import { type Left, leaveAnEscapee } from './chapters/escapee.ts';
import { type Groundwork, layGroundwork } from './chapters/groundwork.ts';
import { type Recording, replay } from './chapters/recording.ts';
import { endAndSeal, type NamedReceipt, readReceipts, type Sealed } from './chapters/sealing.ts';
import type { Stage, Workplace } from './stage.ts';

export interface Story {
  readonly groundwork: Groundwork;
  readonly place: Workplace;
  readonly adoption: Adoption;
  readonly commit: string;
  readonly checkRunId: string;
  readonly checkResultAt: number;
  readonly left: Left;
  readonly sealed: Sealed;
  readonly recording: Recording;
  readonly receipts: readonly NamedReceipt[];
}

/** Throws `demo_failed` for a promise that is not kept, and whatever stops a command of the same name. */
export async function tell(stage: Stage, named: string | undefined): Promise<Story> {
  const groundwork = await layGroundwork(stage, named);
  const place = await makeWorkplace(stage);
  const begun = await setToWork(stage, place);
  const { agent, ...adoption } = await killAndAdopt(stage, { place, agent: begun, daemonPid: groundwork.daemonPid });
  const { commit, check, resultAt } = await commitAndCheck(stage, place, agent);
  const left = await leaveAnEscapee(stage, place);
  const sealed = await endAndSeal(stage, place, left);
  const recording = await replay(stage, agent);
  const receipts = await readReceipts(stage, { agent, check, escapee: left.launched });
  const story: Story = {
    groundwork,
    place,
    adoption,
    commit,
    checkRunId: check.run.runId,
    checkResultAt: resultAt,
    left,
    sealed,
    recording,
    receipts,
  };
  sumUp(stage, story);
  return story;
}

function sumUp({ narrator }: Stage, { groundwork, place, adoption, left, sealed, recording, receipts }: Story): void {
  const { daemonPid, guardianPid, hostPid, viewers, launches, linesWithoutDaemon } = adoption;
  const written = linesWithoutDaemon.to - linesWithoutDaemon.from;
  const exits = receipts.filter(({ kind }) => kind === 'exit').length;
  narrator.heading('What was proved');
  narrator.bullet(
    `Daemon ${daemonPid.before} and viewer ${viewers.killed} were killed. The agent was answered without a daemon and wrote ${written} more line; daemon ${daemonPid.after} found it under the same guardian (${guardianPid.after}) and PTY host (${hostPid.after}), launched ${times(launches.released)}.`,
  );
  narrator.bullet(
    `Viewer ${viewers.after} was shown the whole screen again, and the recording of ${recording.bytes} bytes is complete.`,
  );
  narrator.bullet(
    `${place.generationId} could not be sealed while pid ${left.pid} was alive, although its root had ended.`,
  );
  narrator.bullet(`It is ${sealed.lifecycle} now: ${exits} exit receipts say that no process of its runs is left.`);
  narrator.heading('What an exit receipt does not cover');
  for (const gap of groundwork.init.doesNotCover) narrator.bullet(gap);
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
