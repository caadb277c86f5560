/**
 * What may end the demonstration early: a signal, a reader that has seen enough, its own time limit. Each only aborts a
 * signal, so that everything that was started is ended in one place, in order, before this process leaves.
 */
import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import { OperatingError } from '../../actors/runtime/operatingError.ts';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Exit status 0: `| head` is no failure of this program. */
export const outputClosed = 'output_closed';

export class Interruption {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  readonly #what: string;

  /** Takes over from the command line's own handlers, which leave at once. `what` is interrupted, in words. */
  constructor(what = 'the demonstration') {
    this.#what = what;
    // As many wait for it as have something under way.
    setMaxListeners(0, this.signal);
    for (const name of endings) {
      process.removeAllListeners(name);
      process.on(name, () => this.#abort(interrupted(what, name)));
    }
    process.stdout.removeAllListeners('error');
    process.stdout.on('error', () => this.#abort(readerGone(what)));
    process.stderr.removeAllListeners('error');
    process.stderr.on('error', () => {});
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Without a limit a machine on which something hangs would keep people waiting for a demonstration of liveness. */
  expireAfter(ms: number): void {
    this.#timer = setTimeout(() => this.#abort(expired(this.#what, ms)), ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #abort(reason: OperatingError): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }
}

/** The promise's outcome, or the reason of the abort as soon as there is one. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {});
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const interrupted = (what: string, name: (typeof endings)[number]): OperatingError =>
  new OperatingError({
    code: 'interrupted',
    message: `${what} was ended by ${name}`,
    exitCode: 128 + constants.signals[name],
  });

const readerGone = (what: string): OperatingError =>
  new OperatingError({ code: outputClosed, message: `nobody reads ${what} any more`, exitCode: 0 });

const expired = (what: string, ms: number): OperatingError =>
  new OperatingError({
    code: 'demo_failed',
    message: `${what} was not through after ${ms / 1_000} s`,
    exitCode: 1,
    next: ['repeat it when the machine is less busy', 'custody doctor'],
  });
