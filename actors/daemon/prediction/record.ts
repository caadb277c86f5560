/** Puts a prediction on record where somebody else is in control (WT-06); one that says the same again is not repeated. */
import type { GenerationId } from '../../../machines/ids.ts';
import { required } from '../../runtime/actorAccess.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { PredictionView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { type Fact, subjectOf } from './fact.ts';

type Recorded = PredictionView['recorded'];

const mostBlockers = 128;
const mostEvidence = 32;

/** `blockers` are all unresolved prerequisites, those included that only wait for a decision. */
export async function recordPrediction(
  { host }: DaemonContext,
  generationId: GenerationId,
  { eligible, blockers: all }: { readonly eligible: boolean; readonly blockers: readonly Fact[] },
): Promise<Recorded> {
  const generation = required(host, 'worktreeGeneration', generationId);
  if (!generation.matches({ authority: 'observe' })) return 'not_observed';
  const blockers = all.slice(0, mostBlockers).map(({ code, evidenceIds }) => ({
    code,
    evidenceIds: evidenceIds.slice(0, mostEvidence).map((id) => id.slice(0, 256)),
  }));
  const last = generation.context.hypothetical;
  if (last !== null && last.eligible === eligible && isSame(last.blockers, blockers)) return 'unchanged';
  const to = ['worktreeGeneration', generationId] as const;
  const eventId = `pred:${generationId}:${host.versionOf(...to) ?? 0}`;
  const payload = { eligible, blockers };
  assertAccepted(await host.submit([draft('prediction.recorded', { to, payload, by: 'reconciler', eventId })]));
  return 'recorded';
}

type Blockers = readonly Pick<Fact, 'code' | 'evidenceIds'>[];

function isSame(one: Blockers, other: Blockers): boolean {
  const [first, second] = [one, other].map((blockers) => blockers.map(subjectOf).toSorted());
  return JSON.stringify(first) === JSON.stringify(second);
}
