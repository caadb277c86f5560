import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aside } from '../../persistence/aside.ts';
import { connect } from '../../persistence/connection.ts';
import { bundled, node } from './support/children.ts';
import { addActor } from './support/rows.ts';
import { newStore, temporaryDirectory } from './support/temporaryStore.ts';
import { rejection } from './support/thrown.ts';

const opener = bundled('test/persistence/fixtures/opener.ts', 'openerAside');

/** How often the event loop came round until `work` was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work.finally(() => {
    isOver = true;
  });
  return turns;
}

describe('a long statement', () => {
  const counting = `WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 100000)
    SELECT count(*) AS rows FROM counted`;

  it('leaves the event loop to everybody else', async () => {
    const { stateDir } = newStore();
    const connection = connect(join(stateDir, 'custody.db'));
    const counted = aside(connection, counting);
    expect(await turnsDuring(counted)).toBeGreaterThan(0);
    expect(await counted).toEqual([{ rows: 100_000 }]);
    connection.close();
  });

  it('cannot write, and says what is wrong with the store in the words of the store', async () => {
    const { stateDir } = newStore();
    const connection = connect(join(stateDir, 'custody.db'));
    expect(await rejection(aside(connection, 'DELETE FROM meta'))).toMatchObject({ code: 'store_permissions' });
    await expect(aside(connection, 'SELECT 1 FROM nowhere')).rejects.toThrow('nowhere');
    connection.close();
  });
});

describe('a backup and a full check', () => {
  it('let the event loop go on, and the store be written meanwhile', async () => {
    const store = newStore();
    addActor(store, 'R1');
    const copied = store.backup(join(temporaryDirectory(), 'copy.db'));
    const checked = store.check();
    addActor(store, 'R2');
    expect(await turnsDuring(copied)).toBeGreaterThan(0);
    expect(await checked).toMatchObject({ ok: true });
    expect(store.actors.list('run').map(({ id }) => id)).toEqual(['R1', 'R2']);
  });

  it('ruling 17: leave the runtime its lock', async () => {
    const store = newStore();
    await Promise.all([store.backup(join(temporaryDirectory(), 'copy.db')), store.check()]);
    expect(JSON.parse(await node(opener, store.stateDir).nextLine())).toMatchObject({ code: 'runtime_busy' });
    addActor(store, 'R1');
  });
});
