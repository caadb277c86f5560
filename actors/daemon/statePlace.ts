/**
 * Notices a state directory that is not where its installation was made. `cp -r` gives two installations with one id:
 * both would control the same worktrees, and the one that knows less would close and seal what the other works in. So
 * neither a copied nor a moved directory is served until somebody has said that it is the installation now.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../persistence/store.ts';
import { OperatingError } from '../runtime/operatingError.ts';
import type { Places } from '../runtime/places.ts';

type Recorded = Pick<Store, 'meta' | 'restored'>;
type Where = Pick<Places, 'stateDir'>;

interface Place {
  readonly path: string;
  /** Device and inode; compared only with what is seen now under the recorded path, or under this one. */
  readonly directory: string;
}

const key = 'installation.place';

/** Undefined when the directory is in its place: also under another name for it (a link, a mount), or a restored backup. */
export function misplaced({ meta, restored }: Recorded, places: Where): OperatingError | undefined {
  const text = meta.get(key);
  if (text === undefined || restored === 'backup') return undefined;
  const recorded = JSON.parse(text) as Place;
  const here = placeOf(places.stateDir);
  if (recorded.path === here.path || directoryAt(recorded.path) === here.directory) return undefined;
  const isMoved = recorded.directory === here.directory;
  const what = isMoved ? 'was moved here from' : 'is a copy of';
  const isOriginalLeft = existsSync(join(recorded.path, 'custody.db'));
  return new OperatingError({
    code: isMoved ? 'state_moved' : 'state_copied',
    message: `${here.path} ${what} ${recorded.path}; it is not served, because its worktrees and its work are known under that path`,
    exitCode: 9,
    next: isOriginalLeft
      ? [`custody --state-dir ${quoted(recorded.path)} status`, 'move the original away, then `custody init --adopt`']
      : ['custody init --adopt', `or move it back to ${quoted(recorded.path)}`],
  });
}

/** Throws what `misplaced` finds. */
export function assertInPlace(store: Recorded, places: Where): void {
  const problem = misplaced(store, places);
  if (problem !== undefined) throw problem;
}

/** Belongs into a write transaction; a place that was recorded stays what it is. */
export function recordPlace({ meta, restored }: Recorded, places: Where): void {
  if (meta.get(key) === undefined || restored === 'backup') adoptPlace({ meta }, places);
}

/** From now on the directory belongs here. Belongs into a write transaction. */
export function adoptPlace({ meta }: Pick<Store, 'meta'>, places: Where): void {
  meta.set(key, JSON.stringify(placeOf(places.stateDir)));
}

/** Throws `original_in_place` (exit 6) while the directory that this one was copied from is there: there is one installation. */
export function assertOriginalGone({ meta }: Recorded, places: Where): void {
  const text = meta.get(key);
  if (text === undefined) return;
  const { path } = JSON.parse(text) as Place;
  if (path === placeOf(places.stateDir).path || !existsSync(join(path, 'custody.db'))) return;
  if (directoryAt(path) === placeOf(places.stateDir).directory) return;
  throw new OperatingError({
    code: 'original_in_place',
    message: `the original is still in ${path}: one installation cannot be in two places`,
    exitCode: 6,
    next: [`move ${quoted(path)} away, or use it with --state-dir`],
  });
}

function placeOf(stateDir: string): Place {
  const path = realpathSync.native(stateDir);
  return { path, directory: directoryAt(path) ?? '' };
}

function directoryAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
