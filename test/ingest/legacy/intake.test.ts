/** Records of other tools on a real store: what they become, and what they never become (INT-07, INT-08, INT-09). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LegacyIntake } from '../../../actors/ingest/legacy/intake.ts';
import { legacyRunId, legacyScopeId } from '../../../actors/ingest/legacy/names.ts';
import { createSystemClock } from '../../../actors/observe/linux/clock.ts';
import { confirmClaims } from '../../../actors/reconcile/claims.ts';
import { committed, everyRow } from '../../../actors/runtime/actorAccess.ts';
import { draft } from '../../../actors/runtime/submission.ts';
import { canonicalDigest } from '../../../machines/canonical.ts';
import { executionScopeDefinition } from '../../../machines/executionScope.ts';
import { type LegacyRecord, legacyRecordSchema } from '../../../machines/legacyRecord.ts';
import { migrationBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { claimOf, job } from '../../observeOnly/support/observing.ts';
import { tamper } from '../../persistence/support/tamper.ts';
import { place, testIntake } from '../support/notes.ts';

type Given = { readonly kind: LegacyRecord['kind'] } & Record<string, unknown>;

const record = (given: Given): LegacyRecord =>
  legacyRecordSchema.parse({ ...given, digest: canonicalDigest(given as never) });
const run = (name = 'r', rest: object = {}) => record({ kind: 'run', name, ...rest });
const worktree = (name: string | null = 'w', rest: object = {}) =>
  record({ kind: 'worktree', name, place, commonGitDir: '/srv/.git', branch: null, commit: null, ...rest });
const binding = (name = 'r', to = 'w') => record({ kind: 'binding', run: name, worktree: to });

function legacy() {
  const { store, host, adapter, generations } = testIntake();
  const intake = new LegacyIntake({ host, store, adapter, clock: createSystemClock() });
  const source = { installationId: store.installationId, tool: 'herd' };
  return {
    ...{ store, host, adapter, generations },
    run: (name = 'r') => committed(host, 'run', legacyRunId(source, name)),
    scope: (name = 'r') => committed(host, 'executionScope', legacyScopeId(source, name)),
    position: () => store.journal.lastPosition(),
    async take(records: readonly LegacyRecord[], { dryRun = false, tool = 'herd' } = {}): Promise<readonly string[]> {
      const answers = await intake.take({ tool, records, dryRun });
      return answers.map(({ outcome, reason }) => (reason ? `${outcome} ${reason}` : outcome));
    },
    confirm: (maxCount = 100) => confirmClaims({ host, store, adapter, batch: 64, maxCount }),
  };
}

describe('INT-07, INT-08: a run that another tool has on record', () => {
  it('is unresolved, with what nobody told as its gaps, and its tree is unverified and theirs', async () => {
    const { take, ...seen } = legacy();
    expect(await take([run('r', { exit: { code: 0 } })])).toEqual(['imported']);
    const { value, context } = seen.run()!;
    expect(value).toEqual({ lifecycle: { reserved: 'unresolved' }, exitReport: 'reported' });
    expect(context).toMatchObject({
      ...{ origin: 'legacy', mode: 'observe', label: 'herd:r', identity: null, end: null, goalRef: null },
      ...{ unresolvedReason: 'legacy_record', gaps: ['launch_missing', 'place_missing', 'process_missing'] },
    });
    const scope = seen.scope()!;
    expect(scope.value).toMatchObject({ coverage: { unverified: 'gap' } });
    expect(scope.context).toMatchObject({ kind: 'external', controller: 'herd', generationId: null });
    expect(executionScopeDefinition.isReleased(scope)).toBe(true);
    expect(seen.host.list('executionScope', { released: false })).toEqual([]);
  });

  it('that is known changes nothing, and one under its name that says something else is a conflict of its own', async () => {
    const { take, position } = legacy();
    const all = [worktree(), run(), run('s')];
    await take(all);
    await take([binding()]);
    const before = position();
    expect(await take([...all, binding()])).toEqual(['known', 'known', 'known', 'known']);
    const odd = [run('r', { startedWallMs: 5 }), worktree('w', { branch: 'other' }), binding('r', 'v')];
    expect(await take(odd)).toEqual(Array(3).fill('conflict other_contents'));
    expect(position()).toBe(before);
    expect(await take([...odd, run('t')])).toEqual([...Array(3).fill('conflict other_contents'), 'imported']);
  });

  it('of another tool under the same name is another run', async () => {
    const { take, host } = legacy();
    await take([run()]);
    expect(await take([run('r', { startedWallMs: 9 })], { tool: 'flock' })).toEqual(['imported']);
    expect(host.list('run')).toHaveLength(2);
  });

  it('says in a dry run what would become of it, and writes nothing', async () => {
    const { take, position, store } = legacy();
    await take([run()]);
    const before = position();
    const dry = [run(), run('r', { endedWallMs: 1 }), run('s'), worktree()];
    expect(await take(dry, { dryRun: true })).toEqual(['known', 'conflict other_contents', 'imported', 'imported']);
    expect(position()).toBe(before);
    expect(store.legacyRecords.find({ tool: 'herd', kind: 'run', name: 's' })).toBeUndefined();
  });
});

describe('INT-09: a worktree that another tool has on record', () => {
  it('keeps its controller; nobody is granted it, and who migrates it has evidence and no unresolved run there', async () => {
    const { take, host, generations } = legacy();
    await take([worktree(), run()]);
    await take([binding()]);
    const [generation] = generations();
    expect(generation!.value).toEqual({ lifecycle: 'open', authority: 'observe' });
    expect(generation!.context).toMatchObject({ origin: 'legacy', controller: 'legacy', authorityEpoch: 1 });
    const { generationId } = generation!.context;
    const to = ['worktreeGeneration', generationId] as const;
    const asked = { requestId: 'q', actor: 'operator' };
    const evidence = { ...asked, migrationVerified: true, evidenceRefs: ['report'] };
    const outcomes = [
      ...(await host.submit([draft('authority.granted', { to, payload: { ...asked, gateReport: 'x' }, by: 'test' })])),
      ...(await host.submit([draft('authority.migrated', { to, payload: evidence, by: 'test', eventId: 'm' })])),
    ];
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason])).toEqual(
      Array(2).fill(['rejected', 'guard_refused']),
    );
    expect(migrationBlockersOf(generations()[0]!).map(({ code }) => code)).toContain('noted_run');
  });

  it('is migrated with evidence where no run is unresolved', async () => {
    const { take, host, generations } = legacy();
    await take([worktree()]);
    const to = ['worktreeGeneration', generations()[0]!.context.generationId] as const;
    const payload = { requestId: 'q', actor: 'operator', migrationVerified: true, evidenceRefs: ['report'] };
    await host.submit([draft('authority.migrated', { to, payload, by: 'test', eventId: 'm' })]);
    expect(generations()[0]!.matches({ authority: 'managed' })).toBe(true);
  });

  it('is the same generation under two names and from two tools, and another one once it was made anew (WT-01)', async () => {
    const { take, generations } = legacy();
    expect(await take([worktree('w'), worktree('v')])).toEqual(['imported', 'known']);
    expect(await take([worktree(null)], { tool: 'git' })).toEqual(['known']);
    expect(generations()).toHaveLength(1);
    const anew = { place: { ...place, born: '6' } };
    expect(await take([worktree(null, anew)], { tool: 'git' })).toEqual(['imported']);
    expect(generations().map(({ context }) => context.pathObservation)).toEqual(['replaced', null]);
  });

  it('that this program controls gets no run noted: it stands in the way there as a gap does (PROMO-01, WT-04)', async () => {
    const { take, host, generations, ...seen } = legacy();
    await take([worktree(), run()]);
    const to = ['worktreeGeneration', generations()[0]!.context.generationId] as const;
    const payload = { requestId: 'q', actor: 'operator', migrationVerified: true, evidenceRefs: ['report'] };
    await host.submit([draft('authority.migrated', { to, payload, by: 'test', eventId: 'm' })]);
    expect(await take([worktree(), binding()])).toEqual(['known controlled_here', 'imported controlled_here']);
    expect(await take([binding()])).toEqual(['known']);
    const { noted, coverageGaps } = generations()[0]!.context;
    expect([noted, coverageGaps.open]).toEqual([{}, [`stranger:${seen.run()!.context.runId}`]]);
    expect(seen.run()!.context.generationId).toBeNull();
  });

  it('bound to a run that is not known, or not there, is refused', async () => {
    const { take } = legacy();
    await take([run()]);
    expect(await take([binding('s'), binding()])).toEqual(['refused unknown_run', 'refused unknown_worktree']);
  });
});

describe('RUN-02, RUN-05, ID-06: the process that a record claims', () => {
  it('is bound when that very process is seen alive, never by the import, and ends as any other', async () => {
    const { take, confirm, ...seen } = legacy();
    const theirs = await job();
    await take([run('r', { process: claimOf(theirs.process) })]);
    expect(seen.run()!.matches({ lifecycle: { reserved: 'unresolved' } })).toBe(true);
    expect(await confirm()).toEqual({ bound: 1, refuted: 0, open: 0 });
    expect(seen.run()!.context).toMatchObject({ identity: { pid: theirs.process.pid }, unresolvedReason: null });
    expect(seen.run()!.matches({ lifecycle: 'bound' })).toBe(true);
  });

  it.each<readonly [string, (claim: ReturnType<typeof claimOf>) => object, string]>([
    ['began at another time', (claim) => ({ ...claim, startTicks: '1' }), 'claim_replaced'],
    ['belongs to another boot', (claim) => ({ ...claim, bootId: 'an-earlier-boot' }), 'claim_boot_changed'],
    ['belongs to another user', (claim) => ({ ...claim, uid: claim.uid + 1 }), 'claim_uid_changed'],
  ])('leaves the run unresolved when it %s, and is looked for once', async (_, bend, reason) => {
    const { take, confirm, position, ...seen } = legacy();
    await take([run('r', { process: bend(claimOf((await job()).process)) })]);
    expect(await confirm()).toEqual({ bound: 0, refuted: 1, open: 0 });
    expect(seen.run()!.value).toMatchObject({ lifecycle: { reserved: 'unresolved' } });
    expect(seen.run()!.context).toMatchObject({ unresolvedReason: reason, identity: null, end: null });
    const before = position();
    expect(await confirm()).toEqual({ bound: 0, refuted: 0, open: 0 });
    expect(position()).toBe(before);
  });

  it('that has ended meanwhile verifies nothing: its run is not over, it is unresolved (I-03)', async () => {
    const { take, confirm, ...seen } = legacy();
    const theirs = await job();
    await take([run('r', { process: claimOf(theirs.process) })]);
    await theirs.end();
    expect(await confirm()).toEqual({ bound: 0, refuted: 1, open: 0 });
    expect(seen.run()!.context).toMatchObject({ identity: null, end: null });
    expect(seen.run()!.context.unresolvedReason).toMatch(/^claim_(absent|defunct)$/);
  });

  it('is looked for no more where its row is damaged, and keeps no other from being found', async () => {
    const { take, confirm, store, ...seen } = legacy();
    const process = claimOf((await job()).process);
    await take([run('r', { process: { ...process, startTicks: '1' } }), run('s', { process })]);
    tamper(store, "UPDATE legacy_processes SET identity = '{' WHERE claim = 1");
    expect(await confirm()).toEqual({ bound: 1, refuted: 1, open: 0 });
    expect(seen.run('r')!.context).toMatchObject({ identity: null, unresolvedReason: 'claim_damaged' });
  });

  it('stays open where it cannot be looked at from here, and is asked for again', async () => {
    const { take, confirm, ...seen } = legacy();
    await take([run('r', { process: { ...claimOf((await job()).process), pidNamespace: '1' } })]);
    for (const _ of [1, 2]) expect(await confirm()).toEqual({ bound: 0, refuted: 0, open: 1 });
    expect(seen.run()!.context.unresolvedReason).toBe('legacy_record');
  });

  it.each(['startTicks', 'bootId', 'uid', 'pidNamespace', 'timeNamespace'] as const)(
    'is nobody without %s, and nobody is looked for',
    async (part) => {
      const { take, confirm, ...seen } = legacy();
      const { [part]: _, ...rest } = claimOf((await job()).process);
      await take([run('r', { process: rest })]);
      expect(await confirm()).toEqual({ bound: 0, refuted: 0, open: 0 });
      expect(seen.run()!.context).toMatchObject({
        identity: null,
        gaps: ['launch_missing', 'place_missing', 'process_incomplete'],
      });
    },
  );

  it('is one run at most (I-06)', async () => {
    const { take, confirm, ...seen } = legacy();
    const process = claimOf((await job()).process);
    await take([run('r', { process }), run('s', { process })]);
    expect(await confirm()).toEqual({ bound: 1, refuted: 1, open: 0 });
    expect(seen.run('s')!.context).toMatchObject({ identity: null, unresolvedReason: 'claim_taken' });
  });

  it('is looked for within bounds, and the next pass goes on behind', async () => {
    const { take, confirm } = legacy();
    const { process } = await job();
    const claims = ['1', '2', '3'].map((startTicks) => ({ ...claimOf(process), startTicks }));
    await take(claims.map((claim, at) => run(`r${at}`, { process: claim })));
    expect(await confirm(2)).toEqual({ bound: 0, refuted: 2, open: 1 });
    expect(await confirm(2)).toEqual({ bound: 0, refuted: 1, open: 0 });
  });
});

const many = process.env.CUSTODY_SOAK === '1' ? 10_000 : 200;

it('takes many in, keeps little in memory for each, and none of them twice', async ({ annotate }) => {
  const { take, host, position } = legacy();
  const runs = Array.from({ length: many }, (_, at) => run(`r${at}`));
  const before = process.memoryUsage().heapUsed;
  for (let from = 0; from < many; from += 100) await take(runs.slice(from, from + 100));
  const reached = position();
  for (let from = 0; from < many; from += 100) await take(runs.slice(from, from + 100));
  expect(position()).toBe(reached);
  expect([...everyRow(host, 'run')]).toHaveLength(many);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000_000);
  await annotate(`${many} records, twice`);
});

it('ends the same whatever is repeated, and in whatever batches (JRN-05)', async () => {
  const records = [worktree(), worktree('v', { place: { ...place, ino: '9' } }), run(), run('s'), run('t')];
  const bindings = [binding(), binding('s', 'v')];
  const summary = ({ generations, ...seen }: ReturnType<typeof legacy>) => ({
    generations: generations().map(({ context }) => Object.keys(context.noted).length),
    runs: ['r', 's', 't'].map((name) => [seen.run(name)!.value, seen.run(name)!.context.gaps]),
  });
  const once = legacy();
  await once.take(records);
  await once.take(bindings);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 6 }), async (again) => {
      const tried = legacy();
      for (const at of again) await tried.take([records[at]!]);
      await tried.take([...records, ...again.map((at) => records[at]!)]);
      for (const one of [...bindings, ...bindings]) await tried.take([one]);
      const [a, b] = [summary(tried), summary(once)];
      expect({ ...a, generations: a.generations.toSorted() }).toEqual({ ...b, generations: b.generations.toSorted() });
    }),
    { numRuns: process.env.CUSTODY_SOAK === '1' ? 300 : 10 },
  );
});
