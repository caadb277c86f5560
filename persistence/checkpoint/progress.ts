/** How far a checkpoint has come: committed together with what it removes, so that the next start goes on from there. */
import type { MetaTable } from '../tables/meta.ts';

/** Why a row stays. */
export type KeptReason =
  | 'not_over'
  | 'first'
  | 'end'
  | 'newest'
  | 'landmark'
  | 'cited'
  | 'young'
  | 'open_gap'
  | 'needed'
  | 'damaged';

export interface Progress {
  /** The row that was looked at last. */
  readonly actorKey: number;
  readonly position: number;
  readonly removed: { readonly events: number; readonly bytes: number; readonly effects: number };
  readonly kept: Readonly<Partial<Record<KeptReason, number>>>;
  /** Oldest and newest position that were removed; null before the first. */
  readonly range: readonly [number, number] | null;
  readonly steps: number;
}

export const atTheBeginning: Progress = {
  actorKey: 0,
  position: 0,
  removed: { events: 0, bytes: 0, effects: 0 },
  kept: {},
  range: null,
  steps: 0,
};

const cursorName = 'journal.checkpoint';
const removedName = 'journal.removed';
const rowsAfterName = 'journal.rowsAfter';
const removedToName = 'journal.removedTo';

export function storedProgress(meta: MetaTable): Progress | undefined {
  const text = meta.get(cursorName);
  return text === undefined ? undefined : (JSON.parse(text) as Progress);
}

export const storeProgress = (meta: MetaTable, progress: Progress): void =>
  meta.set(cursorName, JSON.stringify(progress));

/** How many rows all checkpoints have removed so far: what is left is the newest position less this. */
export const removedSoFar = (meta: MetaTable): number => Number(meta.get(removedName) ?? 0);

/** The newest position that a checkpoint has removed: at or below it a row may be missing. */
export const removedTo = (meta: MetaTable): number => Number(meta.get(removedToName) ?? 0);

export function countRemoved(meta: MetaTable, positions: readonly number[]): void {
  meta.set(removedName, String(removedSoFar(meta) + positions.length));
  meta.set(removedToName, String(positions.reduce((a, b) => Math.max(a, b), removedTo(meta))));
}

/** How many rows the last finished checkpoint left; 0 before the first. */
export const rowsAfterLast = (meta: MetaTable): number => Number(meta.get(rowsAfterName) ?? 0);

export const finishProgress = (meta: MetaTable, rowsAfter: number): void => {
  meta.remove(cursorName);
  meta.set(rowsAfterName, String(rowsAfter));
};
