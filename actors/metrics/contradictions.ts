/**
 * Predictions that were too good (METR-01): "reclaimable" was said of a worktree, and evidence that arrived later says that
 * something stood against it already then. Two kinds of evidence have a time of their own that is older than their
 * arrival: a run that is told of and whose process had begun before the prediction, and a gap whose window had. What is
 * merely different at a later look is none: the world may have changed in between. Where one cannot tell, it counts.
 */
import type { GenerationId, RunId } from '../../machines/ids.ts';
import type { Moment } from '../../persistence/clock.ts';
import type { Store } from '../../persistence/store.ts';
import type { Contradiction } from '../../persistence/tables/contradictions.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';
import type { Host } from '../host/api.ts';
import type { Clock } from '../observe/clock.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { intact } from '../runtime/actorAccess.ts';

export interface ContradictionParts {
  readonly host: Host;
  readonly store: Pick<Store, 'journal'>;
  readonly clock: Pick<Clock, 'monoMs' | 'boottimeMs'>;
  readonly adapter: Pick<LinuxAdapter, 'mayHaveBegunBy'>;
}

export interface Search {
  readonly found: readonly Contradiction[];
  /** The journal is searched up to here. */
  readonly upTo: number;
}

/** Rows of a kind that one search reads, and the newest predictions that it compares them with. */
const rowsAtMost = 1_000;
const predictionsAtMost = 1_000;

const evidenceTypes = ['identity.bound', 'run.placed', 'coverage.gapRecorded'] as const;

type Intact = Extract<JournalEntry, { readonly intact: true }>;
type Envelope = { readonly at: Moment; readonly payload: Readonly<Record<string, unknown>> };

interface Prediction {
  readonly eventId: string;
  readonly position: number;
  readonly at: Moment;
}

/** Goes on behind `after`, and comes no further than one search may read. */
export function searchContradictions(parts: ContradictionParts, after: number): Search {
  const { journal } = parts.store;
  const last = journal.lastPosition();
  if (last <= after) return { found: [], upTo: after };
  // Asked first: a row costs next to nothing, and many installations never predict.
  if (!wasPredicted(parts.store)) return { found: [], upTo: last };
  const pages = evidenceTypes.map((type) => journal.page({ type, after, limit: rowsAtMost }));
  if (pages.every((page) => page.length === 0)) return { found: [], upTo: last };
  const predictions = eligibleIn(parts.store);
  if (predictions.size === 0) return { found: [], upTo: last };
  const ends = pages.flatMap((page) => (page.length < rowsAtMost ? [] : [page.at(-1)?.position ?? last]));
  const suspendedMs = Math.max(0, parts.clock.boottimeMs() - parts.clock.monoMs());
  const found = pages
    .flat()
    .flatMap((entry) => (entry.intact ? contradictedBy({ ...parts, suspendedMs }, entry, predictions) : []));
  return { found, upTo: Math.min(last, ...ends) };
}

/** Whether any prediction is on record, whatever it says. */
export const wasPredicted = ({ journal }: ContradictionParts['store']): boolean =>
  journal.page({ type: 'prediction.recorded', limit: 1 }).length > 0;

/** The newest predictions of "reclaimable", by worktree. */
function eligibleIn({ journal }: ContradictionParts['store']): ReadonlyMap<string, readonly Prediction[]> {
  const page = journal.page({ type: 'prediction.recorded', limit: predictionsAtMost, newestFirst: true });
  const found = page.flatMap((entry) => {
    if (!entry.intact) return [];
    const { at, payload } = entry.envelope as Envelope;
    const { eventId, position } = entry;
    return payload.eligible === true ? [{ id: entry.actor.id, eventId, position, at }] : [];
  });
  const byWorktree = new Map<string, Prediction[]>();
  for (const { id, ...prediction } of found) byWorktree.set(id, [...(byWorktree.get(id) ?? []), prediction]);
  return byWorktree;
}

interface RunParts extends Pick<ContradictionParts, 'host' | 'adapter'> {
  /** For how long this boot was suspended up to now. */
  readonly suspendedMs: number;
}

function contradictedBy(
  parts: RunParts,
  entry: Intact,
  predictions: ReadonlyMap<string, readonly Prediction[]>,
): Contradiction[] {
  const { at, payload } = entry.envelope as Envelope;
  const speaksAgainst =
    entry.actor.kind === 'worktreeGeneration'
      ? gapSpeaks(entry.actor.id as GenerationId, payload)
      : runSpeaks(parts, entry.actor.id as RunId);
  if (speaksAgainst === undefined) return [];
  return (predictions.get(speaksAgainst.generationId) ?? [])
    .filter((prediction) => prediction.position < entry.position && speaksAgainst.stoodAt(prediction.at))
    .map(({ eventId }) => ({ prediction: eventId, wallMs: at.wallMs, evidence: entry.eventId }));
}

interface Evidence {
  readonly generationId: string;
  stoodAt(moment: Moment): boolean;
}

/** A gap has wall times only. */
function gapSpeaks(generationId: GenerationId, payload: Envelope['payload']): Evidence {
  const { from } = payload.window as { readonly from: number };
  return { generationId, stoodAt: ({ wallMs }) => from <= wallMs };
}

function runSpeaks({ host, adapter, suspendedMs }: RunParts, runId: RunId): Evidence | undefined {
  const run = intact(host, 'run', runId);
  if (run === undefined || run === 'corrupt') return undefined;
  const { mode, generationId, identity } = run.context;
  if (mode !== 'observe' || generationId === null || identity === null) return undefined;
  return { generationId, stoodAt: (moment) => adapter.mayHaveBegunBy(identity, moment, suspendedMs) };
}
