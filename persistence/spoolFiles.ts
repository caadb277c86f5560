/**
 * How files of the spool are opened: each producer's directory is entered without following a link and named by its open
 * descriptor from then on, so that what was checked is what is read. Everything in it may be hostile: pipes, links,
 * directories, devices, files of any size. Nothing here waits for anybody.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { producerSchema } from '../machines/launcherNames.ts';
import { type Note, noteBytes } from '../machines/note.ts';
import { type ReadLine, readLine } from './noteLine.ts';
import { errnoOf, SpoolError } from './spoolError.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** An open directory: `path` leads to it whatever is done to its name (proc_pid_fd(5)). */
export interface OpenDirectory {
  readonly path: string;
}

/** Runs `use` with the directory; undefined when it is not there. `shown` is its name for people. Throws SpoolError. */
export function withDirectory<T>(
  path: string,
  use: (directory: OpenDirectory) => T,
  shown: string = path,
): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    if (['ELOOP', 'ENOTDIR', 'EACCES'].includes(errnoOf(thrown)))
      throw new SpoolError('spool_refused', `${shown} is no directory that this user may read`, thrown);
    throw new SpoolError('spool_unreadable', `${shown} cannot be opened`, thrown);
  }
  try {
    requireOwn(shown, fd);
    return use({ path: `/proc/self/fd/${fd}` });
  } finally {
    closeSync(fd);
  }
}

function requireOwn(path: string, fd: number): void {
  const { uid, mode } = fstatSync(fd);
  const user = process.geteuid?.();
  if (user !== undefined && uid !== user)
    throw new SpoolError('spool_refused', `${path} belongs to user ${uid}, not to user ${user}`);
  if ((mode & 0o077) !== 0) throw new SpoolError('spool_refused', `others may look or write into ${path}`);
}

/** The directory of one producer below the spool's. The name is checked: it comes from a directory listing. */
export function withProducer<T>(spoolDir: string, name: string, use: (directory: OpenDirectory) => T): T | undefined {
  const producer = producerSchema.parse(name);
  const shown = join(spoolDir, producer);
  return withDirectory(spoolDir, ({ path }) => withDirectory(join(path, producer), use, shown));
}

export function namesIn({ path }: OpenDirectory): readonly string[] {
  try {
    return readdirSync(path);
  } catch (thrown) {
    throw new SpoolError('spool_unreadable', 'the spool cannot be listed', thrown);
  }
}

/** Up to `most` bytes of a regular file of this user, or why there are none. Throws SpoolError when that says nothing. */
export type FileBytes = { readonly bytes: Buffer } | { readonly refused: string } | 'missing';

export function readSmall({ path }: OpenDirectory, name: string, most: number): FileBytes {
  let fd: number;
  try {
    fd = openSync(join(path, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (thrown) {
    const code = errnoOf(thrown);
    if (code === 'ENOENT') return 'missing';
    if (code === 'ELOOP') return { refused: 'a symbolic link' };
    if (['ENXIO', 'ENODEV', 'EACCES', 'EPERM'].includes(code)) return { refused: 'no file that can be opened' };
    throw new SpoolError('spool_unreadable', 'a note cannot be opened', thrown);
  }
  try {
    const status = fstatSync(fd);
    if (!status.isFile()) return { refused: 'no regular file' };
    if (status.uid !== process.geteuid?.()) return { refused: "another user's file" };
    if (status.size > most) return { refused: `larger than ${most} bytes` };
    return { bytes: readWhole(fd, most) };
  } catch (thrown) {
    throw new SpoolError('spool_unreadable', 'a note cannot be read', thrown);
  } finally {
    closeSync(fd);
  }
}

/** One byte more than allowed tells a file that has grown since its size was looked at. */
function readWhole(fd: number, most: number): Buffer {
  const into = Buffer.alloc(most + 1);
  let length = 0;
  for (;;) {
    const got = readSync(fd, into, length, into.length - length, null);
    length += got;
    if (got === 0 || length === into.length) return into.subarray(0, length);
  }
}

export interface Expected {
  readonly producer: string;
  readonly stream: string;
  readonly seq: number;
}

const lineFeed = 0x0a;

const refusals: Readonly<Record<Exclude<ReadLine, { note: Note }>['problem'], string>> = {
  not_json: 'no JSON in UTF-8',
  note_damaged: 'note_damaged: its sum is another one',
  not_a_note: 'not in the format of a note',
};

export type NoteFile = { readonly note: Note } | { readonly refused: string } | 'missing';

/** One note, which must be what its name and its directory say. */
export function readNote(directory: OpenDirectory, name: string, expected: Expected): NoteFile {
  const file = readSmall(directory, name, noteBytes);
  if (file === 'missing' || 'refused' in file) return file;
  if (file.bytes.length > noteBytes) return { refused: `larger than ${noteBytes} bytes` };
  const end = file.bytes.length - 1;
  if (end < 0 || file.bytes.indexOf(lineFeed) !== end) return { refused: 'not one whole line' };
  const read = readLine(file.bytes.subarray(0, end));
  if (!('note' in read)) return { refused: refusals[read.problem] };
  const { producer, stream, seq } = read.note;
  const isNamed = producer === expected.producer && stream === expected.stream && seq === expected.seq;
  return isNamed ? read : { refused: 'not the note that its name says' };
}

/** False when it cannot be done now; what was not removed or put aside is met again. */
export const unlinked = ({ path }: OpenDirectory, name: string): boolean => done(() => unlinkSync(join(path, name)));

export const putAside = ({ path }: OpenDirectory, name: string): boolean =>
  done(() => renameSync(join(path, name), join(path, `${name}.refused`)));

function done(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === '') throw thrown;
    return errnoOf(thrown) === 'ENOENT';
  }
}
