/** How the process behind an actor ended, and what of that is not proved: what distinguishes one end from another. */

import type { WorkloadResult } from '../../../machines/evidence.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { resultInWords } from '../../../machines/resultWords.ts';
import type { RunContext } from '../../../machines/run.ts';
import type { ActorRow, Outcome } from '../contract.ts';

type Context = Readonly<Record<string, unknown>>;

/** Out of its own record; a run's own has at most what its launcher says. */
export function outcomeOf(kind: ActorKind, context: Context): Outcome | null {
  if (kind === 'run') return reported((context as unknown as RunContext).exitReport);
  if (kind !== 'executionScope' && kind !== 'ptySession') return null;
  const status = context.status as WorkloadResult | null;
  if (status === null) return null;
  const { how, code } = status;
  return { words: resultInWords(status), failed: how === 'exited' ? code !== 0 : how !== 'notReleased' };
}

function reported(report: RunContext['exitReport']): Outcome | null {
  if (report === null) return null;
  const { exitCode: code, signal, reporter } = report;
  const words = resultInWords({ how: signal === null ? 'exited' : 'signaled', code, signal, errno: null });
  return { words: `${words}, says ${reporter}`, failed: signal !== null || code !== 0 };
}

export const isUnproved = (kind: ActorKind, state: readonly string[]): boolean =>
  kind === 'executionScope' && state.some((path) => path.startsWith('coverage.unverified'));

/** A run as its root scope knows it: the kernel's wait status counts for more than anybody's report. */
export function withRootScope(run: ActorRow, scope: ActorRow | undefined): ActorRow {
  if (scope === undefined) return run;
  const unproved = scope.unproved || scope.status === 'corrupt';
  const outcome = scope.outcome ?? run.outcome;
  return unproved === run.unproved && outcome?.words === run.outcome?.words ? run : { ...run, outcome, unproved };
}
