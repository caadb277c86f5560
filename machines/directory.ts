/** Which directory one is, whatever its path is: what was made anew at a path is another one (WT-01). */

/** `born` in ns since 1970-01-01 UTC; null where the file system keeps no birth time. */
export interface DirectoryIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly born: string | null;
}

interface Status {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
}

/** From what statx(2) says. A file system that keeps no birth time leaves it at the beginning of time. */
export const directoryIdentity = ({ dev, ino, birthtimeNs }: Status): DirectoryIdentity => ({
  dev: String(dev),
  ino: String(ino),
  born: birthtimeNs > 0n ? String(birthtimeNs) : null,
});

/** A birth time that is not known tells nothing apart; everything else has to agree. */
export const isSameDirectory = (one: DirectoryIdentity, other: DirectoryIdentity): boolean =>
  one.dev === other.dev &&
  one.ino === other.ino &&
  (one.born === null || other.born === null || one.born === other.born);
