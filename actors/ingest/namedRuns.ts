/** Runs by the name that their launcher or the tool of their record gave them, wherever an id is taken as well. */
import { type LauncherName, launcherNameText, parseLauncherName } from '../../machines/launcherNames.ts';
import type { RunContext } from '../../machines/run.ts';
import type { Store } from '../../persistence/store.ts';
import { resolveId } from '../runtime/actorAccess.ts';
import { ambiguousId, notFound } from '../runtime/operatingError.ts';
import { legacyRunId } from './legacy/names.ts';
import { runIdOf } from './names.ts';

type Parts = Pick<Store, 'actors' | 'installationId'>;

/** Every run that goes by this name: what a launcher noted, and what a tool has on record, may have the same one. */
export function runsNamed({ actors, installationId }: Parts, { producer, run }: LauncherName): string[] {
  const ids = [runIdOf({ installationId, producer, run }), legacyRunId({ installationId, tool: producer }, run)];
  return ids.filter((id) => actors.idsStartingWith('run', id, 1).includes(id));
}

/**
 * The one run whose id is, or begins with, what was typed, or that is called so (`producer:run`). Throws `not_found` (exit 3)
 * or `ambiguous_id` (exit 2).
 */
export function resolveRun(store: Parts, typed: string): string {
  const name = parseLauncherName(typed);
  if (name === undefined) return resolveId(store, 'run', typed);
  const [only, second] = runsNamed(store, name);
  if (only === undefined) throw notFound('run', typed);
  if (second !== undefined) throw ambiguousId(typed, [only, second]);
  return only;
}

/** What whoever launched it calls it; null where nobody told. Records of other tools have theirs as their label. */
export function launcherNameOf({ launcher, origin, label }: RunContext): string | null {
  if (launcher !== null) return launcherNameText(launcher);
  return origin === 'legacy' ? label : null;
}
