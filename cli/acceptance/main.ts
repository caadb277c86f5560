/**
 * The acceptance run behind `custody acceptance`: the failure matrix and the four verifications, tried with the shipped program
 * on this very machine, in a scratch directory with an installation and a repository of its own (PROMO-08).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname } from 'node:path';
import type { AcceptanceReport } from '../../actors/promotion/acceptanceReport.ts';
import { programDigest } from '../../actors/promotion/programDigest.ts';
import type { OperatingError } from '../../actors/runtime/operatingError.ts';
import type { Places } from '../../actors/runtime/places.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { close } from '../demo/closing.ts';
import { toolMissing } from '../demo/command.ts';
import { withComplaints } from '../demo/diagnosis.ts';
import { outputClosed, unlessAborted } from '../demo/interruption.ts';
import { made } from '../demo/repository.ts';
import type { Stage } from '../demo/stage.ts';
import { stageFor } from '../demo/staging.ts';
import { missing } from '../demo/witness.ts';
import { placeFor } from '../drill/drill.ts';
import { within } from '../drill/within.ts';
import { failureOf, usage } from '../failure.ts';
import { localAnswer } from '../invocation.ts';
import { Output } from '../output.ts';
import { ownProgram } from '../spelling.ts';
import { version } from '../version.ts';
import { faults, verified } from './matrix.ts';
import { createRandom } from './random.ts';
import { offered, record } from './record.ts';
import { acceptanceLines, exitCodeOf, failedRows, type Outcome, type Outcomes, reportOf } from './report.ts';
import { type Row, type Trying, verdictOf } from './row.ts';
import { lanes } from './rows.ts';

export interface AcceptanceOptions {
  /** The rows whose ids begin so, in whatever case; without it all. */
  readonly name?: string;
  readonly kills: number;
  readonly seed: number;
  /** Offer the report to the installation at these places. */
  readonly recordAt?: Places;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly keep: boolean;
}

/** Without kills a row takes seconds; a kill with what is looked at and repeated afterwards takes one or two. */
const rowMs = 240_000;
const allMs = 900_000;
const killMs = 10_000;

const tools = ['git', 'sh', 'setsid', 'sleep', 'timeout', 'head', 'cat', 'grep', 'ls'] as const;

/** Returns the exit status: 1 when a row fails. Throws what keeps the rows from being tried, after cleaning up. */
export async function runAcceptance({ name = '', keep, ...options }: AcceptanceOptions): Promise<number> {
  const isChosen = ({ id }: Row): boolean => id.toLowerCase().startsWith(name.toLowerCase());
  const chosen = lanes.map((lane) => lane.filter(isChosen));
  if (chosen.flat().length === 0) throw unknownRow(name);
  const tool = await missing(tools);
  if (tool !== undefined) throw toolMissing(tool);
  const output = new Output(options);
  const stage = stageFor(output, { what: 'the acceptance run', name: 'acceptance' });
  stage.interruption.expireAfter(allMs + killMs * options.kills);
  const tried = await attempted(stage, chosen, options);
  stage.interruption.end();
  await close(stage, { keep, hostPid: undefined });
  if ('failure' in tried) {
    if (tried.failure.code === outputClosed) return 0;
    throw tried.failure;
  }
  return answered(output, await reported(tried.outcomes), options.recordAt);
}

const unknownRow = (name: string): OperatingError => {
  const known = [...faults, ...verified].map(({ id }) => id).join(', ');
  return usage(`there is no row ${JSON.stringify(name)}: ${known}`, ['custody acceptance']);
};

async function answered(output: Output, report: AcceptanceReport, recordAt: Places | undefined): Promise<number> {
  const offer = recordAt === undefined ? undefined : await offered(record(recordAt, report));
  const { warnings, exitCode } = offer ?? { warnings: [], exitCode: 0 };
  const answer = localAnswer('acceptance', report, exitCodeOf(report) || exitCode);
  const status = output.answer({ ...answer, warnings }, acceptanceLines, (data) =>
    failedRows(data).map(({ id }) => id),
  );
  if (offer?.isRecorded) output.note('recorded: custody promote asks for it');
  return status;
}

async function reported(outcomes: Outcomes): Promise<AcceptanceReport> {
  const program = { version, digest: programDigest(dirname(ownProgram())) };
  const host = { kernel: release(), guardianDigest: guardianDigest(await guardianBinary()) };
  return reportOf({ program, host, endedWallMs: Date.now() }, outcomes);
}

/** A checkpoint of the journal goes as far as it ever could. */
const config = { journalAgeHours: 0, journalNewestEvents: 1 };

type Attempted = { readonly outcomes: Outcomes } | { readonly failure: OperatingError };

async function attempted(
  stage: Stage,
  chosen: readonly (readonly Row[])[],
  { kills, seed }: Pick<AcceptanceOptions, 'kills' | 'seed'>,
): Promise<Attempted> {
  const { scratch, installation, narrator, interruption } = stage;
  try {
    narrator.heading(`Acceptance in ${scratch.dir}`);
    const repository = await made({ scratch, signal: interruption.signal });
    scratch.enter();
    mkdirSync(dirname(scratch.places.configFile), { recursive: true });
    writeFileSync(scratch.places.configFile, JSON.stringify(config));
    narrator.waiting('checking this host');
    await installation.init();
    await installation.start();
    const outcomes = new Map<string, Outcome>([...faults, ...verified].map(({ id }) => [id, 'not_asked']));
    const common = { ...stage, repository, kills };
    const ended = await Promise.allSettled(
      chosen.map(async (lane) => {
        for (const row of lane) {
          const own = { file: placeFor(scratch.desk, row.id), random: createRandom(seed) };
          outcomes.set(row.id, await tried(stage, row, { ...common, ...own }));
        }
      }),
    );
    for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
    return { outcomes };
  } catch (cause) {
    return { failure: withComplaints(cause, scratch) };
  }
}

/** A row that fails is told, and the next one is tried all the same. */
async function tried(
  { narrator, interruption }: Stage,
  { id, run }: Row,
  trying: Omit<Trying, 'atEnd'>,
): Promise<Outcome> {
  const startedAt = performance.now();
  const undoing: (() => unknown)[] = [];
  narrator.waiting(id);
  try {
    const work = run({ ...trying, atEnd: (undo) => undoing.unshift(undo) });
    const judgement = await within(rowMs + killMs * trying.kills, unlessAborted(work, interruption.signal));
    const verdict = verdictOf(judgement);
    const took = `${verdict.replace('_', ' ')} (${Math.round(performance.now() - startedAt)} ms)`;
    if (verdict === 'passed') narrator.good(id, took);
    else narrator.warning(id, took);
    return judgement;
  } catch (cause) {
    interruption.signal.throwIfAborted();
    const { code, message } = failureOf(cause);
    narrator.warning(id, `not seen through: ${message} (${code})`);
    return { code };
  } finally {
    for (const undo of undoing) await Promise.resolve(undo()).catch(() => undefined);
  }
}
