/** Runs checkpoints step by step, and tells what has to be the same before and after. */
import {
  Checkpoint,
  type CheckpointOptions,
  type CheckpointReport,
} from '../../../persistence/checkpoint/checkpoint.ts';
import { textsIn } from '../../../persistence/checkpoint/textSet.ts';
import type { Store } from '../../../persistence/store.ts';

/** Later than every event of the test clock, so that nothing counts as young. */
export const later = 1_800_000_000_000;

export function checkpointOf(store: Store, options: Partial<CheckpointOptions> = {}): Checkpoint {
  return new Checkpoint({
    store,
    rules: { newestEvents: 2, cutoffWallMs: later },
    bounds: { rows: 100, ms: 1_000 },
    monoMs: () => performance.now(),
    wallMs: later,
    ...options,
  });
}

export function checkpointed(store: Store, options: Partial<CheckpointOptions> = {}): CheckpointReport {
  const checkpoint = checkpointOf(store, options);
  while (checkpoint.step());
  return checkpoint.report();
}

export function everySnapshot(store: Store): Map<string, string> {
  const snapshots = new Map<string, string>();
  for (let after = 0; ; ) {
    const rows = store.actors.inspect(after, 500);
    for (const { kind, id, version, snapshot } of rows) snapshots.set(`${kind} ${id}`, `${version} ${snapshot}`);
    const last = rows.at(-1);
    if (last === undefined) return snapshots;
    after = last.key;
  }
}

export function everyEvent(store: Store, actor?: { readonly kind: string; readonly id: string }) {
  const events: { position: number; eventId: string; type: string; actor: string }[] = [];
  for (let after = 0; ; ) {
    const page = store.journal.page({ after, limit: 1_000, ...(actor ? { actor } : {}) });
    for (const entry of page) {
      if (!entry.intact) throw new Error(`row ${entry.position} is damaged`);
      const { position, eventId, type } = entry;
      events.push({ position, eventId, type, actor: `${entry.actor.kind} ${entry.actor.id}` });
    }
    const last = page.at(-1);
    if (last === undefined) return events;
    after = last.position;
  }
}

/** Ids of events that some snapshot cites: every text in it that is the id of an event. */
export function citedIn(store: Store, eventIds: ReadonlySet<string>): Set<string> {
  const cited = new Set<string>();
  for (const snapshot of everySnapshot(store).values())
    for (const text of textsIn(snapshot)) if (eventIds.has(text)) cited.add(text);
  return cited;
}
