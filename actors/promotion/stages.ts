/** The stages of a repository, and what the next one needs (PROMO-02, PROMO-04, PROMO-08). */
import type { Budget } from '../../persistence/tables/budgets.ts';
import { type Stage, stages } from '../../persistence/tables/promotions.ts';
import type { Readiness } from './acceptance.ts';
import { budgetDefinitions } from './budgetDefinitions.ts';
import { boundOf, type GateDimension, measureCommand } from './gate.ts';

export interface Prerequisite {
  readonly code: string;
  readonly detail: string;
  readonly next: readonly string[];
}

/** How the worktrees of the repository stand. */
export interface UnitStanding {
  /** Of somebody else, and only watched. */
  readonly watched: readonly string[];
  readonly controlled: readonly string[];
  /** Controlled ones in which work has run, all of it settled with proof. */
  readonly proved: readonly string[];
  /** Of somebody else, with runs that nobody saw end. */
  readonly unresolved: readonly { readonly generationId: string; readonly controller: string; readonly runs: number }[];
  /** Nobody can tell of which repository they are. */
  readonly damaged: readonly string[];
}

export interface StageEvidence {
  readonly standing: UnitStanding;
  readonly dimensions: readonly GateDimension[];
  readonly readiness: Readiness;
  readonly budgets: readonly Budget[];
}

export const orderOf = (stage: Stage): number => stages.indexOf(stage);

export const nextStage = (stage: Stage): Stage | undefined => stages[orderOf(stage) + 1];

/** Whether this program may take control of worktrees that somebody selects. */
export const grantsControl = (stage: Stage): boolean => orderOf(stage) >= orderOf('canary');

/** Everything that keeps the repository from the stage; empty where nothing does. */
export function prerequisites(to: Stage, evidence: StageEvidence): readonly Prerequisite[] {
  switch (to) {
    case 'tracking':
      return [];
    case 'comparing':
      return watchedLack(evidence);
    case 'canary':
      return gateLacks(evidence);
    case 'wide':
      return [...gateLacks(evidence), ...provedLack(evidence)];
    case 'sole':
      return [...gateLacks(evidence), ...provedLack(evidence), ...legacyLacks(evidence)];
  }
}

/** A comparison needs something that is watched. */
function watchedLack({ standing: { watched, controlled } }: StageEvidence): Prerequisite[] {
  if (watched.length + controlled.length > 0) return [];
  const detail = 'no worktree of this repository is known, so there is nothing to compare';
  return [{ code: 'nothing_watched', detail, next: ['custody worktrees register PATH', 'custody note --help'] }];
}

const gateLacks = ({ budgets, readiness, dimensions }: StageEvidence): Prerequisite[] => [
  ...budgetDefinitions
    .filter(({ name }) => boundOf(budgets, name) === undefined)
    .map(({ name }) => ({
      code: 'no_budget',
      detail: `${name} has no budget`,
      next: [measureCommand, `custody promote budgets --set ${name}=VALUE`],
    })),
  ...readiness.lacks.map(({ detail, next }) => ({ code: 'not_ready', detail, next })),
  ...dimensions.flatMap(({ dimension, verdict, checks }): Prerequisite[] => {
    if (verdict === 'green') return [];
    const open = checks.filter((one) => one.verdict !== 'green');
    return [
      {
        code: `gate_${dimension}`,
        detail: `${dimension} is ${verdict}: ${open.map(({ check, detail }) => `${check} (${detail})`).join(', ')}`,
        next: [...new Set(open.flatMap(({ next }) => next))],
      },
    ];
  }),
];

function provedLack({ standing: { proved } }: StageEvidence): Prerequisite[] {
  if (proved.length > 0) return [];
  const detail = 'no worktree under control has seen work through to a proved end yet';
  return [{ code: 'no_canary_work', detail, next: ['custody worktrees add GOAL', 'custody runs exec GOAL -- CMD...'] }];
}

/** What others launched has to be over before there is no other. */
const legacyLacks = ({ standing: { unresolved } }: StageEvidence): Prerequisite[] =>
  unresolved.map(({ generationId, controller, runs }) => ({
    code: 'legacy_unresolved',
    detail: `${controller} controls ${generationId}, where ${runs} ${runs === 1 ? 'run has' : 'runs have'} not ended`,
    next: [`custody worktrees show ${generationId}`],
  }));
