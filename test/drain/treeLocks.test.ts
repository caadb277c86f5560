import { describe, expect, it } from 'vitest';
import { TreeLocks } from '../../actors/drain/treeLocks.ts';

/** Orders with a hand on each: `began` says whose work has begun, `end` lets one end. */
function orders(leaving = new AbortController()) {
  const locks = new TreeLocks();
  const began: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const order = (...path: string[]) =>
    locks.during(path, leaving.signal, async () => {
      began.push(path[0]!);
      await new Promise<void>((resolve, reject) =>
        ends.set(path[0]!, (error) => (error === undefined ? resolve() : reject(error))),
      );
    });
  const end = async (scopeId: string, error?: Error) => {
    ends.get(scopeId)!(error);
    await new Promise(setImmediate);
  };
  return { order, end, began: () => [...began], leaving, locks };
}
const turn = () => new Promise(setImmediate);

describe('SHUT-09: the lock of tree stops', () => {
  it('lets scopes side by side, and trees that do not touch, go at once', async () => {
    const { order, began } = orders();
    for (const path of [['a', 'root'], ['b', 'root'], ['c']]) void order(...path);
    await turn();
    expect(began()).toEqual(['a', 'b', 'c']);
  });

  it('keeps an order waiting for every earlier one that overlaps, inside or around it, and for no other', async () => {
    const { order, end, began } = orders();
    void order('leaf', 'middle', 'root');
    void order('other', 'root');
    void order('middle', 'root');
    void order('root');
    void order('leaf', 'middle', 'root');
    await turn();
    expect(began()).toEqual(['leaf', 'other']);
    await end('leaf');
    expect(began()).toEqual(['leaf', 'other', 'middle']);
    await end('middle');
    expect(began()).toEqual(['leaf', 'other', 'middle']);
    await end('other');
    expect(began()).toEqual(['leaf', 'other', 'middle', 'root']);
    await end('root');
    expect(began()).toEqual(['leaf', 'other', 'middle', 'root', 'leaf']);
  });

  it('is given back by an order that fails, with its own error', async () => {
    const { order, end, began } = orders();
    const failing = order('root');
    void order('leaf', 'root');
    await turn();
    const failed = expect(failing).rejects.toThrow('no answer');
    await end('root', new Error('no answer'));
    await failed;
    expect(began()).toEqual(['root', 'leaf']);
  });

  it('lets nobody begin who waits when the daemon leaves', async () => {
    const { order, end, began, leaving } = orders();
    void order('root');
    const waiting = order('leaf', 'root');
    await turn();
    const given = expect(waiting).rejects.toThrow('leaving');
    leaving.abort(new Error('leaving'));
    await given;
    await expect(order('late', 'elsewhere')).rejects.toThrow('leaving');
    await end('root');
    expect(began()).toEqual(['root']);
  });
});
