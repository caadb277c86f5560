/** How a workload ended, in the words that the command line and the inspector share. */

/** The numbers that do not apply to `how` are null. */
interface Result {
  readonly how: string;
  readonly code: number | null;
  readonly signal: number | null;
  readonly errno: number | null;
}

/** `exit 7`, `killed by SIGKILL`, `could not be executed (ENOENT)`. */
export function resultWords({ how, code, signal, errno }: Result): string {
  if (how === 'exited') return `exit ${code}`;
  if (how === 'signaled') return `killed by ${signalName(signal)}`;
  if (how === 'dumped') return `killed by ${signalName(signal)}, core dumped`;
  if (how === 'execFailed') return `could not be executed (${errorName(errno)})`;
  if (how === 'notReleased') return 'never ran';
  return how;
}

function signalName(signal: number | null): string {
  return signal === null ? 'a signal' : (signalNames[signal] ?? `signal ${signal}`);
}

/** signal(7), the numbers that x86 and arm share; the others are shown as numbers. */
const signalNames: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
};

function errorName(errno: number | null): string {
  const names: Readonly<Record<number, string>> = {
    2: 'ENOENT',
    7: 'E2BIG',
    8: 'ENOEXEC',
    13: 'EACCES',
    20: 'ENOTDIR',
  };
  return errno === null ? 'unknown reason' : (names[errno] ?? `errno ${errno}`);
}
