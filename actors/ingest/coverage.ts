/**
 * Lost notes become gaps (INT-05, FAULT-10): one row for people, and one event for every worktree that somebody else
 * controls, because nobody knows which of them the note was about. A gap is closed by a later boot, and by no time.
 */
import type { GenerationId } from '../../machines/ids.ts';
import type { Store } from '../../persistence/store.ts';
import type { CoverageGap, RecordedGap } from '../../persistence/tables/coverageGaps.ts';
import type { Host } from '../host/api.ts';
import type { Draft } from '../host/outcome.ts';
import { everyActor } from '../runtime/actorAccess.ts';
import { draft } from '../runtime/submission.ts';
import type { BootClock } from './boots.ts';
import { disturb } from './disturbed.ts';
import type { Loss } from './ledger.ts';

export interface CoverageParts {
  readonly host: Host;
  readonly store: Pick<Store, 'coverageGaps' | 'tickets' | 'write'>;
}

/** A stream of notes by one producer. */
export interface StreamName {
  readonly producer: string;
  readonly stream: string;
}

const by = 'ingestion';

/** Events of one commit; the host takes 256 in a call. */
const atOnce = 100;

/** One call of the host holds at most 256 events, and what registers a directory has some of its own. */
const inheritedAtMost = 200;

/** The same loss has the same id, whoever finds it. */
export const gapOf = ({ producer, stream }: StreamName, loss: Loss): CoverageGap => ({
  gapId: `${producer}:${stream.slice(0, 16)}:${loss.firstSeq}-${loss.lastSeq}`,
  producer,
  kind: 'note_lost',
  fromWallMs: loss.fromWallMs,
  toWallMs: loss.toWallMs,
  count: loss.lastSeq - loss.firstSeq + 1,
  bootId: loss.bootId,
});

export function gapDraft(generationId: GenerationId, gap: CoverageGap): Draft {
  const { gapId, producer, kind, fromWallMs: from, toWallMs: to, count } = gap;
  const payload = { gapId, producer, kind, window: { from, to }, count };
  return draft('coverage.gapRecorded', { to: ['worktreeGeneration', generationId], payload, by });
}

export interface InheritingParts {
  readonly store: Pick<Store, 'coverageGaps' | 'write'>;
  readonly clock: Pick<BootClock, 'bootId' | 'now'>;
}

/**
 * A note that was lost before may have been about a directory that nobody knew yet. What is beyond the first ones is told as
 * one gap of this boot, which no earlier boot closes: it stays open for as long as any of them can.
 */
export function inheritedGaps({ store, clock }: InheritingParts, generationId: GenerationId): Draft[] {
  const named = store.coverageGaps.open({ limit: inheritedAtMost });
  const last = named.at(-1);
  const beyond = last === undefined ? [] : [...openGaps(store, last.key)];
  return [...named, ...(beyond.length > 0 ? [summed({ store, clock }, generationId, beyond)] : [])].map((gap) =>
    gapDraft(generationId, gap),
  );
}

/** The row comes first: a boot closes what is in the rows. */
function summed(
  { store, clock }: InheritingParts,
  generationId: GenerationId,
  gaps: readonly RecordedGap[],
): CoverageGap {
  const gap = {
    gapId: `inherited:${generationId}`,
    producer: 'custody',
    kind: 'gaps_before',
    fromWallMs: gaps.reduce((first, { fromWallMs }) => Math.min(first, fromWallMs), clock.now().wallMs),
    toWallMs: clock.now().wallMs,
    count: gaps.reduce((sum, { count }) => sum + count, 0),
    bootId: clock.bootId(),
  };
  return store.write(() => {
    store.coverageGaps.record(gap);
    return store.coverageGaps.find(gap.gapId) ?? gap;
  });
}

/** Told to the worktrees first: whoever dies in between finds the same loss again, because the row is not there. */
export async function recordGap(
  parts: CoverageParts,
  gap: CoverageGap,
  told: readonly GenerationId[] = observedGenerations(parts.host),
): Promise<void> {
  disturb(parts, told);
  await inParts(
    parts.host,
    told.map((id) => gapDraft(id, gap)),
  );
  parts.store.write(() => parts.store.coverageGaps.record(gap));
}

/** A process of an earlier boot writes nowhere any more, whoever was not told of it (WT-04). Returns how many. */
export async function closeGapsOfEarlierBoots(
  parts: CoverageParts,
  { bootId, wallMs }: { readonly bootId: string; readonly wallMs: number },
): Promise<number> {
  let closed = 0;
  for (const gap of openGaps(parts.store)) {
    if (gap.bootId === bootId) continue;
    await closeGap(parts, gap, { bootId, wallMs });
    closed += 1;
  }
  return closed;
}

async function closeGap(
  { host, store }: CoverageParts,
  { gapId }: RecordedGap,
  { bootId, wallMs }: { readonly bootId: string; readonly wallMs: number },
): Promise<void> {
  const payload = { gapId, evidence: 'boot_epoch', evidenceRef: `boot ${bootId}` } as const;
  const open = [...everyActor(host, 'worktreeGeneration', { released: false })].filter(
    ({ snapshot }) => snapshot !== 'corrupt' && snapshot.context.coverageGaps.open.includes(gapId),
  );
  await inParts(
    host,
    open.map(({ id }) => draft('coverage.gapClosed', { to: ['worktreeGeneration', id], payload, by })),
  );
  store.write(() => store.coverageGaps.close(gapId, payload.evidence, wallMs));
}

export function* openGaps(store: Pick<Store, 'coverageGaps'>, behind = 0): Generator<RecordedGap> {
  let after = behind;
  for (;;) {
    const page = store.coverageGaps.open({ after, limit: atOnce });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

/** Those that somebody else controls and that still exist. */
export function observedGenerations(host: Host): GenerationId[] {
  return [...everyActor(host, 'worktreeGeneration', { released: false })].flatMap(({ id, snapshot }) =>
    snapshot !== 'corrupt' && snapshot.matches({ authority: 'observe' }) ? [id as GenerationId] : [],
  );
}

async function inParts(host: Host, drafts: readonly Draft[]): Promise<void> {
  for (let at = 0; at < drafts.length; at += atOnce) await host.submit(drafts.slice(at, at + atOnce));
}
