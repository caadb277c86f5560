import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { keptPasses } from '../../persistence/tables/passes.ts';
import { keptRejections } from '../../persistence/tables/rejections.ts';
import { actorRow, addActor, addEvent, effectRow } from './support/rows.ts';
import { newStore } from './support/temporaryStore.ts';

describe('actors', () => {
  it('JRN-06: updates a row only at the version that the change was computed from', () => {
    const store = newStore();
    const key = addActor(store, 'R1');
    const next = { ...actorRow('R1', { version: 2, snapshot: '{"value":"bound"}' }), key };
    expect(store.write(() => store.actors.update(next))).toBe(true);
    expect(store.write(() => store.actors.update(next))).toBe(false);
    expect(store.write(() => store.actors.update({ ...next, version: 4 }))).toBe(false);
    expect(store.actors.read({ kind: 'run', id: 'R1' })).toEqual(next);
  });

  it('JRN-06: knows one actor per kind and id', () => {
    const store = newStore();
    addActor(store, 'R1');
    expect(addActor(store, 'R1')).toBeUndefined();
    addActor(store, 'R1', { kind: 'goal' });
    expect(store.actors.read({ kind: 'run', id: 'R2' })).toBeUndefined();
  });

  it('pages by kind and flags, in both directions', () => {
    const store = newStore();
    store.write(() => {
      for (let n = 1; n <= 20; n += 1) {
        store.actors.insert(actorRow(`R${n}`, { settled: n % 2 === 0, released: n % 4 === 0 }));
      }
      store.actors.insert(actorRow('G1', { kind: 'goal' }));
    });
    const ids = (rows: ReadonlyArray<{ id: string }>) => rows.map(({ id }) => id).join(' ');
    expect(ids(store.actors.list('run', { limit: 3 }))).toBe('R1 R2 R3');
    expect(ids(store.actors.list('run', { limit: 3, after: 3 }))).toBe('R4 R5 R6');
    expect(ids(store.actors.list('run', { limit: 2, newestFirst: true }))).toBe('R20 R19');
    expect(ids(store.actors.list('run', { limit: 2, newestFirst: true, after: 3 }))).toBe('R2 R1');
    expect(ids(store.actors.list('run', { settled: true, released: false }))).toBe('R2 R6 R10 R14 R18');
    expect(ids(store.actors.list('run', { settled: false, limit: 2 }))).toBe('R1 R3');
    expect(store.actors.count('run', { released: true })).toBe(5);
    expect(store.actors.list('scope')).toEqual([]);
  });
});

describe('journal', () => {
  it('pages by actor, type and position', () => {
    const store = newStore();
    const [one, two] = [addActor(store, 'R1'), addActor(store, 'R2')];
    for (let n = 0; n < 10; n += 1) addEvent(store, n % 2 ? one : two, { type: n % 3 ? 'run.noted' : 'run.reserved' });
    const positions = (filter: Parameters<typeof store.journal.page>[0]) =>
      store.journal.page(filter).map(({ position }) => position);
    expect(positions({})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(positions({ after: 8 })).toEqual([9, 10]);
    expect(positions({ actor: { kind: 'run', id: 'R1' } })).toEqual([2, 4, 6, 8, 10]);
    expect(positions({ actor: { kind: 'run', id: 'R1' }, type: 'run.reserved' })).toEqual([4, 10]);
    expect(positions({ type: 'run.reserved', newestFirst: true, limit: 2 })).toEqual([10, 7]);
    expect(positions({ actor: { kind: 'run', id: 'R9' } })).toEqual([]);
    expect(store.journal.page({ limit: 1 })[0]).toMatchObject({
      intact: true,
      actor: { kind: 'run', id: 'R2' },
      envelope: { type: 'run.reserved', eventId: 'e1' },
    });
  });

  it('JRN-06: refuses a row of an actor that does not exist', () => {
    const store = newStore();
    expect(() => addEvent(store, 7)).toThrow('FOREIGN KEY');
    expect(store.journal.lastPosition()).toBe(0);
  });
});

describe('deduplication', () => {
  it('is per actor, and finds all actors of an event id', () => {
    const store = newStore();
    const [one, two] = [addActor(store, 'R1'), addActor(store, 'R2')];
    addEvent(store, one, { eventId: 'shared' });
    expect(store.dedup.find('shared', two)).toBeUndefined();
    addEvent(store, two, { eventId: 'shared' });
    expect(() => addEvent(store, two, { eventId: 'shared' })).toThrow('UNIQUE');
    expect(store.dedup.applied('shared').map(({ actor, position }) => [actor.id, position])).toEqual([
      ['R1', 1],
      ['R2', 2],
    ]);
  });
});

describe('links', () => {
  it('finds actors by what they name, with flags and pages', () => {
    const store = newStore();
    const link = { kind: 'run', name: 'goalId', value: 'G1' };
    store.write(() => {
      for (let n = 1; n <= 6; n += 1) {
        const key = store.actors.insert(actorRow(`R${n}`, { released: n < 4, settled: n < 4 }))!;
        store.links.add(n === 6 ? { ...link, value: 'G2' } : link, key);
      }
    });
    const found = (filter = {}) => store.links.find(link, filter).map(({ id }) => id);
    expect(found()).toEqual(['R1', 'R2', 'R3', 'R4', 'R5']);
    expect(found({ released: false })).toEqual(['R4', 'R5']);
    expect(found({ after: 2, limit: 2 })).toEqual(['R3', 'R4']);
    expect(found({ newestFirst: true, limit: 1 })).toEqual(['R5']);
    expect(store.links.of(1)).toEqual({ goalId: 'G1' });
    expect(store.links.keysOf(link, 1, 2)).toEqual([2, 3]);
    expect(store.links.keysOf({ ...link, value: 'G2' }, 0, 9)).toEqual([6]);
    expect(store.actors.idsOf([6, 2, 99])).toEqual([
      [2, 'R2'],
      [6, 'R6'],
    ]);
    const named = { kind: 'run', name: 'goalId' };
    expect([...store.links.idsOf(named, ['G2', 'Gnone'])]).toEqual([['G2', 'R6']]);
    expect(store.links.idsOf({ ...named, kind: 'goal' }, ['G2']).size).toBe(0);
    store.write(() => store.links.remove(link, 1));
    expect(found()).not.toContain('R1');
  });
});

describe('outbox', () => {
  it('K4: moves an effect forward only, and shows what is open in commit order', () => {
    const store = newStore();
    const key = addActor(store, 'S1');
    store.write(() => {
      for (const position of [3, 2]) store.outbox.insert(effectRow(key, position));
      store.outbox.insert(effectRow(key, 1, { state: 'attempted' }));
    });
    const open = () =>
      store.outbox.open({ position: 0, ordinal: -1 }, 10).map(({ effectId, state }) => [effectId, state]);
    expect(open().map(([id]) => id)).toEqual(['x1', 'x2', 'x3']);
    expect(store.outbox.find('x1')).toMatchObject({ attempts: 1 });
    store.write(() => store.outbox.finish('x2', 'done'));
    expect(open()).toEqual([
      ['x1', 'attempted'],
      ['x3', 'pending'],
    ]);
    store.write(() => store.outbox.retry('x3', 'ECONNREFUSED'));
    expect(store.outbox.find('x3')).toMatchObject({
      state: 'pending',
      attempts: 1,
      error: 'ECONNREFUSED',
      intact: true,
    });
    store.write(() => store.outbox.finish('x1', 'failed', 'gone'));
    expect(store.outbox.open({ position: 1, ordinal: 0 }, 10).map(({ effectId }) => effectId)).toEqual(['x3']);
    expect(() => store.write(() => store.outbox.insert(effectRow(key, 9, { effectId: 'x1' })))).toThrow('UNIQUE');
  });
});

describe('bindings', () => {
  function bound() {
    const store = newStore();
    const runs = ['R1', 'R2', 'R3'].map((id) => addActor(store, id)) as [number, number, number];
    const generations = ['W1', 'W2'].map((id) => addActor(store, id, { kind: 'worktreeGeneration' })) as [
      number,
      number,
    ];
    const bind = (runKey: number, generationKey: number, epoch: number) =>
      store.write(() => store.bindings.insert({ runKey, generationKey, epoch, eventId: `adm:${runKey}` }));
    return { store, runs, generations, bind };
  }

  it('BIND-04: binds a run once and to one generation', () => {
    const { store, runs, generations, bind } = bound();
    bind(runs[0], generations[0], 1);
    expect(() => bind(runs[0], generations[0], 2)).toThrow(expect.objectContaining({ code: 'binding_conflict' }));
    expect(() => bind(runs[0], generations[1], 1)).toThrow(expect.objectContaining({ code: 'binding_conflict' }));
    expect(store.bindings.ofRun('R1')).toEqual({ runId: 'R1', generationId: 'W1', epoch: 1, eventId: 'adm:1' });
  });

  it('BIND-02: takes growing epochs only, per generation, also after a restart', () => {
    const { store, runs, generations, bind } = bound();
    bind(runs[0], generations[0], 5);
    expect(() => bind(runs[1], generations[0], 5)).toThrow(expect.objectContaining({ code: 'binding_conflict' }));
    expect(() => bind(runs[1], generations[0], 4)).toThrow(expect.objectContaining({ code: 'binding_conflict' }));
    bind(runs[1], generations[1], 1);
    bind(runs[2], generations[0], 6);
    expect(store.bindings.ofGeneration('W1').map(({ epoch }) => epoch)).toEqual([6, 5]);
  });

  it('BIND-01: needs both actors', () => {
    const { runs, bind } = bound();
    expect(() => bind(runs[0], 99, 1)).toThrow('FOREIGN KEY');
  });
});

describe('repositories, contracts, deadlines, self-checks', () => {
  it('registers a common git directory once', () => {
    const store = newStore();
    const first = { repoId: 'P1', path: '/src/a', commonGitDir: '/src/a/.git', addedWallMs: 1 };
    const add = (repository: typeof first) => store.write(() => store.repositories.add(repository));
    expect(add(first)).toEqual(first);
    expect(add({ ...first, repoId: 'P2', path: '/src/b' })).toEqual(first);
    add({ ...first, repoId: 'P3', commonGitDir: '/src/c/.git', addedWallMs: 2 });
    expect(store.repositories.list().map(({ repoId }) => repoId)).toEqual(['P1', 'P3']);
    expect(store.repositories.find('P2')).toBeUndefined();
    expect(store.repositories.findByCommonGitDir('/src/c/.git')?.repoId).toBe('P3');
  });

  it('keeps one row per contract', () => {
    const store = newStore();
    const contract = {
      contract: 'scope-exit-proof/1',
      kernel: '6.1',
      guardianDigest: 'd1',
      batteryVersion: 1,
      reportRef: 'r1',
      verifiedWallMs: 1,
    };
    store.write(() => store.contracts.put(contract));
    store.write(() => store.contracts.put({ ...contract, kernel: '6.2' }));
    expect(store.contracts.find('scope-exit-proof/1')).toEqual({ ...contract, kernel: '6.2' });
    expect(store.contracts.find('other/1')).toBeUndefined();
  });

  it('TIME-01, TIME-03: shows deadlines of this boot when due, and those of other boots apart', () => {
    const store = newStore();
    const deadline = { actor: { kind: 'executionScope', id: 'S1' }, purpose: 'hard', basis: { seq: 3 } };
    store.write(() => {
      store.deadlines.arm({ ...deadline, deadlineId: 'late', bootId: 'now', monoMs: 300 });
      store.deadlines.arm({ ...deadline, deadlineId: 'early', bootId: 'now', monoMs: 100 });
      store.deadlines.arm({ ...deadline, deadlineId: 'past', bootId: 'before', monoMs: 1 });
      store.deadlines.arm({ ...deadline, deadlineId: 'moved', bootId: 'now', monoMs: 50 });
      store.deadlines.arm({ ...deadline, deadlineId: 'moved', bootId: 'now', monoMs: 200 });
    });
    expect(store.deadlines.due('now', 200, 10).map(({ deadlineId }) => deadlineId)).toEqual(['early', 'moved']);
    expect(store.deadlines.due('now', 100, 10)).toEqual([
      { ...deadline, deadlineId: 'early', bootId: 'now', monoMs: 100 },
    ]);
    expect(store.deadlines.next('now')).toBe(100);
    expect(store.deadlines.next('tomorrow')).toBeUndefined();
    expect(store.deadlines.ofOtherBoots('now', 10).map(({ deadlineId }) => deadlineId)).toEqual(['past']);
    store.write(() => store.deadlines.disarm('early'));
    expect(store.deadlines.next('now')).toBe(200);
  });

  it('answers with the newest self-check', () => {
    const store = newStore();
    store.write(() => {
      store.selfChecks.insert({ name: 'containment', wallMs: 1, passed: false, report: { why: 'no pidfd' } });
      store.selfChecks.insert({ name: 'containment', wallMs: 2, passed: true, report: null });
    });
    expect(store.selfChecks.newest('containment')).toEqual({
      name: 'containment',
      wallMs: 2,
      passed: true,
      report: null,
    });
    expect(store.selfChecks.newest('other')).toBeUndefined();
  });
});

describe('ruling 3: rejections', () => {
  it('keeps the newest and lets the oldest go', () => {
    const store = newStore();
    const rejection = {
      actor: { kind: 'run', id: 'R1' },
      type: 'run.noted',
      outcome: 'rejected',
      reason: 'guard_refused',
    } as const;
    store.write(() => {
      for (let wallMs = 1; wallMs <= keptRejections + 5; wallMs += 1) {
        store.rejections.insert({ ...rejection, wallMs, eventId: `e${wallMs}`, detail: ['isSmall'] });
      }
    });
    const [newest] = store.rejections.newest({ limit: 1 });
    expect(newest).toMatchObject({ ...rejection, wallMs: keptRejections + 5, detail: ['isSmall'] });
    const oldest = store.rejections.newest({ after: 7, limit: 10 });
    expect(oldest.map(({ wallMs }) => wallMs)).toEqual([6]);
  });
});

describe('observed launches', () => {
  const progress = { producer: 'shell', stream: 'a'.repeat(32), taken: 7, lost: 1, lastNoteWallMs: 5 };

  it('knows how far each stream of notes was taken in, and never goes back', () => {
    const store = newStore();
    expect(store.producers.progress('shell', progress.stream)).toEqual({ taken: 0, lost: 0, lastNoteWallMs: 0 });
    store.write(() => {
      store.producers.advance(progress);
      store.producers.advance({ ...progress, taken: 6, lost: 0, lastNoteWallMs: 4 });
      store.producers.advance({ ...progress, stream: 'b'.repeat(32), taken: 1, lost: 0 });
    });
    const { taken, lost, lastNoteWallMs } = progress;
    expect(store.producers.progress('shell', progress.stream)).toEqual({ taken, lost, lastNoteWallMs });
    expect(store.producers.list()).toHaveLength(2);
  });

  it('INT-05: records a gap once, and closes it once', () => {
    const store = newStore();
    const gap = { gapId: 'g1', producer: 'shell', kind: 'lost', fromWallMs: 1, toWallMs: 2, count: 3, bootId: 'b' };
    store.write(() => {
      expect(store.coverageGaps.record(gap)).toBe(true);
      expect(store.coverageGaps.record({ ...gap, count: 9 })).toBe(false);
      expect(store.coverageGaps.record({ ...gap, gapId: 'g2' })).toBe(true);
    });
    expect(store.coverageGaps.open()).toMatchObject([gap, { gapId: 'g2', closedBy: null }]);
    store.write(() => {
      expect(store.coverageGaps.close('g1', 'boot_epoch', 9)).toBe(true);
      expect(store.coverageGaps.close('g1', 'boot_epoch', 10)).toBe(false);
      expect(store.coverageGaps.close('g3', 'boot_epoch', 10)).toBe(false);
    });
    expect(store.coverageGaps.open().map(({ gapId }) => gapId)).toEqual(['g2']);
    expect(store.coverageGaps.list()[0]).toMatchObject({ closedBy: 'boot_epoch', closedWallMs: 9 });
    expect(store.coverageGaps.count()).toEqual({ recorded: 2, open: 1 });
  });

  it('RET-01: keeps one row of freshness for an actor', () => {
    const store = newStore();
    const key = addActor(store, 'R1');
    const seen = { result: 'alive', reason: 'running', bootId: 'b', monoMs: 1, wallMs: 1 } as const;
    const row = { ...seen, failures: 0, retryMonoMs: null };
    expect(store.freshness.of(key)).toBeUndefined();
    store.write(() => store.freshness.put([key], row));
    store.write(() => store.freshness.put([key], { ...row, monoMs: 2 }));
    expect(store.freshness.of(key)).toEqual({ ...row, monoMs: 2 });
    expect(() => store.write(() => store.freshness.put([key, key + 1], row))).toThrow();
    const other = addActor(store, 'R2');
    store.write(() => store.freshness.put([other, key], { ...row, monoMs: 3 }));
    expect([key, other].map((one) => store.freshness.of(one)?.monoMs)).toEqual([3, 3]);
    const pausing = { ...row, result: 'unknown', failures: 1, retryMonoMs: 9 } as const;
    store.write(() => store.freshness.put([other], pausing));
    expect([...store.freshness.pausing([key, other, 99])]).toEqual([[other, pausing]]);
  });

  it('keeps the newest passes', () => {
    const store = newStore();
    const pass = { wallMs: 1, elapsedUs: 5, reads: 3, lookedAt: 1, deferred: 0, outcomes: { alive: 1 } };
    store.write(() => {
      for (let n = 1; n <= 5; n += 1) store.passes.add({ ...pass, wallMs: n });
    });
    // As if that many had come since.
    const beside = new Database(join(store.stateDir, 'custody.db'));
    beside.prepare('UPDATE passes SET pass = pass + ? WHERE pass > 2').run(keptPasses - 2);
    beside.close();
    store.write(() => store.passes.add({ ...pass, wallMs: 6 }));
    expect(store.passes.newest(10).map(({ wallMs }) => wallMs)).toEqual([6, 5, 4, 3]);
    store.write(() => {
      for (let n = 7; n <= 7 + 1; n += 1) store.passes.add({ ...pass, wallMs: n });
    });
    expect(store.totals.of('passes')).toBe(8);
  });
});
