import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from 'node:fs';

/** What stat(2) says, with inode numbers as decimal strings because they exceed what a number carries exactly. */
export interface FileFacts {
  readonly type: 'file' | 'directory' | 'other';
  readonly dev: string;
  readonly ino: string;
  readonly links: number;
  readonly uid: number;
  /** Permission bits alone. */
  readonly mode: number;
  readonly size: number;
}

/** The few calls that reading a receipt takes. All throw Node's errno errors. */
export interface ReceiptFiles {
  open(path: string, options: { readonly followLinks: boolean; readonly directory: boolean }): number;
  facts(fd: number): FileFacts;
  /** What the name stands for now. */
  factsOfName(path: string, options: { readonly followLinks: boolean }): FileFacts;
  /** Reads from the start; shorter than `into` when the file is. */
  read(fd: number, into: Buffer): number;
  close(fd: number): void;
}

const PERMISSIONS = 0o7777n;

function factsFrom(stats: BigIntStats): FileFacts {
  return {
    type: stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other',
    dev: String(stats.dev),
    ino: String(stats.ino),
    links: Number(stats.nlink),
    uid: Number(stats.uid),
    mode: Number(stats.mode & PERMISSIONS),
    size: Number(stats.size),
  };
}

export const receiptFiles: ReceiptFiles = {
  open(path, { followLinks, directory }) {
    // Without O_NONBLOCK a fifo under the receipt's name would hold the daemon for ever.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync(path, flags | (followLinks ? 0 : constants.O_NOFOLLOW) | (directory ? constants.O_DIRECTORY : 0));
  },
  facts: (fd) => factsFrom(fstatSync(fd, { bigint: true })),
  factsOfName: (path, { followLinks }) => factsFrom((followLinks ? statSync : lstatSync)(path, { bigint: true })),
  read(fd, into) {
    let length = 0;
    while (length < into.length) {
      const read = readSync(fd, into, length, into.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return length;
  },
  close: closeSync,
};
