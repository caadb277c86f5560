/** What the scope of Custody's own work is requested with: no run, no Goal, and so no slot (ruling 25). */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Recipe, recipeDigest } from './recipe.ts';

export interface OwnWork {
  readonly scopeId: ScopeId;
  /** Shown to people; names no argument. */
  readonly purpose: string;
  readonly recipe: Recipe;
}

export const effectScope = (
  { config }: Pick<Runtime, 'config'>,
  { scopeId, purpose, recipe }: OwnWork,
): Payload<'scope.requested'> => ({
  scopeId,
  runId: null,
  generationId: null,
  parentScopeId: null,
  kind: 'effect',
  goalId: null,
  occurrence: null,
  nodeId: null,
  recipeDigest: recipeDigest(recipe),
  onRootExit: 'terminate',
  graceMs: config.graceMs,
  budgetMs: config.drainBudgetMs,
  purpose,
});
