import { firstValueFrom, of, Subject, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { inOrder, type OverflowGap } from '../../actors/observe/streams/inOrder.ts';

interface Item {
  readonly key: string;
  readonly n: number;
}

/** Work that ends when the test says so. */
function workbench(limit: number, concurrency = 1) {
  const source$ = new Subject<Item>();
  const running: { item: Item; done: () => void; isObserved: () => boolean }[] = [];
  const out: (Item | OverflowGap)[] = [];
  const state = { completed: false, error: undefined as unknown, stopped: 0, mono: 0 };
  const project = (item: Item) => {
    const work$ = new Subject<Item>();
    running.push({
      item,
      done: () => {
        work$.next(item);
        work$.complete();
      },
      isObserved: () => work$.observed,
    });
    return work$;
  };
  const subscription = source$
    .pipe(
      inOrder({
        producer: 'test',
        keyOf: ({ key }) => key,
        project,
        limit,
        concurrency,
        monoMs: () => {
          state.mono += 1;
          return state.mono;
        },
      }),
    )
    .subscribe({
      next: (value) => out.push(value),
      complete: () => {
        state.completed = true;
      },
      error: (error) => {
        state.error = error;
      },
    });
  const finish = () => running.shift()!.done();
  const numbers = () => out.map((one) => ('kind' in one ? `gap ${one.dropped}` : `${one.key}${one.n}`));
  return { source$, running, out, state, subscription, finish, numbers };
}

describe('ordered bounded work', () => {
  it('CONC-05: what does not fit is counted and reported once in the same stream', () => {
    const { source$, finish, numbers, out } = workbench(4);
    for (let n = 0; n < 10; n += 1) source$.next({ key: 'a', n });
    // One in work, four waiting, five lost.
    while (numbers().length < 3) finish();
    expect(numbers()).toEqual(['a0', 'a1', 'gap 5']);
    expect(out[2]).toEqual({
      kind: 'overflowGap',
      producer: 'test',
      dropped: 5,
      window: { fromMonoMs: 1, toMonoMs: 5 },
    });
  });

  it('CONC-05: nothing is lost below the limit, and no gap is invented', async () => {
    const items = Array.from({ length: 100 }, (_, n) => ({ key: String(n % 3), n }));
    const options = { producer: 'test', keyOf: (item: Item) => item.key, limit: 100, monoMs: () => 0 };
    const results = await firstValueFrom(
      of(...items).pipe(inOrder({ ...options, project: async (item) => item.n }), toArray()),
    );
    expect(results).toEqual(items.map(({ n }) => n));
  });

  it('CONC-05: a burst of 10 000 stays within the limit, and everything is either done or counted', async () => {
    const source$ = new Subject<Item>();
    let inWork = 0;
    const results = firstValueFrom(
      source$.pipe(
        inOrder({
          producer: 'burst',
          keyOf: ({ key }) => key,
          limit: 256,
          concurrency: 4,
          monoMs: () => 0,
          project: async (item) => {
            inWork += 1;
            expect(inWork).toBeLessThanOrEqual(4);
            await Promise.resolve();
            inWork -= 1;
            return item;
          },
        }),
        toArray(),
      ),
    );
    for (let n = 0; n < 10_000; n += 1) source$.next({ key: String(n % 7), n });
    source$.complete();
    const out = await results;
    const gaps = out.filter((one): one is OverflowGap => 'kind' in one);
    const done = out.filter((one): one is Item => !('kind' in one));
    expect(gaps).toHaveLength(1);
    expect(done.length + gaps[0]!.dropped).toBe(10_000);
    expect(done).toHaveLength(256 + 4);
    for (let key = 0; key < 7; key += 1) {
      const ofKey = done.filter((one) => one.key === String(key)).map(({ n }) => n);
      expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
    }
  });

  it('works on several keys at once and on one key never twice', () => {
    const { source$, running, numbers } = workbench(10, 2);
    for (const key of ['a', 'a', 'b', 'c']) source$.next({ key, n: running.length });
    expect(running.map(({ item }) => item.key)).toEqual(['a', 'b']);
    running.splice(1, 1)[0]!.done();
    expect(running.map(({ item }) => item.key)).toEqual(['a', 'c']);
    running.shift()!.done();
    expect(running.map(({ item }) => item.key)).toEqual(['c', 'a']);
    expect(numbers()).toHaveLength(2);
  });

  it('completes after the last piece of work, and passes an error on at once', () => {
    const first = workbench(10);
    first.source$.next({ key: 'a', n: 1 });
    first.source$.complete();
    expect(first.state.completed).toBe(false);
    first.finish();
    expect(first.state.completed).toBe(true);

    const second = workbench(10);
    second.source$.error(new Error('source'));
    expect(second.state.error).toEqual(new Error('source'));

    let seen: unknown;
    of({ key: 'a', n: 1 })
      .pipe(
        inOrder({
          producer: 't',
          keyOf: () => 'a',
          project: () => throwError(() => 'work'),
          limit: 1,
          monoMs: () => 0,
        }),
      )
      .subscribe({
        error: (error) => {
          seen = error;
        },
      });
    expect(seen).toBe('work');
  });

  it('unsubscribing ends the work in progress and starts no more', () => {
    const { source$, running, subscription, numbers } = workbench(10);
    source$.next({ key: 'a', n: 1 });
    source$.next({ key: 'a', n: 2 });
    subscription.unsubscribe();
    expect([source$.observed, running[0]!.isObserved()]).toEqual([false, false]);
    running.shift()!.done();
    expect(running).toHaveLength(0);
    expect(numbers()).toEqual([]);
  });

  it('ten thousand pieces of work that are done at once need no deep stack', () => {
    const source$ = new Subject<Item>();
    const first$ = new Subject<number>();
    let done = 0;
    const project = ({ n }: Item) => (n === 0 ? first$ : of(n));
    source$
      .pipe(inOrder({ producer: 't', keyOf: () => 'a', project, limit: 10_000, monoMs: () => 0 }))
      .subscribe(() => {
        done += 1;
      });
    for (let n = 0; n <= 10_000; n += 1) source$.next({ key: 'a', n });
    expect(done).toBe(0);
    first$.complete();
    expect(done).toBe(10_000);
  });
});
