/**
 * Whether the stage of a repository lets control of one of its worktrees be taken (PROMO-04). A repository of which nobody
 * has set a stage is one where nobody else is known to work; what this program makes there is its own (ruling 15).
 */
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { isNewGeneration } from '../../../machines/worktreeGenerationBlockers.ts';
import { grantsControl } from '../../promotion/stages.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { DaemonContext } from '../context.ts';
import { type GateReport, triedHere } from './gateReport.ts';
import { promotionOf, stageOf } from './units.ts';

type Parts = Pick<DaemonContext, 'host' | 'store'>;
type Granting = Parts & Pick<DaemonContext, 'guardian' | 'worker'>;

interface Blocker {
  readonly code: string;
  readonly detail: string;
}

/** Throws `grant_refused` (exit 13), which lists everything that is missing. */
export function assertGrantable(parts: Granting, generation: GenerationSnapshot, evidence: readonly string[]): void {
  const { generationId, path } = generation.context;
  const promotion = promotionOf(parts, generation);
  const blockers: Blocker[] = [];
  if (!isNewGeneration(generation.context))
    blockers.push({ code: 'has_history', detail: 'it was not made here, or something has happened in it already' });
  const stage = stageOf(promotion);
  if (!grantsControl(stage))
    blockers.push({
      code: 'stage_too_early',
      detail: `its repository is in stage ${stage}; control begins with canary`,
    });
  blockers.push(...reportBlockers(parts, promotion?.unitId, evidence));
  const [first] = blockers;
  if (first === undefined) return;
  const more = blockers.length > 1 ? ` (and ${blockers.length - 1} more)` : '';
  throw new OperatingError({
    code: 'grant_refused',
    message: `control of ${generationId} is not granted: ${first.detail}${more}`,
    exitCode: 13,
    next: [`custody promote --repo ${JSON.stringify(path)}`, `custody worktrees show ${generationId}`],
    details: { blockers },
  });
}

/** What a grant rests on is the id of one gate report: green, of this repository and this program, and not overtaken by a worse one. */
function reportBlockers(parts: Granting, unitId: string | undefined, evidence: readonly string[]): Blocker[] {
  const { store } = parts;
  const [reportId, second] = evidence;
  if (reportId === undefined) return [{ code: 'no_gate_report', detail: 'no gate report is named with --evidence' }];
  if (second !== undefined)
    return [{ code: 'no_gate_report', detail: 'a grant rests on one gate report, not on several' }];
  const report = store.gateReports.find(reportId);
  if (report === undefined)
    return [{ code: 'no_gate_report', detail: `there is no gate report ${JSON.stringify(reportId)}` }];
  if (!report.intact)
    return [{ code: 'gate_report_damaged', detail: `the record of gate report ${reportId} is damaged` }];
  if (report.unitId !== unitId)
    return [{ code: 'gate_report_of_other', detail: `gate report ${reportId} is about another repository` }];
  if (report.verdict !== 'green')
    return [{ code: 'gate_report_not_green', detail: `gate report ${reportId} is ${report.verdict}` }];
  if ((report.report as GateReport).program !== triedHere(parts).programDigest)
    return [{ code: 'gate_report_outdated', detail: `gate report ${reportId} is about another version of Custody` }];
  const newest = store.gateReports.newest(report.unitId) ?? report;
  if (newest.intact && newest.verdict === 'green') return [];
  const how = newest.intact ? newest.verdict : 'damaged';
  return [{ code: 'gate_report_overtaken', detail: `a later gate report, ${newest.reportId}, is ${how}` }];
}

/** What keeps a worktree that exists from being taken over: before `wide`, only new ones are (PROMO-04). */
export function migrationStageBlocker(parts: Parts, generation: GenerationSnapshot): Blocker[] {
  const promotion = promotionOf(parts, generation);
  if (promotion === undefined || promotion.stage === 'wide' || promotion.stage === 'sole') return [];
  const detail = `its repository is in stage ${promotion.stage}; worktrees that exist are taken over from wide on`;
  return [{ code: 'stage_too_early', detail }];
}

/** Throws `stage_too_early` (exit 13): while a repository is only watched, no worktree is made in it (PROMO-02). */
export function assertMayMakeWorktrees({ store }: Pick<Parts, 'store'>, commonGitDir: string): void {
  const promotion = store.promotions.find(commonGitDir);
  if (promotion === undefined || grantsControl(promotion.stage)) return;
  throw new OperatingError({
    code: 'stage_too_early',
    message: `the repository is in stage ${promotion.stage}, in which no worktree is made in it`,
    exitCode: 13,
    next: [`custody promote --repo ${JSON.stringify(promotion.path)}`],
    details: { stage: promotion.stage },
  });
}
