/** The end of the demonstration, whatever came before: the work is ended with proof, the daemon stopped, the directory removed. */
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { failureOf } from '../failure.ts';
import { quoted } from './narrator.ts';
import type { Scratch } from './scratch.ts';
import type { Stage } from './stage.ts';
import { living, type Traces, tracesOf } from './witness.ts';

export interface Closing {
  readonly directory: string;
  readonly removed: boolean;
  readonly processesLookedAt: number;
  readonly processesLeft: readonly number[];
}

export interface ClosingOptions {
  /** Leave the directory. */
  readonly keep: boolean;
  /** Who held the terminal, if the story came that far. */
  readonly hostPid: number | undefined;
}

/**
 * Throws `demo_not_cleaned` (exit 1) with how to go on if a process is left; the directory then stays, because it is all
 * that tells who that is. A daemon that cannot be asked is no obstacle where a look at every process finds nobody.
 */
export async function close(stage: Stage, { keep, hostPid }: ClosingOptions): Promise<Closing> {
  const { scratch, narrator, audience } = stage;
  narrator.heading('Cleaning up');
  await audience.dismiss();
  const refusal = await stopDaemon(stage);
  const { lookedAt, pids } = await withoutTraces(stage, refusal);
  if (hostPid !== undefined && (await living([hostPid])).length === 0) {
    narrator.good('PTY host', `pid ${hostPid} was sent home: it held no terminal any more`);
  }
  const where = 'as its directory, in its environment or on its command line';
  narrator.good('processes', `${lookedAt} looked at: none has ${scratch.name} ${where}`);
  if (keep) {
    const stateDir = quoted(scratch.places.stateDir);
    narrator.fact('kept', `${scratch.dir}; look around with custody events --state-dir ${stateDir}`);
  } else {
    scratch.remove();
    narrator.good('removed', scratch.dir);
  }
  return { directory: scratch.dir, removed: !keep, processesLookedAt: lookedAt, processesLeft: pids };
}

/** A launch that was under way when the first stop began is found by the second. */
const stopAttempts = 3;

/** Returns why the daemon was not stopped, if it was not. */
async function stopDaemon({ installation, narrator }: Stage): Promise<string | undefined> {
  for (let at = 1; ; at += 1) {
    try {
      narrator.waiting('draining; the daemon ends when everything is proved');
      const stopped = await installation.stop();
      if (stopped === undefined) return undefined;
      narrator.command('custody', 'daemon', 'stop');
      const { settled } = stopped;
      const proved = settled.length === 0 ? 'nothing was left to drain' : `proved: ${settled.join(' ')}`;
      narrator.good('daemon', `stopped; ${proved}`);
      return undefined;
    } catch (cause) {
      const { code, message } = failureOf(cause);
      if (code === 'drain_blocked' && at < stopAttempts) continue;
      narrator.warning('daemon', `not stopped: ${message}`);
      return message;
    }
  }
}

/** A daemon that has answered for the last time is still a process for some milliseconds. */
async function withoutTraces({ scratch }: Stage, refusal: string | undefined): Promise<Traces> {
  const deadline = performance.now() + (refusal === undefined ? endWithinMs : 0);
  for (;;) {
    const traces = await tracesOf(scratch.name);
    if (traces.pids.length === 0) return traces;
    if (performance.now() > deadline) throw notCleaned(traces.pids, refusal, scratch);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const endWithinMs = 10_000;

function notCleaned(pids: readonly number[], refusal: string | undefined, { dir, places }: Scratch): OperatingError {
  const why = refusal === undefined ? '' : `; its daemon was not stopped: ${refusal}`;
  const stateDir = quoted(places.stateDir);
  return new OperatingError({
    code: 'demo_not_cleaned',
    message: `processes are left (${pids.join(' ')}) that were started for this, so ${dir} stays${why}`,
    exitCode: 1,
    next: [
      `custody daemon stop --state-dir ${stateDir}`,
      `custody processes --state-dir ${stateDir}`,
      `rm -r ${quoted(dir)}, when nothing is left`,
    ],
  });
}
