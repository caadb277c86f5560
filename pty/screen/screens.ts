/**
 * The screens of a host's sessions, rendered in one thread off the path of the bytes. Rendering is lazy: a hint costs a
 * comparison, and the thread hears of new output when it has piled up, when it has stopped coming, or when somebody asks.
 * The thread reads the transcripts itself; when it dies, the next one goes on from their checkpoints.
 */
import { Worker } from 'node:worker_threads';
import { ScreenError } from './errors.ts';
import type {
  Answered,
  FromWorker,
  ScreenMatch,
  ScreenPattern,
  ScreenPlace,
  ScreenSnapshot,
  ToWorker,
} from './protocol.ts';
import { type Question, Requests } from './requests.ts';

export interface ScreensOptions {
  /** The bundled entry module of the thread. */
  readonly workerPath: string | URL;
  /** The terminal's answer to a question of the program; see `answer`. */
  readonly onReply?: (session: string, bytes: string) => void;
  /** The thread ended without being asked to. It is replaced as soon as somebody needs it. */
  readonly onThreadLost?: (error: Error) => void;
  /** How much output may pile up unrendered: what an attach has to wait for, at most. */
  readonly lagBytes?: number;
  /** How long output must have been quiet for the rest to be rendered and kept. */
  readonly idleMs?: number;
  readonly checkpointBytes?: number;
  readonly historyRows?: number;
}

export interface OpenScreen {
  readonly dir: string;
  readonly segmentBytes: number;
  /** The size at the start of the session. */
  readonly cols: number;
  readonly rows: number;
  /** How much is stored already. */
  readonly offset?: number;
}

export type WaitResult =
  | ({ readonly matched: true } & ScreenMatch)
  | { readonly matched: false; readonly reason: 'timeout' };

interface Session {
  readonly place: ScreenPlace;
  /** End of what is stored, as far as we were told, and as far as the thread was. */
  offset: number;
  told: number;
  answered: Answered | null;
  /** Told of since the last quiet moment. */
  isActive: boolean;
}

const defaults = { lagBytes: 512 * 1024, idleMs: 250, checkpointBytes: 2 * 1024 * 1024, historyRows: 1_000 };
const answerMs = 10_000;

export class Screens {
  readonly #options: ScreensOptions & typeof defaults;
  readonly #sessions = new Map<string, Session>();
  readonly #requests = new Requests();
  #worker: Worker | undefined;
  /** Threads lost since the last answer: hints alone do not go on starting new ones. */
  #losses = 0;
  #quiet: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(options: ScreensOptions) {
    this.#options = { ...defaults, ...options };
  }

  open(session: string, { offset = 0, ...where }: OpenScreen): void {
    const { historyRows, checkpointBytes } = this.#options;
    const place = { ...where, historyRows, checkpointBytes };
    this.#sessions.set(session, { place, offset, told: 0, answered: null, isActive: false });
    if (this.#worker !== undefined) this.#tellOpen(session);
  }

  /**
   * Output up to `offset` is stored; the index may hold a new size as well, which need not be told: it says there which
   * bytes came before. Cheap enough for every batch.
   */
  advance(session: string, offset: number): void {
    const known = this.#sessions.get(session);
    if (known === undefined || this.#isDisposed) return;
    known.offset = Math.max(known.offset, offset);
    known.isActive = true;
    const isAwaited = isOpen(known.answered) || this.#requests.concerns(session);
    if (isAwaited || known.offset - known.told >= this.#options.lagBytes) this.#tell([session]);
    // One timer for all sessions, and none while all are idle. It is not put off: quiet or not, nothing waits longer.
    this.#quiet ??= setTimeout(() => this.#settleDown(), this.#options.idleMs).unref();
  }

  /**
   * Whether the terminal answers what the program asks from `at` on, by default from the end of what is stored: for
   * sessions that nobody looks at. What is asked before it and has not been rendered yet is answered as it was to be.
   */
  answer(session: string, isAnswering: boolean, at?: number): void {
    const known = this.#need(session);
    if (isAnswering === isOpen(known.answered)) return;
    const from = isAnswering ? (at ?? known.offset) : (known.answered?.from ?? 0);
    known.answered = { from, until: isAnswering ? null : (at ?? known.offset) };
    if (this.#worker !== undefined) this.#post({ type: 'answered', session, answered: known.answered });
  }

  /**
   * The screen as it is at `atLeast` or later, by default at the last offset that was told. Rejects with a ScreenError:
   * `screen_late` after `timeoutMs`.
   */
  async snapshot(
    session: string,
    options: { readonly atLeast?: number; readonly historyRows?: number; readonly timeoutMs?: number } = {},
  ): Promise<ScreenSnapshot> {
    const { offset } = this.#need(session);
    const { atLeast = offset, historyRows = null, timeoutMs = answerMs } = options;
    return this.#ask<ScreenSnapshot>((id) => ({ type: 'snapshot', id, session, atLeast, historyRows }), { timeoutMs });
  }

  /**
   * Resolves when the screen shows the pattern, now or within `timeoutMs`, or with `matched: false`. Rejects with a
   * ScreenError for a pattern that is invalid or too slow to be tried on every change.
   */
  async waitFor(
    session: string,
    pattern: ScreenPattern,
    { timeoutMs, atLeast }: { readonly timeoutMs: number; readonly atLeast?: number },
  ): Promise<WaitResult> {
    const from = atLeast ?? this.#need(session).offset;
    const late: WaitResult = { matched: false, reason: 'timeout' };
    const question = (id: number): Question => ({ type: 'wait', id, session, pattern, atLeast: from });
    return this.#ask<WaitResult>(question, { timeoutMs, late });
  }

  /** Who waits for it is told `screen_closed`. */
  close(session: string): void {
    if (!this.#sessions.delete(session)) return;
    this.#requests.failAll('screen_closed', session);
    if (this.#worker !== undefined) this.#post({ type: 'close', session });
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#quiet);
    this.#requests.failAll('screen_closed');
    this.#sessions.clear();
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #need(session: string): Session {
    const known = this.#sessions.get(session);
    if (known === undefined) throw new ScreenError('screen_unknown', session);
    return known;
  }

  async #ask<T>(
    question: (id: number) => Question,
    options: { readonly timeoutMs: number; readonly late?: T },
  ): Promise<T> {
    const { id, question: asked, answer } = this.#requests.open<T>(question, options);
    const { session } = asked;
    this.#need(session).told = Math.max(this.#need(session).told, asked.atLeast);
    if (this.#worker === undefined) this.#start();
    else this.#post(asked);
    // Somebody waits, so the thread keeps the process alive as long.
    this.#worker?.ref();
    try {
      return await answer;
    } finally {
      if (this.#worker !== undefined && this.#sessions.has(session)) this.#post({ type: 'cancel', id, session });
      if (this.#requests.size === 0) this.#worker?.unref();
    }
  }

  #tell(sessions: readonly string[]): void {
    if (this.#worker === undefined && this.#losses >= 2) return;
    const targets = sessions.map((session): [string, number] => {
      const known = this.#need(session);
      known.told = known.offset;
      return [session, known.offset];
    });
    if (this.#worker === undefined) this.#start();
    this.#post({ type: 'advance', targets });
  }

  /** Output has had time to stop: what is there is rendered and kept, so that the next attach finds it. */
  #settleDown(): void {
    this.#quiet = undefined;
    const active = [...this.#sessions].filter(([, { isActive }]) => isActive).map(([session]) => session);
    for (const session of active) this.#need(session).isActive = false;
    if (active.length === 0) return;
    this.#tell(active);
    if (this.#worker !== undefined) this.#post({ type: 'rest', sessions: active });
  }

  /** Starts a thread that knows what the last one knew. Never throws: hints come from the path of the bytes. */
  #start(): void {
    let worker: Worker;
    try {
      worker = new Worker(this.#options.workerPath);
    } catch (error) {
      this.#losses += 1;
      this.#options.onThreadLost?.(error as Error);
      this.#requests.failAll('screen_thread_lost');
      return;
    }
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#hear(message));
    worker.on('error', (error) => this.#lost(worker, error));
    worker.on('exit', () => this.#lost(worker, new Error('the thread of the screens ended')));
    for (const session of this.#sessions.keys()) this.#tellOpen(session);
    for (const question of this.#requests.questions()) this.#post(question);
    if (this.#requests.size > 0) worker.ref();
  }

  #tellOpen(session: string): void {
    const { place, told, answered } = this.#need(session);
    this.#post({ type: 'open', session, place, target: told, answered });
  }

  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#losses += 1;
    this.#options.onThreadLost?.(error);
    for (const known of this.#sessions.values()) {
      // What the lost thread may have answered is not answered again.
      if (known.answered !== null)
        known.answered = { ...known.answered, from: Math.max(known.answered.from, known.told) };
    }
    this.#requests.countLoss(error.message);
    if (this.#requests.size > 0) this.#start();
  }

  #hear(message: FromWorker): void {
    this.#losses = 0;
    if (message.type === 'snapshot') this.#requests.settle(message.id, message.snapshot);
    else if (message.type === 'matched') this.#requests.settle(message.id, { matched: true, ...message.match });
    else if (message.type === 'failed') this.#requests.fail(message.id, message.code, message.detail);
    else if (this.#sessions.has(message.session)) this.#reply(message);
  }

  /** The thread may have been ahead when it was told that somebody else answers from some offset on. */
  #reply({ session, offset, bytes }: Extract<FromWorker, { readonly type: 'reply' }>): void {
    const until = this.#need(session).answered?.until ?? null;
    if (until === null || offset <= until) this.#options.onReply?.(session, bytes);
  }

  #post(order: ToWorker): void {
    this.#worker?.postMessage(order);
  }
}

function isOpen(answered: Answered | null): boolean {
  return answered !== null && answered.until === null;
}

/** Starts no thread before somebody needs a screen. The caller disposes. */
export function createScreens(options: ScreensOptions): Screens {
  return new Screens(options);
}
