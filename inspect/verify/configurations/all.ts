/** Every configuration, the small ones first. */
import type { AnyConfiguration } from '../model.ts';
import { generationSeal } from './generationSeal.ts';
import { goalAndScope, goalIntegration, goalWorkflow } from './goalWorkflow.ts';
import { nestedScopes } from './nestedScopes.ts';
import { observedRun } from './observedRun.ts';
import { runAndScope, waitingRun } from './runAndScope.ts';
import { session, unrecordedSession } from './session.ts';
import { workerReplacement } from './workerReplacement.ts';

export const configurations: readonly AnyConfiguration[] = [
  goalAndScope,
  observedRun,
  nestedScopes,
  unrecordedSession,
  runAndScope,
  session,
  workerReplacement,
  waitingRun,
  goalWorkflow,
  goalIntegration,
  generationSeal,
];

export const configurationNamed = (name: string): AnyConfiguration => {
  const found = configurations.find((configuration) => configuration.name === name);
  if (found === undefined) throw new Error(`there is no configuration ${name}`);
  return found;
};
