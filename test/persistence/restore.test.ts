import { copyFileSync, cpSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import { addActor } from './support/rows.ts';
import { newStore, opened, temporaryDirectory } from './support/temporaryStore.ts';
import { rejection } from './support/thrown.ts';

const reopen = (stateDir: string): Store => opened({ stateDir, create: false });
const touch = (store: Store, name = 'test.touched') => store.write(() => store.meta.set(name, 'yes'));
const describeStart = ({ epoch, startNumber, restored }: Store) => ({ epoch, startNumber, restored });

describe('starts and epochs', () => {
  it('counts the starts that wrote something', () => {
    const first = newStore();
    touch(first);
    first.close();
    const { stateDir } = first;
    const second = reopen(stateDir);
    expect(describeStart(second)).toEqual({ epoch: 1, startNumber: 2, restored: undefined });
    second.close();
    const third = reopen(stateDir);
    expect(describeStart(third)).toEqual({ epoch: 1, startNumber: 2, restored: undefined });
    touch(third);
    third.close();
    expect(describeStart(reopen(stateDir))).toEqual({ epoch: 1, startNumber: 3, restored: undefined });
  });

  it('does not count a start whose first transaction failed', () => {
    const store = newStore();
    expect(() =>
      store.write(() => {
        throw new Error('stop');
      }),
    ).toThrow('stop');
    touch(store);
    store.close();
    expect(reopen(store.stateDir).startNumber).toBe(2);
  });
});

describe('ruling 29: a restored store begins a new epoch', () => {
  it('from a backup, once', async () => {
    const store = newStore();
    addActor(store, 'R1');
    const copy = join(temporaryDirectory(), 'copy.db');
    const report = await store.backup(copy);
    expect(report).toEqual({ path: copy, bytes: lstatSync(copy).size });
    addActor(store, 'R2');
    store.close();
    const { stateDir } = store;
    const database = join(stateDir, 'custody.db');
    rmSync(database);
    copyFileSync(copy, database);
    const restored = reopen(stateDir);
    expect(describeStart(restored)).toEqual({ epoch: 2, startNumber: 2, restored: 'backup' });
    expect(restored.warnings.map(({ code }) => code)).toContain('store_restored');
    expect(restored.installationId).toBe(store.installationId);
    expect(restored.actors.list('run').map(({ id }) => id)).toEqual(['R1']);
    touch(restored);
    restored.close();
    expect(describeStart(reopen(stateDir))).toEqual({ epoch: 2, startNumber: 3, restored: undefined });
  });

  it('stays noticed until it has been recorded', async () => {
    const store = newStore();
    touch(store);
    const copy = join(temporaryDirectory(), 'copy.db');
    await store.backup(copy);
    store.close();
    renameSync(copy, join(store.stateDir, 'custody.db'));
    const looked = reopen(store.stateDir);
    expect(looked.epoch).toBe(2);
    looked.close();
    expect(describeStart(reopen(store.stateDir))).toMatchObject({ epoch: 2, restored: 'backup' });
  });

  it('from a copy of the whole directory', () => {
    const store = newStore();
    touch(store);
    store.close();
    const elsewhere = join(temporaryDirectory(), 'state');
    cpSync(store.stateDir, elsewhere, { recursive: true });
    expect(describeStart(reopen(elsewhere))).toMatchObject({ epoch: 2, restored: 'moved' });
  });

  it('from an older copy written over the same file', () => {
    const store = newStore();
    touch(store);
    store.close();
    const database = join(store.stateDir, 'custody.db');
    const copy = join(temporaryDirectory(), 'copy.db');
    copyFileSync(database, copy);
    const later = reopen(store.stateDir);
    touch(later);
    later.close();
    const inode = lstatSync(database).ino;
    copyFileSync(copy, database);
    expect(lstatSync(database).ino).toBe(inode);
    expect(describeStart(reopen(store.stateDir))).toMatchObject({ epoch: 2, restored: 'older_copy' });
  });

  it('but not after a crash between the commit and the new token', () => {
    const store = newStore();
    const token = join(store.stateDir, 'custody.start');
    const kept = join(temporaryDirectory(), 'token');
    copyFileSync(token, kept);
    touch(store);
    store.close();
    copyFileSync(kept, token);
    expect(reopen(store.stateDir).restored).toBeUndefined();
  });
});

describe('backup', () => {
  it('JRN-08: makes a private file and replaces none', async () => {
    const store = newStore();
    const directory = temporaryDirectory();
    const previous = process.umask(0);
    try {
      await store.backup(join(directory, 'copy.db'));
    } finally {
      process.umask(previous);
    }
    expect(readdirSync(directory)).toEqual(['copy.db']);
    expect(lstatSync(join(directory, 'copy.db')).mode & 0o777).toBe(0o600);
    expect(await rejection(store.backup(join(directory, 'copy.db')))).toMatchObject({
      code: 'backup_target_exists',
      exitCode: 2,
    });
    writeFileSync(join(directory, 'empty'), '');
    expect(await rejection(store.backup(join(directory, 'empty')))).toMatchObject({ code: 'backup_target_exists' });
    expect(await rejection(store.backup(join(directory, 'missing', 'copy.db')))).toMatchObject({
      code: 'backup_target_unusable',
    });
  });

  it('is complete while the store goes on', async () => {
    const store = newStore();
    addActor(store, 'R1');
    const stateDir = join(temporaryDirectory(), 'state');
    const other = opened({ stateDir });
    other.close();
    rmSync(join(stateDir, 'custody.db'));
    await store.backup(join(stateDir, 'custody.db'));
    touch(store);
    const copy = reopen(stateDir);
    expect(await copy.check()).toMatchObject({ ok: true, checked: { actors: 1 } });
    expect(copy.meta.get('test.touched')).toBeUndefined();
  });
});
