/** The end of the demonstration, whatever came before: the work is ended with proof, the daemon stopped, the directory removed. */
import { OperatingError } from '../../actors/daemon/operatingError.ts';
import { line } from '../print/escape.ts';
import type { Stage } from './stage.ts';
import { type Traces, tracesOf } from './witness.ts';

export interface Closing {
  readonly directory: string;
  readonly removed: boolean;
  readonly processesLookedAt: number;
  readonly processesLeft: readonly number[];
}

/** Throws `demo_not_cleaned` (exit 1) with how to go on; the directory then stays, because it is all that tells who is left. */
export async function close(stage: Stage, keep: boolean): Promise<Closing> {
  const { scratch, narrator } = stage;
  narrator.heading('Nothing is left');
  await stopDaemon(stage);
  const traces = await withoutTraces(stage);
  const { lookedAt, pids } = traces;
  narrator.good('processes', `${lookedAt} looked at: none works in ${scratch.name} or has it in its environment`);
  if (keep)
    narrator.fact(
      'kept',
      `${scratch.dir}; look around with CUSTODY_HOME=${line`${scratch.places.stateDir}`} custody events`,
    );
  else scratch.remove();
  if (!keep) narrator.good('removed', scratch.dir);
  return { directory: scratch.dir, removed: !keep, processesLookedAt: lookedAt, processesLeft: pids };
}

/** A launch that was under way when the first stop began is found by the second. */
const stopAttempts = 3;

async function stopDaemon({ installation, narrator, scratch }: Stage): Promise<void> {
  for (let at = 1; ; at += 1) {
    try {
      narrator.waiting('draining; the daemon ends when everything is proved');
      const stopped = await installation.stop();
      if (stopped === undefined) return;
      narrator.command('custody', 'daemon', 'stop');
      const { settled } = stopped;
      narrator.good(
        'daemon',
        settled.length === 0 ? 'stopped; nothing was left to drain' : `stopped; proved: ${settled.join(' ')}`,
      );
      return;
    } catch (cause) {
      if ((cause as OperatingError).code === 'drain_blocked' && at < stopAttempts) continue;
      throw notCleaned(`its daemon did not stop: ${(cause as Error).message}`, scratch, cause);
    }
  }
}

/** A daemon that has answered for the last time is still a process for some milliseconds. */
async function withoutTraces({ scratch }: Stage): Promise<Traces> {
  const deadline = performance.now() + endWithinMs;
  for (;;) {
    const traces = await tracesOf(scratch.name);
    if (traces.pids.length === 0) return traces;
    if (performance.now() > deadline) {
      throw notCleaned(`processes of it are left: ${traces.pids.join(' ')}`, scratch);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const endWithinMs = 10_000;

const notCleaned = (why: string, { dir, places }: Stage['scratch'], cause?: unknown): OperatingError =>
  new OperatingError(
    {
      code: 'demo_not_cleaned',
      message: `the demonstration could not clean up after itself: ${why}; its directory stays: ${dir}`,
      exitCode: 1,
      next: [
        `custody daemon stop --state-dir '${places.stateDir}'`,
        `custody processes --state-dir '${places.stateDir}'`,
        `rm -r '${dir}', when nothing is left`,
      ],
    },
    cause,
  );
