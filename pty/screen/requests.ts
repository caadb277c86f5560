/** Questions that wait for their answer. Each gets one, or an error with a name. */
import { ScreenError, type ScreenErrorCode } from './errors.ts';
import type { ToWorker } from './protocol.ts';

export type Question = Extract<ToWorker, { readonly type: 'snapshot' | 'wait' }>;

interface Pending {
  readonly question: Question;
  /** How many threads have ended while it was asked. */
  losses: number;
  settle(answer: unknown): void;
  fail(error: ScreenError): void;
}

/** With a second thread lost, the question itself is under suspicion. */
const maxLosses = 2;

export class Requests {
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  get size(): number {
    return this.#pending.size;
  }

  /** Whether somebody waits for this session. */
  concerns(session: string): boolean {
    return [...this.#pending.values()].some(({ question }) => question.session === session);
  }

  /** What has to be asked again of a fresh thread. */
  questions(): Question[] {
    return [...this.#pending.values()].map(({ question }) => question);
  }

  /** `late` settles the question when time is up; without an answer of its own it fails as `screen_late`. */
  open<T>(
    question: (id: number) => Question,
    { timeoutMs, late }: { readonly timeoutMs: number; readonly late?: T },
  ): { readonly id: number; readonly question: Question; readonly answer: Promise<T> } {
    const id = this.#nextId;
    this.#nextId += 1;
    const asked = question(id);
    const answer = new Promise<T>((resolve, reject) => {
      const expire = () => (late === undefined ? this.fail(id, 'screen_late') : this.settle(id, late));
      const timer = setTimeout(expire, timeoutMs);
      const settle = (value: unknown) => {
        clearTimeout(timer);
        resolve(value as T);
      };
      const fail = (error: ScreenError) => {
        clearTimeout(timer);
        reject(error);
      };
      this.#pending.set(id, { question: asked, losses: 0, settle, fail });
    });
    return { id, question: asked, answer };
  }

  settle(id: number, answer: unknown): void {
    this.#take(id)?.settle(answer);
  }

  fail(id: number, code: ScreenErrorCode, detail?: string): void {
    this.#take(id)?.fail(new ScreenError(code, detail));
  }

  failAll(code: ScreenErrorCode, session?: string): void {
    for (const [id, { question }] of this.#pending) {
      if (session === undefined || question.session === session) this.fail(id, code);
    }
  }

  /** Fails what has lost too many threads. */
  countLoss(detail: string): void {
    for (const [id, pending] of this.#pending) {
      pending.losses += 1;
      if (pending.losses >= maxLosses) this.fail(id, 'screen_thread_lost', detail);
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}
