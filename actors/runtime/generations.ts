/**
 * Which generation a directory is (WT-01): the same physical directory is the same generation under whatever path, and
 * what was made anew at a path is another one.
 */
import { statSync } from 'node:fs';
import { directoryIdentity, isSameDirectory } from '../../machines/directory.ts';
import type { Payload } from '../../machines/events/catalogue.ts';
import type { GenerationId, GoalId, RepoId } from '../../machines/ids.ts';
import type { Place } from '../../machines/note.ts';
import { type GenerationSnapshot, placeKey } from '../../machines/worktreeGeneration.ts';
import type { GenerationPlace } from '../../machines/worktreeGenerationBlockers.ts';
import type { Host } from '../host/api.ts';
import type { Draft } from '../host/outcome.ts';
import { everyActor, intact, type Reading } from './actorAccess.ts';
import { gitDirectoryOf } from './locate.ts';
import { draft } from './submission.ts';

/** As it is now. Throws what stat(2) does, and `not_a_repository` where its `.git` leads nowhere. */
export const fileIdentityOf = (path: string): GenerationPlace => ({
  ...directoryIdentity(statSync(path, { bigint: true })),
  gitdir: gitDirectoryOf(path) ?? '',
});

export const isSamePlace = (one: GenerationPlace, other: GenerationPlace): boolean =>
  isSameDirectory(one, other) && one.gitdir === other.gitdir;

/** The living (not retired) generation of this directory, the newest should there be several; damaged records are left out. */
export function generationAt(host: Host, place: Omit<Place, 'path'>): GenerationSnapshot | undefined {
  const link = { name: 'place', value: placeKey(place) };
  let found: GenerationSnapshot | undefined;
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', { settled: false, link })) {
    if (snapshot !== 'corrupt' && isSamePlace(snapshot.context.fsIdentity, place)) found = snapshot;
  }
  return found ?? withoutLink(host, place);
}

/** Living generations of this directory, whatever its git directory was; as far as they are found by their link. */
export function generationsIn(host: Host, place: Omit<Place, 'path'>): readonly GenerationSnapshot[] {
  const link = { name: 'place', value: placeKey(place) };
  return [...everyActor(host, 'worktreeGeneration', { settled: false, link })].flatMap(({ snapshot }) =>
    snapshot !== 'corrupt' && isSameDirectory(snapshot.context.fsIdentity, place) ? [snapshot] : [],
  );
}

/**
 * Other living generations of the very same directory. It is another generation with another git directory (WT-01), but
 * whoever writes in the one writes in the other.
 */
export function* sharersOf(host: Reading, { context: { generationId, fsIdentity } }: GenerationSnapshot) {
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot === 'corrupt' || id === generationId) continue;
    if (isSameDirectory(snapshot.context.fsIdentity, fsIdentity)) yield snapshot;
  }
}

/** Rows that were written before a generation had such a link are found by it once they are written again. */
const rowsWithoutLink = new WeakMap<Host, readonly string[]>();

function withoutLink(host: Host, place: Omit<Place, 'path'>): GenerationSnapshot | undefined {
  let rows = rowsWithoutLink.get(host);
  if (rows === undefined) {
    rows = [...everyActor(host, 'worktreeGeneration', { settled: false })]
      .filter(({ id, snapshot }) => snapshot !== 'corrupt' && !isLinked(host, id, snapshot))
      .map(({ id }) => id);
    rowsWithoutLink.set(host, rows);
  }
  for (const id of rows) {
    const snapshot = intact(host, 'worktreeGeneration', id);
    if (snapshot === undefined || snapshot === 'corrupt' || snapshot.matches({ lifecycle: 'retired' })) continue;
    if (isSamePlace(snapshot.context.fsIdentity, place)) return snapshot;
  }
  return undefined;
}

const isLinked = (host: Host, id: string, { context }: GenerationSnapshot): boolean =>
  host.linked('worktreeGeneration', 'place', placeKey(context.fsIdentity)).includes(id);

export interface Registration {
  readonly generationId: GenerationId;
  readonly place: Place;
  /** `legacy`: somebody else made it and has a record of it; `observed`: it was only come across. */
  readonly origin: 'legacy' | 'observed';
  /** Who may act on it; never this program, which only watches (INT-09). */
  readonly controller: string;
  readonly repoId?: RepoId | null;
  readonly goalId?: GoalId | null;
  readonly branch?: string | null;
  readonly baseCommit?: string | null;
  /** The role that registers it. */
  readonly by: string;
  readonly eventId?: string;
}

/** Makes the generation of a directory that exists; nothing of the directory is touched. */
export function registrationOf({ generationId, place, by, eventId, ...about }: Registration): Draft {
  const { path, dev, ino, gitdir, born } = place;
  const { origin, controller, repoId = null, goalId = null, branch = null, baseCommit = null } = about;
  const fsIdentity = { dev, ino, gitdir, born };
  const payload = { generationId, path, fsIdentity, origin, controller, repoId, goalId, branch, baseCommit };
  return draft('generation.registered', { to: ['worktreeGeneration', generationId], payload, by, eventId });
}

/** What the living generations that are recorded at this path, and are another directory, have to hear of it. */
export function replacementsAt(host: Host, place: Place, by: string): Draft[] {
  const drafts: Draft[] = [];
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot === 'corrupt' || snapshot.context.path !== place.path) continue;
    if (isSamePlace(snapshot.context.fsIdentity, place) || snapshot.context.pathObservation === 'replaced') continue;
    drafts.push(observationOf(id, 'replaced', by));
  }
  return drafts;
}

/** What was found at the path of a generation. It moves nothing: a directory that is gone proves nothing (WT-05). */
export function observationOf(generationId: string, result: Payload<'path.observed'>['result'], by: string): Draft {
  return draft('path.observed', { to: ['worktreeGeneration', generationId], payload: { result }, by });
}
