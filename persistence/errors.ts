/**
 * Everything that can be wrong with the store, as stable codes (JRN-10, section F). The exit code follows from the code:
 * 9 means that the store is refused until a person has looked, 10 that the same call may succeed later, 7 that another
 * process is the writer.
 */
const codes = {
  store_missing: {
    exitCode: 9,
    retryable: false,
    next: ['run `custody init`, or name the right directory with --state-dir'],
  },
  store_corrupt: { exitCode: 9, retryable: false, next: ['run `custody doctor`', 'restore the last `custody backup`'] },
  store_newer: {
    exitCode: 9,
    retryable: false,
    next: ['start the program version that wrote this store, or a newer one'],
  },
  store_permissions: {
    exitCode: 9,
    retryable: false,
    next: ['make the state directory yours alone: chown it to your user, then chmod 700'],
  },
  store_readonly: {
    exitCode: 9,
    retryable: false,
    next: ['mount that file system writable, or choose another state directory with --state-dir or CUSTODY_HOME'],
  },
  store_filesystem: {
    exitCode: 9,
    retryable: false,
    next: ['keep the state directory on a local file system: ext4, xfs, btrfs, zfs, f2fs or tmpfs'],
  },
  store_full: {
    exitCode: 10,
    retryable: true,
    next: ['free space on the file system of the state directory, then retry'],
  },
  store_busy: { exitCode: 10, retryable: true, next: ['retry: another process holds the database for the moment'] },
  store_io: {
    exitCode: 10,
    retryable: true,
    next: ['check the kernel log for the device, run `custody doctor`, then retry'],
  },
  runtime_busy: {
    exitCode: 7,
    retryable: true,
    next: ['use the running daemon, or stop it with `custody daemon stop`'],
  },
} as const;

export type StoreErrorCode = keyof typeof codes;

/** A store that cannot be used as asked. `cause` is the SQLite or system error behind it, where there is one. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly exitCode: 7 | 9 | 10;
  readonly retryable: boolean;
  readonly next: readonly string[];

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.exitCode = codes[code].exitCode;
    this.retryable = codes[code].retryable;
    this.next = codes[code].next;
  }
}

/** A row of the store whose digest does not match. `what` names it, e.g. `progress of shell`. */
export const damagedRow = (what: string): StoreError =>
  new StoreError('store_corrupt', `the stored ${what} is damaged: its digest does not match`);

/** The first part of an extended result code decides: SQLITE_IOERR_FSYNC and SQLITE_IOERR_WRITE are both I/O errors. */
const byResultCode: ReadonlyArray<readonly [prefix: string, code: StoreErrorCode, message: string]> = [
  ['SQLITE_BUSY', 'store_busy', 'the database is locked by another process'],
  ['SQLITE_LOCKED', 'store_busy', 'the database is locked'],
  ['SQLITE_FULL', 'store_full', 'no space left for the database'],
  ['SQLITE_CORRUPT', 'store_corrupt', 'the database is damaged'],
  ['SQLITE_NOTADB', 'store_corrupt', 'the file is not a database'],
  ['SQLITE_FORMAT', 'store_corrupt', 'the database is damaged'],
  ['SQLITE_READONLY_DBMOVED', 'store_io', 'the database file was moved or removed while it was open'],
  ['SQLITE_READONLY', 'store_permissions', 'the database or its directory is not writable'],
  ['SQLITE_PERM', 'store_permissions', 'access to the database was refused'],
  ['SQLITE_CANTOPEN', 'store_io', 'the database cannot be opened'],
  ['SQLITE_IOERR', 'store_io', 'reading or writing the database failed'],
  ['SQLITE_NOLFS', 'store_io', 'the file system cannot hold the database'],
];

/**
 * The StoreError behind an exception, or undefined when the store is not to blame: constraint violations and programming
 * errors stay what they are.
 */
export function storeErrorOf(thrown: unknown): StoreError | undefined {
  if (thrown instanceof StoreError) return thrown;
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string') return undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new StoreError('store_full', 'no space left for the database', thrown);
  if (code === 'EROFS') return new StoreError('store_readonly', 'the file system is mounted read-only', thrown);
  if (code === 'EACCES' || code === 'EPERM') {
    return new StoreError('store_permissions', 'the state directory is not writable', thrown);
  }
  const match = byResultCode.find(([prefix]) => code.startsWith(prefix));
  return match && new StoreError(match[1], `${match[2]} (${code})`, thrown);
}

/** Runs `work`; failures of the store come out as StoreError, everything else unchanged. */
export function mappingStoreErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw storeErrorOf(thrown) ?? thrown;
  }
}

/** The same functions, with failures of the store as StoreError: no reader meets a bare SQLite error (JRN-10). */
export function withStoreErrors<T extends object>(table: T): T {
  const wrap =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]) => {
      try {
        return method(...args);
      } catch (thrown) {
        throw storeErrorOf(thrown) ?? thrown;
      }
    };
  return Object.fromEntries(Object.entries(table).map(([name, method]) => [name, wrap(method)])) as T;
}
