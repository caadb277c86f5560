/** Compares what another system says of runs with what was derived here, and records who was right (PROMO-03). */

import { parseLauncherName } from '../../../machines/launcherNames.ts';
import type { Comparison, ComparisonCount } from '../../../persistence/tables/comparisons.ts';
import type { PromotionUnit } from '../../../persistence/tables/promotions.ts';
import { launcherNameOf, runsNamed } from '../../ingest/namedRuns.ts';
import { agreementOf, derivedAt, judge, type RunOutcome, type Told, truthAt } from '../../promotion/comparison.ts';
import { orderOf } from '../../promotion/stages.ts';
import { intact } from '../../runtime/actorAccess.ts';
import { derivedId } from '../../runtime/derivedIds.ts';
import { ambiguousId, notFound, OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { ComparedView } from '../api/promotionViews.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { factsOf, type KnownRun } from '../promotion/derivedFacts.ts';
import { comparingRound } from '../promotion/gateReport.ts';
import { belongsTo, stageOf, unitAt } from '../promotion/units.ts';

type Line = ParsedArguments<'promote.compare'>['outcomes'][number];

const shownDisagreements = 100;
/** More in one round say that two systems speak of different things; none may be dropped, because each counts. */
const disagreementsAtMost = 10_000;

const isAgreement = ({ verdict }: Pick<Comparison, 'verdict'>): boolean =>
  verdict === 'agreed' || verdict === 'not_comparable';

/** Throws `comparisons_full` (exit 13) before anything is recorded. */
function assertRoom(counts: readonly ComparisonCount[], found: readonly Comparison[]): void {
  const known = counts.filter((one) => !isAgreement(one)).reduce((sum, { count }) => sum + count, 0);
  if (known + found.filter((one) => !isAgreement(one)).length <= disagreementsAtMost) return;
  throw new OperatingError({
    code: 'comparisons_full',
    message: `${known} disagreements are on record; ${disagreementsAtMost} in one comparing are too many to decide anything`,
    exitCode: 13,
    next: ['custody promote compare', 'custody promote --to tracking', 'custody promote --to comparing'],
  });
}

/** Without outcomes it only tells what was compared so far. Throws `stage_too_early` (exit 13). */
export async function compareOutcomes(
  context: DaemonContext,
  { path, outcomes, verified }: ParsedArguments<'promote.compare'>,
): Promise<Answer<CallResults['promote.compare']>> {
  const { store, clock } = context;
  const unit = unitAt(context, path);
  const of = { unitId: unit.unitId, round: roundOf(context, unit) };
  const truths = byRun(context, verified);
  const unknown: string[] = [];
  const { wallMs } = clock.now();
  const found = outcomes.flatMap((line): Comparison[] => {
    const runId = runOf(context, line);
    const facts = runId === undefined ? undefined : factsIn(context, unit, runId);
    if (runId === undefined || facts === undefined) {
      unknown.push(line.producer === undefined ? line.run : `${line.producer}:${line.run}`);
      return [];
    }
    return [comparisonOf({ ...of, runId, line, facts, verified: truths.get(runId), wallMs })];
  });
  assertRoom(store.comparisons.counts(of), found);
  store.write(() => {
    for (const one of found) store.comparisons.put(withTriage(store.comparisons.find(one.comparisonId), one));
    store.comparisons.trim(of);
  });
  const comparison = agreementOf(store.comparisons.counts(of));
  const disagreements = store.comparisons.disagreements(of, shownDisagreements).map((one) => named(context, one));
  return { data: { unknown, taken: found.length, comparison, disagreements } };
}

function roundOf({ store }: DaemonContext, unit: PromotionUnit): number {
  const stage = stageOf(store.promotions.find(unit.commonGitDir));
  if (orderOf(stage) >= orderOf('comparing')) return comparingRound(store.promotions.changes(unit.unitId));
  throw new OperatingError({
    code: 'stage_too_early',
    message: `${JSON.stringify(unit.path)} is in stage ${stage}; outcomes are compared from comparing on`,
    exitCode: 13,
    next: [`custody promote --repo ${JSON.stringify(unit.path)} --to comparing`],
  });
}

/** An id of ours, or a launcher's own name; one that two runs go by says nothing of either. */
function runOf({ host, store }: DaemonContext, { run, producer }: Line): string | undefined {
  const name = producer === undefined ? parseLauncherName(run) : { producer, run };
  if (name === undefined) return host.versionOf('run', run) === undefined ? undefined : run;
  const [only, second] = runsNamed(store, name);
  return second === undefined ? only : undefined;
}

/** Whoever told of it knows it by this name and not by ours. */
function named({ host }: DaemonContext, one: Comparison): ComparedView {
  const run = intact(host, 'run', one.runId);
  return { ...one, launcher: run === undefined || run === 'corrupt' ? null : launcherNameOf(run.context) };
}

/** Undefined for a run of another repository, one that was never placed, and one whose record is damaged. */
function factsIn(context: DaemonContext, unit: PromotionUnit, runId: string): KnownRun | undefined {
  const run = intact(context.host, 'run', runId);
  if (run === undefined || run === 'corrupt' || run.context.generationId === null) return undefined;
  const generation = intact(context.host, 'worktreeGeneration', run.context.generationId);
  if (generation === undefined || generation === 'corrupt') return undefined;
  return belongsTo(context, generation, unit.commonGitDir) ? factsOf(context, run) : undefined;
}

/** The newest statement about each run. */
function byRun(context: DaemonContext, lines: readonly Line[]): ReadonlyMap<string, Told> {
  const newest = new Map<string, Told>();
  for (const line of lines) {
    const runId = runOf(context, line);
    if (runId !== undefined && line.atMs >= (newest.get(runId)?.atMs ?? 0)) newest.set(runId, line);
  }
  return newest;
}

interface ToCompare {
  readonly unitId: string;
  readonly round: number;
  readonly runId: string;
  readonly line: Line;
  readonly facts: KnownRun;
  readonly verified: Told | undefined;
  readonly wallMs: number;
}

function comparisonOf({ unitId, round, runId, line, facts, verified, wallMs }: ToCompare): Comparison {
  const { outcome: theirs, atMs } = line;
  const known = truthOf(facts, line, verified);
  // Whoever says that it was over is refuted by its running later, and so are we if we had seen it end by then.
  const isRefuted = known?.source === 'verified_file' && known.truth === 'running' && theirs !== 'running';
  const moment = isRefuted && verified !== undefined ? verified : line;
  const ours = derivedAt(facts, moment);
  const { truth = null, source: truthSource = null } = known ?? {};
  const name = [unitId, String(round), runId, theirs, String(atMs)];
  return {
    comparisonId: derivedId({ letter: 'D', digits: 12, of: name }),
    ...{ unitId, round, runId, ours, theirs, truth, truthSource, toldWallMs: atMs, comparedWallMs: wallMs },
    ...judge({ ours, theirs, truth }),
    ...{ triagedBy: null, triagedWallMs: null, note: null },
  };
}

interface Truth {
  readonly truth: RunOutcome;
  readonly source: NonNullable<Comparison['truthSource']>;
}

/** A receipt of the guardian comes before what somebody else has verified. */
function truthOf(facts: KnownRun, line: Line, verified: Told | undefined): Truth | undefined {
  if (facts.hasReceipt) {
    const truth = derivedAt(facts, line);
    if (truth !== 'unknown') return { truth, source: 'guardian_receipt' };
  }
  const truth = verified && truthAt(verified, line);
  return truth && { truth, source: 'verified_file' };
}

/** What a person has decided stands for as long as both sides say the same and nothing was verified. */
function withTriage(before: Comparison | undefined, now: Comparison): Comparison {
  if (before === undefined || before.triagedBy === null) return now;
  const isSame = before.ours === now.ours && before.truth === now.truth;
  if (!isSame || now.verdict !== 'undecided') return now;
  const { verdict, triagedBy, triagedWallMs, note } = before;
  return { ...now, verdict, triagedBy, triagedWallMs, note };
}

/**
 * The id may be any unambiguous beginning. Throws `not_found` (exit 3), `ambiguous_id` (exit 2), and `preconditions_unmet`
 * (exit 13) where there is nothing to decide.
 */
export async function triageDisagreement(
  context: DaemonContext,
  { id: typed, verdict, note }: ParsedArguments<'promote.triage'>,
): Promise<Answer<ComparedView>> {
  const { store, clock } = context;
  const found = disagreementOf(store, typed);
  const { comparisonId: id } = found;
  if (found.triagedBy === null && found.verdict !== 'undecided')
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: `there is nothing to decide about ${id}: it is ${found.verdict}`,
      exitCode: 13,
      next: ['custody promote compare'],
    });
  const { wallMs } = clock.now();
  store.write(() => store.comparisons.triage({ comparisonId: id, verdict, by: 'operator', wallMs, note }));
  return { data: named(context, store.comparisons.find(id) as Comparison) };
}

function disagreementOf({ comparisons }: DaemonContext['store'], typed: string): Comparison {
  const exact = comparisons.find(typed);
  if (exact !== undefined) return exact;
  const matches = comparisons.idsStartingWith(typed, 9);
  if (matches.length > 1) throw ambiguousId(typed, matches);
  const found = matches[0] === undefined ? undefined : comparisons.find(matches[0]);
  if (found === undefined) throw notFound('disagreement', typed);
  return found;
}
