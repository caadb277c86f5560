import { map, NEVER, type Observable, Subject, timer } from 'rxjs';

export type { Observable } from 'rxjs';

/** The writing end of a stream for code that knows no RxJS: commands to a watcher, requests for a pass. */
export interface StreamInput<T> {
  readonly values$: Observable<T>;
  send(value: T): void;
  /** Completes the stream; what is sent afterwards goes nowhere. */
  end(): void;
}

export function createStreamInput<T>(): StreamInput<T> {
  const subject = new Subject<T>();
  return { values$: subject.asObservable(), send: (value) => subject.next(value), end: () => subject.complete() };
}

/** Wraps each value as an event, the form in which an invoked observable speaks to its machine. */
export function reporting$<Type extends string, T>(
  type: Type,
  values$: Observable<T>,
): Observable<{ readonly type: Type; readonly report: T }> {
  return values$.pipe(map((report) => ({ type, report })));
}

/** A value at once and then one every `ms`; unsubscribing stops the timer. */
export const everyMs$ = (ms: number): Observable<number> => timer(0, ms);

/** Never says anything and never completes. */
export const nothing$: Observable<never> = NEVER;
