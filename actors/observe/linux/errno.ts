/** Why a look at procfs gave no answer. None of these says anything about the process. */
export type Unreadable = 'permission' | 'emfile' | 'enomem' | 'io' | 'proc_unusable' | 'malformed';

const BY_CODE: Readonly<Record<string, Unreadable>> = {
  EACCES: 'permission',
  EPERM: 'permission',
  EMFILE: 'emfile',
  ENFILE: 'emfile',
  ENOMEM: 'enomem',
  ENOTDIR: 'proc_unusable',
  ELOOP: 'proc_unusable',
};

export function errnoOf(error: unknown): string {
  return (error as NodeJS.ErrnoException)?.code ?? '';
}

/** The path or the process behind an open descriptor is not there (any more). */
export function isGone(code: string): boolean {
  return code === 'ENOENT' || code === 'ESRCH';
}

/** Everything that is not absence is a failure to see; an errno that we do not know is one too. */
export function unreadable(code: string): Unreadable {
  return BY_CODE[code] ?? 'io';
}
