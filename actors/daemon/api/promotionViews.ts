/** What promotion shows: the stage of a repository, what its next one needs, budgets, and comparisons. */
import type { Comparison } from '../../../persistence/tables/comparisons.ts';
import type { PromotionChange, Stage } from '../../../persistence/tables/promotions.ts';
import type { Readiness } from '../../promotion/acceptance.ts';
import type { Agreement } from '../../promotion/comparison.ts';
import type { GateDimension, GateVerdict } from '../../promotion/gate.ts';
import type { Prerequisite, UnitStanding } from '../../promotion/stages.ts';

export interface PromotionView {
  readonly unitId: string;
  readonly path: string;
  readonly commonGitDir: string;
  readonly stage: Stage;
  /** Whether anybody has set the stage; `tracking` is where every repository begins. */
  readonly isSet: boolean;
  /** Counts the changes; a change may name the one that it was decided on. 0 while nobody has set it. */
  readonly version: number;
  readonly gate: { readonly verdict: GateVerdict; readonly dimensions: readonly GateDimension[] };
  /** The stage after this one, and everything that keeps the repository from it; null in the last. */
  readonly next: { readonly stage: Stage; readonly lacks: readonly Prerequisite[] } | null;
  /** Whether anybody may call it ready for active use on this host (PROMO-08). */
  readonly readiness: Readiness;
  readonly worktrees: UnitStanding;
  readonly comparison: Agreement;
  readonly history: readonly PromotionChange[];
}

export interface PromotionChangeView extends PromotionView {
  readonly dryRun: boolean;
  readonly from: Stage;
  readonly to: Stage;
  /** The report that was made for it, to be cited as evidence; null for the way back, and for a dry run. */
  readonly reportId: string | null;
}

export interface BudgetView {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** Null while it has to be measured or set first. */
  readonly value: number | null;
  /** `initial`: nobody has set it. */
  readonly origin: 'initial' | 'measured' | 'by_hand' | null;
  readonly setWallMs: number | null;
  readonly measured: unknown;
}

export interface ComparedView extends Comparison {
  /** What its launcher calls the run; null where nobody told. */
  readonly launcher: string | null;
}

export interface ComparingView {
  /** Lines about runs that are not known here, or belong to another repository. */
  readonly unknown: readonly string[];
  readonly taken: number;
  readonly comparison: Agreement;
  /** Those that are not decided first; at most 100. */
  readonly disagreements: readonly ComparedView[];
}

export interface AcceptanceView {
  readonly digest: string;
  readonly readiness: Readiness;
}
