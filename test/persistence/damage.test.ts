import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import { addActor, addEvent, effectRow } from './support/rows.ts';
import { newStore, opened } from './support/temporaryStore.ts';
import { refusal } from './support/thrown.ts';

/** Three actors with an event and an effect each; closed, so that everything is in the file. */
function filled(): { stateDir: string; database: string; reopen: () => Store } {
  const store = newStore();
  for (const id of ['Raaaaaaaaaa', 'Rbbbbbbbbbb', 'Rcccccccccc']) {
    const key = addActor(store, id);
    const position = addEvent(store, key, { eventId: `note:${id}` });
    store.write(() => store.outbox.insert(effectRow(key, position, { params: `{"scopeId":"S-${id}"}` })));
  }
  store.close();
  const { stateDir } = store;
  return { stateDir, database: join(stateDir, 'custody.db'), reopen: () => opened({ stateDir, create: false }) };
}

/** Turns one bit of the first occurrence of `text` in the file: the kind of damage that SQLite cannot see. */
function flipBitIn(database: string, text: string): void {
  const bytes = readFileSync(database);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  bytes[at + text.length - 1] = (bytes[at + text.length - 1] as number) ^ 1;
  writeFileSync(database, bytes);
}

describe('ruling 27: damage that SQLite cannot see', () => {
  it('fails closed for the actor whose row was changed, and for no other', async () => {
    const { database, reopen } = filled();
    flipBitIn(database, '"context":{"id":"Rbbbbbbbbbb');
    const store = reopen();
    expect(refusal(() => store.actors.read({ kind: 'run', id: 'Rbbbbbbbbbb' }))).toMatchObject({
      code: 'actor_corrupt',
      exitCode: 9,
    });
    expect(store.actors.read({ kind: 'run', id: 'Raaaaaaaaaa' })).toBeDefined();
    expect(store.actors.read({ kind: 'run', id: 'Rcccccccccc' })).toBeDefined();
    expect(await store.check()).toMatchObject({
      ok: false,
      problems: [{ table: 'actors', where: 'run Rbbbbbbbbbb', problem: 'digest_mismatch' }],
      checked: { actors: 3, events: 3, effects: 3 },
    });
  });

  it('shows a changed event as damaged instead of its content', async () => {
    const { database, reopen } = filled();
    flipBitIn(database, '"eventId":"note:Rbbbbbbbbbb');
    const store = reopen();
    const entries = store.journal.page();
    expect(entries.map(({ intact }) => intact)).toEqual([true, false, true]);
    expect(Object.keys(entries[1] as object).sort()).toEqual(['actor', 'intact', 'position']);
    expect((await store.check()).problems).toEqual([{ table: 'journal', where: '2', problem: 'digest_mismatch' }]);
  });

  it('marks an effect whose parameters were changed', async () => {
    const { database, reopen } = filled();
    flipBitIn(database, '"scopeId":"S-Rbbbbbbbbbb');
    const store = reopen();
    expect(store.outbox.open({ position: 0, ordinal: -1 }, 9).map(({ intact }) => intact)).toEqual([true, false, true]);
    expect((await store.check()).problems).toEqual([{ table: 'outbox', where: 'x2', problem: 'digest_mismatch' }]);
  });

  it('notices rows that disagree with each other', async () => {
    const { database, reopen } = filled();
    const editor = new Database(database);
    editor.exec("UPDATE dedup SET version = 7 WHERE event_id = 'note:Raaaaaaaaaa'");
    editor.exec("DELETE FROM journal WHERE event_id = 'note:Rccccccccccc'");
    editor.close();
    expect((await reopen().check()).problems).toEqual([
      { table: 'dedup', where: 'note:Raaaaaaaaaa', problem: 'not_in_journal' },
    ]);
  });

  it('notices a flag that was changed in table and index alike', async () => {
    const { database, reopen } = filled();
    const editor = new Database(database);
    editor.exec("UPDATE actors SET released = 1 WHERE id = 'Rbbbbbbbbbb'");
    editor.close();
    expect((await reopen().check()).problems).toEqual([
      { table: 'actors', where: 'run Rbbbbbbbbbb', problem: 'digest_mismatch' },
    ]);
  });
});

describe('JRN-10, FAULT-08: damage that SQLite sees is named, never an empty answer', () => {
  it('fails a query whose page is broken', async () => {
    const { database, reopen } = filled();
    const pageBytes = 4096;
    const bytes = readFileSync(database);
    const page = Math.floor(bytes.indexOf('"context":{"id":"Rbbbbbbbbbb') / pageBytes);
    bytes.fill(0xff, page * pageBytes, page * pageBytes + 8);
    writeFileSync(database, bytes);
    const store = reopen();
    const lookups = [
      () => store.actors.read({ kind: 'run', id: 'Rbbbbbbbbbb' }),
      () => store.write(() => store.actors.read({ kind: 'run', id: 'Rbbbbbbbbbb' })),
      () => store.actors.inspect(0, 10),
    ];
    for (const lookup of lookups) expect(refusal(lookup)).toMatchObject({ code: 'store_corrupt', exitCode: 9 });
    const report = await store.check();
    expect(report.ok).toBe(false);
    expect(report.problems).toContainEqual(expect.objectContaining({ table: 'file', problem: 'damaged' }));
  });

  it('reports a healthy store as such', async () => {
    const { reopen } = filled();
    expect(await reopen().check()).toEqual({ ok: true, problems: [], checked: { actors: 3, events: 3, effects: 3 } });
  });
});

describe('JRN-02, RET-03: the journal is evidence, not the state', () => {
  it('starts with the same states and the same memory of events when old rows are gone', async () => {
    const { database, reopen } = filled();
    const editor = new Database(database);
    editor.exec('DELETE FROM journal WHERE position <= 2');
    editor.close();
    const store = reopen();
    expect(store.actors.read({ kind: 'run', id: 'Raaaaaaaaaa' })).toMatchObject({ version: 1 });
    expect(store.dedup.find('note:Raaaaaaaaaa', 1)).toEqual({
      payloadDigest: 'd',
      outcome: 'changed',
      version: 1,
      position: 1,
    });
    expect(store.journal.lastPosition()).toBe(3);
    expect(await store.check()).toMatchObject({ ok: true });
  });
});
