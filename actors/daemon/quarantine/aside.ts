/**
 * Puts the directory of a worktree aside, and takes it back if that was never committed. A note of what is about to happen
 * lies on the disk before anything moves, so that a process which dies in between leaves nothing that nobody knows of.
 * Nothing is ever copied or removed: a rename keeps whoever works in the directory where they are, away from its path.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { syncDirectory } from '../../../pty/launch/slots.ts';
import { type GitMetadata, lockedAt, unlockedAt } from './gitMetadata.ts';

/** What is asked for: where a directory lies, and which one it is. */
export interface Placed {
  readonly generationId: string;
  readonly path: string;
  readonly fsIdentity: { readonly dev: string; readonly ino: string; readonly gitdir: string };
}

export interface Move {
  readonly generationId: string;
  readonly from: string;
  readonly to: string;
  /** The git directory of the worktree; empty where it has none. */
  readonly gitdir: string;
}

export interface PutAside {
  readonly from: string;
  /** Null where the recorded directory is not there any more. */
  readonly to: string | null;
  readonly gitMetadata: GitMetadata;
  /** Moves it back; for when what followed could not be committed. */
  undo(): Promise<void>;
  /** Forgets the note; for when it was committed. */
  done(): Promise<void>;
}

const isErrno = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

const noteOf = (directory: string, name: string): string => join(directory, `${name}.json`);

/** `directory` is the place for what is put aside. Throws what rename(2) says; then everything is as it was. */
export async function putAside(directory: string, placed: Placed): Promise<PutAside> {
  const { generationId, path: from, fsIdentity } = placed;
  if (!(await isRecorded(placed))) {
    const nothing = async (): Promise<void> => {};
    return { from, to: null, gitMetadata: 'none', undo: nothing, done: nothing };
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = await freeName(directory, generationId);
  const note = noteOf(directory, name);
  const move = await moved(note, { generationId, from, to: join(directory, name), gitdir: fsIdentity.gitdir });
  return {
    from,
    to: move.to,
    gitMetadata: await lockedAt(move.gitdir, move.to),
    undo: () => takeBack(note, move),
    done: () => forgotten(note),
  };
}

async function isRecorded({ path, fsIdentity }: Placed): Promise<boolean> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return String(dev) === fsIdentity.dev && String(ino) === fsIdentity.ino;
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

async function freeName(directory: string, generationId: string): Promise<string> {
  const taken = new Set(await readdir(directory));
  for (let number = 1; ; number += 1) {
    const name = `${generationId}-${number}`;
    if (!taken.has(name) && !taken.has(`${name}.json`)) return name;
  }
}

/** A worktree on another file system than the state directory is put aside beside its own place. */
async function moved(note: string, move: Move): Promise<Move> {
  try {
    return await noted(note, move);
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error;
    return noted(note, { ...move, to: join(dirname(move.from), `.custody-quarantine-${basename(move.to)}`) });
  }
}

async function noted(note: string, move: Move): Promise<Move> {
  await written(note, move);
  try {
    // An existing directory that is empty would be replaced.
    if (existsSync(move.to)) throw Object.assign(new Error('its place is taken'), { code: 'EEXIST' });
    await rename(move.from, move.to);
  } catch (error) {
    await forgotten(note);
    throw error;
  }
  await syncDirectory(dirname(move.from));
  await syncDirectory(dirname(move.to));
  return move;
}

async function written(note: string, move: Move): Promise<void> {
  const fresh = `${note}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(move));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, note);
  await syncDirectory(dirname(note));
}

async function forgotten(note: string): Promise<void> {
  await rm(note, { force: true });
}

/** Throws when something else lies at the old place by now; the note stays then. */
async function takeBack(note: string, { from, to, gitdir }: Move): Promise<void> {
  if (existsSync(to)) {
    if (existsSync(from)) throw Object.assign(new Error('its old place is taken'), { code: 'EEXIST' });
    await rename(to, from);
    await syncDirectory(dirname(from));
    await unlockedAt(gitdir, from);
  }
  await forgotten(note);
}

export interface Unfinished {
  readonly note: string;
  /** Undefined for a note that cannot be read: nobody can tell what was moved, and the note stays for whoever looks. */
  readonly move: Move | undefined;
  undo(): Promise<void>;
  done(): Promise<void>;
}

const moveSchema = z.strictObject({
  generationId: z.string().min(1),
  from: z.string().startsWith('/'),
  to: z.string().startsWith('/'),
  gitdir: z.string(),
});

async function moveIn(note: string): Promise<Move | undefined> {
  try {
    return moveSchema.parse(JSON.parse(await readFile(note, 'utf8')));
  } catch {
    return undefined;
  }
}

/** What a process that died in the middle has left a note of. */
export async function unfinishedIn(directory: string): Promise<readonly Unfinished[]> {
  if (!existsSync(directory)) return [];
  const notes = (await readdir(directory)).filter((name) => name.endsWith('.json'));
  return Promise.all(
    notes.map(async (name) => {
      const note = join(directory, name);
      const move = await moveIn(note);
      const undo = async () => move && takeBack(note, move);
      return { note, move, undo, done: () => forgotten(note) };
    }),
  );
}
