/**
 * The stage of a repository, and its changes (PROMO-04). A stage says what may be asked for; it never moves control of a
 * worktree, in neither direction (PROMO-05).
 */
import { randomUUID } from 'node:crypto';
import type { Promotion, PromotionUnit, Stage } from '../../../persistence/tables/promotions.ts';
import { grantsControl, nextStage, orderOf, type Prerequisite, prerequisites } from '../../promotion/stages.ts';
import { derivedId } from '../../runtime/derivedIds.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { PromotionView } from '../api/promotionViews.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { type Gate, gateOf, reportOf } from '../promotion/gateReport.ts';
import { stageOf, unitAt } from '../promotion/units.ts';
import { requestKey, reusedRequest } from './requestIds.ts';

const by = 'operator';

export async function showPromotion(
  context: DaemonContext,
  { path }: ParsedArguments<'promote.show'>,
): Promise<Answer<PromotionView>> {
  const unit = unitAt(context, path);
  return { data: viewOf(context, unit, gateOf(context, unit)) };
}

function viewOf({ store }: DaemonContext, unit: PromotionUnit, gate: Gate): PromotionView {
  const known = store.promotions.find(unit.commonGitDir);
  const stage = stageOf(known);
  const next = nextStage(stage);
  const { verdict, dimensions, readiness, standing, agreement } = gate;
  return {
    ...unit,
    stage,
    isSet: known !== undefined,
    version: known?.version ?? 0,
    gate: { verdict, dimensions },
    next: next === undefined ? null : { stage: next, lacks: prerequisites(next, gate) },
    readiness,
    worktrees: standing,
    comparison: agreement,
    history: store.promotions.changes(unit.unitId),
  };
}

type Args = ParsedArguments<'promote.to'>;
type Result = Answer<CallResults['promote.to']>;

/**
 * Throws `promotion_refused` or `preconditions_unmet` (exit 13), `version_conflict` (exit 11). Done with exit 5 where the
 * stage went back and worktrees stay under control until they are handed off.
 */
export async function promote(context: DaemonContext, args: Args): Promise<Result> {
  const { store } = context;
  const unit = unitAt(context, args.path);
  const { requestId } = requestKey(store.installationId, 'promote.to', args.requestId);
  const done = store.promotions.changeOfRequest(requestId);
  if (done !== undefined) {
    if (done.unitId !== unit.unitId || done.to !== args.to) throw reusedRequest(requestId);
    return answer(context, { unit, from: done.from, to: done.to, reportId: done.reportId, dryRun: false });
  }
  const known = store.promotions.find(unit.commonGitDir);
  if (args.expectVersion !== undefined && args.expectVersion !== (known?.version ?? 0)) throw conflict(unit);
  const move: Move = { unit, known, to: args.to, requestId };
  return orderOf(args.to) > orderOf(stageOf(known)) ? forward(context, move, args) : back(context, move, args);
}

interface Move {
  readonly unit: PromotionUnit;
  readonly known: Promotion | undefined;
  readonly to: Stage;
  readonly requestId: string;
}

function forward(context: DaemonContext, move: Move, { dryRun }: Args): Result {
  const { store, clock } = context;
  const { unit, known, to } = move;
  const from = stageOf(known);
  const gate = gateOf(context, unit);
  const lacks = orderOf(to) === orderOf(from) + 1 ? prerequisites(to, gate) : [skipped(from, to)];
  const [first] = lacks;
  if (dryRun) {
    if (first !== undefined) throw refused(move, lacks, null);
    return answer(context, { unit, from, to, reportId: null, dryRun });
  }
  const { installationId } = store;
  const reportId = derivedId<string>({ letter: 'Y', digits: 10, of: [installationId, unit.unitId, randomUUID()] });
  const report = reportOf(context, gate, { unit, known, to });
  const { unitId } = unit;
  const { verdict } = gate;
  const { wallMs } = clock.now();
  store.write(() => {
    const digest = store.gateReports.insert({ reportId, unitId, verdict, wallMs, report });
    if (first === undefined) change(context, move, { reportId, reportDigest: digest });
  });
  if (first !== undefined) throw refused(move, lacks, reportId);
  return answer(context, { unit, from, to, reportId, dryRun });
}

/** May always be asked for, over any number of stages; it also sets a stage for the first time. */
function back(context: DaemonContext, move: Move, { dryRun }: Args): Result {
  const { unit, known, to } = move;
  const from = stageOf(known);
  if (known !== undefined && from === to)
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: `${JSON.stringify(unit.path)} is in stage ${to} already`,
      exitCode: 13,
      next: [`custody promote --repo ${JSON.stringify(unit.path)}`],
    });
  if (!dryRun) context.store.write(() => change(context, move, { reportId: null, reportDigest: null }));
  return answer(context, { unit, from, to, reportId: null, dryRun });
}

/** Inside a transaction. Of two that were decided on the same version one is too late. */
function change(
  { store, clock }: DaemonContext,
  { unit, known, to, requestId }: Move,
  report: { readonly reportId: string | null; readonly reportDigest: string | null },
): void {
  const version = (known?.version ?? 0) + 1;
  const { wallMs } = clock.now();
  const done = store.promotions.change(unit, { version, from: stageOf(known), to, by, wallMs, requestId, ...report });
  if (!done) throw conflict(unit);
}

function answer(
  context: DaemonContext,
  { unit, ...change }: Omit<CallResults['promote.to'], keyof PromotionView> & { readonly unit: PromotionUnit },
): Result {
  const view = viewOf(context, unit, gateOf(context, unit));
  const data = { ...view, ...change };
  const { controlled } = view.worktrees;
  const isWayBack = orderOf(change.to) < orderOf(change.from) && !grantsControl(change.to);
  if (!isWayBack || controlled.length === 0) return { data };
  const warnings = controlled.map(
    (id) => `${id} stays under control until it is handed off: custody worktrees authority ${id} handoff --to legacy`,
  );
  return { data, warnings, exitCode: 5 };
}

const skipped = (from: Stage, to: Stage): Prerequisite => ({
  code: 'one_at_a_time',
  detail: `${to} does not follow ${from}; ${nextStage(from)} does`,
  next: [`custody promote --to ${nextStage(from)}`],
});

function refused({ unit, to }: Move, lacks: readonly Prerequisite[], reportId: string | null): OperatingError {
  const [first] = lacks;
  const more = lacks.length > 1 ? ` (and ${lacks.length - 1} more)` : '';
  return new OperatingError({
    code: 'promotion_refused',
    message: `${JSON.stringify(unit.path)} is not promoted to ${to}: ${first?.detail}${more}`,
    exitCode: 13,
    next: [...new Set(lacks.flatMap(({ next }) => next))],
    details: { blockers: lacks, ...(reportId === null ? {} : { reportId }) },
  });
}

const conflict = ({ path }: PromotionUnit): OperatingError =>
  new OperatingError({
    code: 'version_conflict',
    message: `${JSON.stringify(path)}: its stage has changed meanwhile`,
    exitCode: 11,
    next: [`custody promote --repo ${JSON.stringify(path)}`],
  });
