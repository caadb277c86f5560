/**
 * The drills behind `custody drill`: each a kind of fault that users of such tools report, restated as a small case and tried
 * on this very machine. All of them happen in one scratch directory with an installation and a repository of its own.
 */
import type { OperatingError } from '../../actors/runtime/operatingError.ts';
import { type Closing, close } from '../demo/closing.ts';
import { withComplaints } from '../demo/diagnosis.ts';
import { outputClosed, unlessAborted } from '../demo/interruption.ts';
import { made } from '../demo/repository.ts';
import type { Stage } from '../demo/stage.ts';
import { stageFor } from '../demo/staging.ts';
import { failureOf, usage } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import { Output } from '../output.ts';
import { type Drill, placeFor } from './drill.ts';
import { daemonDrills } from './drills/daemonDies.ts';
import { escapeeDrills } from './drills/escapee.ts';
import { deletionDrills } from './drills/safeToDelete.ts';
import { stopDrills } from './drills/stopAnywhere.ts';
import { terminalDrills } from './drills/terminals.ts';
import { type DrillReport, type DrillResult, drillLines } from './report.ts';
import { within } from './within.ts';

export const drills: readonly Drill[] = [
  ...escapeeDrills,
  ...daemonDrills,
  ...deletionDrills,
  ...terminalDrills,
  ...stopDrills,
];

export interface DrillOptions {
  /** The drills whose names begin so, in whatever case; without it all. */
  readonly name?: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly keep: boolean;
}

/** Each takes seconds; what takes longer has failed, and nobody waits for it any more. */
const drillMs = 90_000;
const allMs = 600_000;

/** Returns the exit status: 1 when a drill fails. Throws what keeps them from being tried, after cleaning up. */
export async function runDrills({ name, keep, ...options }: DrillOptions): Promise<number> {
  const chosen = drills.filter((drill) => drill.name.toLowerCase().startsWith((name ?? '').toLowerCase()));
  if (chosen.length === 0)
    throw usage(`there is no drill ${JSON.stringify(name)}: ${drills.map((drill) => drill.name).join(', ')}`, [
      'custody drill',
    ]);
  const output = new Output(options);
  const stage = stageFor(output, { what: 'the drill', name: 'drill' });
  stage.interruption.expireAfter(allMs);
  const tried = await attempted(stage, chosen);
  stage.interruption.end();
  const closing = await close(stage, { keep, hostPid: undefined });
  if (tried.failure !== undefined) {
    if (tried.failure.code === outputClosed) return 0;
    throw tried.failure;
  }
  return answered(output, tried.results, closing);
}

function answered(output: Output, results: readonly DrillResult[], { directory, removed }: Closing): number {
  const report: DrillReport = { passed: results.every(({ ok }) => ok), drills: results, directory, removed };
  const answer = localAnswer('drill', report, report.passed ? 0 : 1);
  return output.answer(answer, drillLines, (data) => data.drills.filter(({ ok }) => !ok).map((drill) => drill.name));
}

type Attempted =
  | { readonly results: readonly DrillResult[]; readonly failure?: undefined }
  | { readonly failure: OperatingError };

async function attempted(stage: Stage, chosen: readonly Drill[]): Promise<Attempted> {
  const { scratch, installation, narrator, interruption } = stage;
  try {
    narrator.heading(`Drills in ${scratch.dir}`);
    const repository = await made({ scratch, signal: interruption.signal });
    scratch.enter();
    narrator.waiting('checking this host');
    await installation.init();
    await installation.start();
    const results: DrillResult[] = [];
    for (const drill of chosen) results.push(await tried(stage, drill, repository));
    return { results };
  } catch (cause) {
    return { failure: withComplaints(cause, scratch) };
  }
}

/** A drill that fails is told with what was seen, and the next one is tried all the same. */
async function tried(stage: Stage, { name, title, run }: Drill, repository: string): Promise<DrillResult> {
  const { narrator, scratch, interruption } = stage;
  const startedAt = performance.now();
  const ms = (): number => Math.round(performance.now() - startedAt);
  narrator.waiting(`${name}: ${title}`);
  try {
    const drilling = { ...stage, repository, file: placeFor(scratch.desk, name) };
    const observed = await within(drillMs, unlessAborted(run(drilling), interruption.signal));
    narrator.good(name, `${title} (${ms()} ms)`);
    return { name, title, ok: true, observed, ms: ms() };
  } catch (cause) {
    interruption.signal.throwIfAborted();
    const { code, message } = failureOf(cause);
    narrator.warning(name, `FAILED: ${title}: ${message} (${code})`);
    return { name, title, ok: false, observed: [`${message} (${code})`], ms: ms() };
  }
}
