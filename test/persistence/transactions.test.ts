import { describe, expect, it } from 'vitest';
import { assertNoTransaction } from '../../persistence/transaction.ts';
import { newStore } from './support/temporaryStore.ts';

describe('JRN-01: all or nothing', () => {
  it('keeps everything of a transaction, or nothing when it throws', () => {
    const store = newStore();
    store.write(() => store.meta.set('test.a', '1'));
    const attempt = () =>
      store.write(() => {
        store.meta.set('test.a', '2');
        store.meta.set('test.b', '2');
        throw new Error('stop');
      });
    expect(attempt).toThrow('stop');
    expect([store.meta.get('test.a'), store.meta.get('test.b')]).toEqual(['1', undefined]);
  });

  it('undoes a savepoint without its surroundings', () => {
    const store = newStore();
    store.write(() => {
      store.meta.set('test.outer', '1');
      const inner = () =>
        store.savepoint(() => {
          store.meta.set('test.inner', '1');
          store.savepoint(() => store.meta.set('test.innermost', '1'));
          throw new Error('stop');
        });
      expect(inner).toThrow('stop');
      store.savepoint(() => store.meta.set('test.next', '1'));
    });
    const names = ['outer', 'inner', 'innermost', 'next'];
    expect(names.map((name) => store.meta.get(`test.${name}`))).toEqual(['1', undefined, undefined, '1']);
  });
});

describe('CONC-02: nothing from outside runs inside a transaction', () => {
  it('tells a port that a transaction is open', () => {
    const store = newStore();
    assertNoTransaction('git');
    store.write(() => expect(() => assertNoTransaction('git')).toThrow('git was entered'));
    expect(() =>
      store.write(() => {
        throw new Error('stop');
      }),
    ).toThrow('stop');
    assertNoTransaction('git');
  });

  it('holds for every store of the process', () => {
    const [one, other] = [newStore(), newStore()];
    one.write(() => expect(() => other.write(() => {})).toThrow('was entered'));
  });

  it('refuses asynchronous work, whose later parts would run after the commit', () => {
    const store = newStore();
    const attempt = () =>
      store.write(async () => {
        store.meta.set('test.a', '1');
      });
    expect(attempt).toThrow('asynchronous');
    expect(store.meta.get('test.a')).toBeUndefined();
    expect(() => store.write(() => store.savepoint(() => Promise.resolve()))).toThrow('asynchronous');
    assertNoTransaction('git');
  });
});
