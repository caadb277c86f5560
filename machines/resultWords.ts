/** How a workload ended, as every surface says it: `exit 7`, `killed by SIGKILL`, `could not be executed (ENOENT)`. */

interface Ended {
  readonly how: string;
  readonly code: number | null;
  readonly signal: number | null;
  readonly errno: number | null;
}

/** As much of a wait status as was recorded (wait(2)); for a `how` of a newer program that word itself. */
export function resultInWords({ how, code, signal, errno }: Ended): string {
  if (how === 'exited') return `exit ${code}`;
  if (how === 'signaled') return `killed by ${signalName(signal)}`;
  if (how === 'dumped') return `killed by ${signalName(signal)}, core dumped`;
  if (how === 'execFailed') return `could not be executed (${errorName(errno)})`;
  if (how === 'notReleased') return 'never ran';
  return how;
}

export const signalName = (signal: number | null): string =>
  signal === null ? 'a signal' : (signalNames[signal] ?? `signal ${signal}`);

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
