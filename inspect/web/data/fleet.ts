/**
 * Every actor as one row, and what holds for the installation. Rows are replaced in place and announced at most once per
 * frame: a thousand commits between two pictures are one change for whoever draws.
 */
import { batch, signal } from '@preact/signals';
import type { ActorRow, FleetAnswer } from '../../server/contract.ts';

export type Overview = Omit<FleetAnswer, 'actors' | 'complete' | 'omitted' | 'control'>;

/** Actors that the server left out, because they are over for long and there are too many. */
export const omitted = signal(0);

export const overview = signal<Overview | undefined>(undefined);
/** `loading` until the first rows are there; `partial` while the server is still reading. */
export const progress = signal<'loading' | 'partial' | 'complete'>('loading');
/** Counts changes of rows. Read it to be told; then read `rows()`. */
export const edition = signal(0);
/** Keys of actors that changed last, for a view of one of them. */
export const lastChanged = signal<ReadonlySet<string>>(new Set());

let known: ActorRow[] = [];
let places = new Map<string, number>();
let changed = new Set<string>();
let frame = 0;

export const keyOf = ({ kind, id }: Pick<ActorRow, 'kind' | 'id'>): string => `${kind}/${id}`;

/** All rows, in no order that means anything. The array is replaced whenever `edition` changes. */
export const rows = (): readonly ActorRow[] => known;

export const rowOf = (kind: string, id: string): ActorRow | undefined => rowOfKey(keyOf({ kind, id } as ActorRow));

export function rowOfKey(key: string): ActorRow | undefined {
  const place = places.get(key);
  return place === undefined ? undefined : known[place];
}

export function replaceFleet({ actors, complete, omitted: left, ...rest }: FleetAnswer): void {
  known = [...actors];
  places = new Map(known.map((row, index) => [keyOf(row), index]));
  batch(() => {
    overview.value = rest;
    omitted.value = left;
    progress.value = complete ? 'complete' : 'partial';
    lastChanged.value = new Set(places.keys());
    edition.value += 1;
  });
}

export function takeRows(actors: readonly ActorRow[]): void {
  for (const row of actors) {
    const key = keyOf(row);
    const place = places.get(key);
    if (place === undefined) places.set(key, known.push(row) - 1);
    // Two answers may cross; the newer record wins, whichever came last.
    else if ((known[place] as ActorRow).version <= row.version) known[place] = row;
    changed.add(key);
  }
  // A hidden page draws no frames, and must not pile up what it was told.
  if (document.hidden) announce();
  else if (frame === 0) frame = requestAnimationFrame(announce);
}

function announce(): void {
  cancelAnimationFrame(frame);
  frame = 0;
  if (changed.size === 0) return;
  known = [...known];
  const keys = changed;
  changed = new Set();
  batch(() => {
    lastChanged.value = keys;
    edition.value += 1;
  });
}
