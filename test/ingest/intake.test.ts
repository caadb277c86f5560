import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeGapsOfEarlierBoots } from '../../actors/ingest/coverage.ts';
import { draft } from '../../actors/runtime/submission.ts';
import type { Note } from '../../machines/note.ts';
import { bind, bootId, exit, job, noting, place, put, reserve, type Said, testIntake } from './support/notes.ts';

const soak = process.env.CUSTODY_SOAK === '1';

describe('RUN-01, RUN-02, RUN-07: what a launcher tells in its order', () => {
  it('is a reservation, a process, a place, and a claim that it has ended', async () => {
    const { take, run, generations } = testIntake();
    const note = noting();
    expect(await take([note(reserve())])).toEqual(['changed']);
    expect(run()?.value).toEqual({ lifecycle: { reserved: 'pending' }, exitReport: 'absent' });
    expect(await take([note(bind()), note(exit('job-1', 3))])).toEqual(['changed', 'changed']);
    expect(run()?.value).toEqual({ lifecycle: 'bound', exitReport: 'reported' });
    const [generation] = generations();
    expect(run()?.context).toMatchObject({
      mode: 'observe',
      origin: 'observed',
      gaps: [],
      label: 'a job',
      generationId: generation?.context.generationId,
      identity: { pid: job.pid, processToken: job.start, adapterEvidence: job.pidfs },
      exitReport: { exitCode: 3, signal: null, reporter: 'shell' },
      end: null,
      launcher: { producer: 'shell', run: 'job-1' },
    });
    expect(generation?.value).toEqual({ lifecycle: 'open', authority: 'observe' });
    expect(generation?.context).toMatchObject({ origin: 'observed', controller: 'shell', path: place.path });
    expect(Object.keys(generation?.context.noted ?? {})).toEqual([run()?.context.runId]);
  });

  it('in one batch is the same', async () => {
    const { take, run, generations } = testIntake();
    const note = noting();
    const all = [note(reserve('one')), note(bind('one')), note(reserve('two')), note(put('two')), note(exit('one'))];
    expect(await take(all)).toEqual(['changed', 'changed', 'changed', 'noop', 'changed']);
    expect(generations()).toHaveLength(1);
    expect(run('two')?.context.generationId).toBe(run('one')?.context.generationId);
  });

  it('is kept apart by producer', async () => {
    const { take, run } = testIntake();
    await take([noting()(reserve()), noting({ producer: 'other' })(reserve('job-1', { label: 'theirs' }))]);
    expect([run()?.context.label, run('job-1', 'other')?.context.label]).toEqual(['a job', 'theirs']);
  });
});

describe('JRN-05, RUN-02, RUN-06: the same again, and something else under the same name', () => {
  it('changes nothing when it says the same', async () => {
    const { take, store } = testIntake();
    const note = noting();
    const story = [reserve(), bind(), exit()];
    const first = story.map((said) => note(said));
    await take(first);
    const before = store.journal.lastPosition();
    expect(await take(first)).toEqual(['noop', 'duplicate', 'duplicate']);
    expect(await take(first)).toEqual(['duplicate', 'duplicate', 'duplicate']);
    // The same facts in other notes.
    expect(await take(story.map((said) => note(said)))).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(store.journal.lastPosition()).toBe(before + 1);
  });

  it.each<readonly [string, Said, string]>([
    ['another process', bind('job-1', { process: { ...job, pid: 4_243 } }), 'identity_conflict'],
    ['another place', put('job-1', { ...place, ino: '78' }), 'binding_conflict'],
    ['another label', reserve('job-1', { label: 'other' }), 'reservation_conflict'],
    ['another end', exit('job-1', 4), 'event_id_conflict'],
  ])('refuses %s, and keeps what was told first', async (_, said, reason) => {
    const { take, run } = testIntake();
    const note = noting();
    await take([note(reserve()), note(bind()), note(exit('job-1', 3))]);
    const before = run();
    expect(await take([note(said)])).toEqual([`rejected ${reason}`]);
    expect(run()?.context).toEqual(before?.context);
  });

  it.each([
    ['later', false],
    ['in the same batch', true],
  ])('refuses one process for two runs, %s (I-06)', async (_, together) => {
    const { take, run } = testIntake();
    const note = noting();
    const notes = [note(bind('one')), note(bind('two')), note(reserve('two'))];
    const outcomes = together
      ? await take(notes)
      : [...(await take(notes.slice(0, 1))), ...(await take(notes.slice(1)))];
    expect(outcomes).toEqual(['changed', 'rejected identity_conflict', 'changed']);
    expect(run('two')?.matches({ lifecycle: 'reserved' })).toBe(true);
  });

  it('binds an ended run to nothing', async () => {
    const { take, host, run, idOf } = testIntake();
    const note = noting();
    await take([note(bind())]);
    const { identity, identityVersion: basisVersion } = run()!.context;
    const ended = { result: 'ended', reason: 'absent', stable: true, contextDigest: '' } as const;
    const sampledAt = { monoMs: 1, bootId: 'b' };
    const payload = { ...ended, identity: identity!, basisVersion, sampledAt };
    await host.submit([draft('process.observed', { to: ['run', idOf()], payload, by: 'test' })]);
    const elsewhere = { ...job, pid: 5_000 };
    expect(await take([note(bind('job-1', { process: elsewhere }))])).toEqual(['rejected identity_conflict']);
    expect(run()?.matches({ lifecycle: 'ended' })).toBe(true);
  });
});

describe('RUN-05, RUN-08: what was not told', () => {
  it('stands in the gaps, and goes away when it is told after all', async () => {
    const { take, run } = testIntake();
    const note = noting();
    await take([note(exit())]);
    expect(run()?.value).toEqual({ lifecycle: { reserved: 'pending' }, exitReport: 'reported' });
    expect(run()?.context.gaps).toEqual(['reserve_missing', 'place_missing']);
    await take([note(bind())]);
    expect(run()?.context.gaps).toEqual(['reserve_missing', 'place_missing']);
    await take([note(put())]);
    expect(run()?.context.gaps).toEqual(['reserve_missing']);
    await take([note(reserve())]);
    expect(run()?.context).toMatchObject({ gaps: [], label: 'a job' });
  });

  it('reaches the generation that is told after the end', async () => {
    const { take, host, run, idOf, generations } = testIntake();
    const note = noting();
    await take([note(bind())]);
    const { identity, identityVersion: basisVersion } = run()!.context;
    const payload = {
      result: 'ended',
      reason: 'absent',
      stable: true,
      contextDigest: '',
      identity: identity!,
      basisVersion,
      sampledAt: { monoMs: 1, bootId: 'b' },
    } as const;
    await host.submit([draft('process.observed', { to: ['run', idOf()], payload, by: 'test' })]);
    await take([note(put())]);
    expect(generations()[0]?.context).toMatchObject({ noted: {}, notedSettled: { ended: 1 } });
  });
});

describe('WT-01, PROMO-01: where a run works', () => {
  it('is another generation when the directory was made anew, and the old one hears of it', async () => {
    const { take, run, generations } = testIntake();
    const note = noting();
    await take([note(reserve('one')), note(reserve('two', { place: { ...place, born: '6' } }))]);
    await take([note(reserve('three', { place: { ...place, born: '6' } }))]);
    expect(run('one')?.context.generationId).not.toBe(run('two')?.context.generationId);
    expect(run('three')?.context.generationId).toBe(run('two')?.context.generationId);
    expect(generations().map(({ context }) => context.pathObservation)).toEqual(['replaced', null]);
  });

  it('is noted nowhere when this program controls it', async () => {
    const { take, host, store, run, generations } = testIntake();
    const payload = {
      generationId: 'W1' as never,
      path: place.path,
      fsIdentity: { dev: place.dev, ino: place.ino, gitdir: place.gitdir, born: place.born },
      origin: 'native',
      controller: 'custody',
      repoId: null,
      goalId: null,
      branch: null,
      baseCommit: null,
    } as const;
    const to = ['worktreeGeneration', 'W1'] as const;
    await host.submit([
      draft('generation.registered', { to, payload, by: 'test' }),
      draft('authority.granted', { to, payload: { requestId: 'q', actor: 'test', gateReport: null }, by: 'test' }),
    ]);
    const note = noting();
    expect(await take([note(reserve()), note(bind()), note(put())])).toEqual(['changed', 'changed', 'duplicate']);
    expect(run()?.context).toMatchObject({ generationId: null, gaps: ['place_controlled_here'] });
    expect(generations()).toHaveLength(1);
    expect(generations()[0]?.context.noted).toEqual({});
    // And keeps it from its seal until this boot is over (WT-04).
    expect(generations()[0]?.context.coverageGaps).toEqual({ recorded: 1, open: [`stranger:${run()?.context.runId}`] });
    expect(store.coverageGaps.open()).toMatchObject([{ kind: 'foreign_run', producer: 'shell', bootId }]);
    await closeGapsOfEarlierBoots({ host, store }, { bootId, wallMs: 1 });
    expect(generations()[0]?.context.coverageGaps.open).toHaveLength(1);
    await closeGapsOfEarlierBoots({ host, store }, { bootId: 'a later one', wallMs: 1 });
    expect(generations()[0]?.context.coverageGaps.open).toEqual([]);
  });
});

describe('a note that is refused', () => {
  const elsewhere = { ...place, path: '/srv/other', ino: '78' };
  const gapsOf = (generations: ReturnType<typeof testIntake>['generations']) =>
    Object.fromEntries(generations().map(({ context }) => [context.path, context.coverageGaps.open.length]));

  it.each<readonly [string, Said, Record<string, number>]>([
    ['names another directory for its run', put('one', elsewhere), { '/srv/tree': 0, '/srv/other': 1 }],
    [
      'names a process of another run, and a directory',
      bind('three', { place: elsewhere }),
      { '/srv/tree': 0, '/srv/other': 1 },
    ],
    ['names a process of another run, and no directory', bind('three'), { '/srv/tree': 1, '/srv/other': 1 }],
    ['gives another label', reserve('one', { label: 'another' }), { '/srv/tree': 0, '/srv/other': 0 }],
  ])('and %s: is a gap of whom it may be about', async (_, said, gaps) => {
    const { sink, generations, store } = testIntake();
    const note = noting();
    await sink.take([note(reserve('one')), note(bind('one')), note(reserve('two', { place: elsewhere }))]);
    expect(await sink.take([note(said)])).toMatchObject([{ outcome: 'rejected' }]);
    expect(gapsOf(generations)).toEqual(gaps);
    const isGap = Object.values(gaps).includes(1);
    expect(store.coverageGaps.open()).toMatchObject(isGap ? [{ kind: 'note_rejected', count: 1 }] : []);
    // The same note again is the same gap.
    await sink.take([noting()(said, 4)]);
    expect(gapsOf(generations)).toEqual(gaps);
  });
});

describe('CONC-04, FAULT-03, FAULT-10: reordered, duplicated and dropped notes', () => {
  const told = [reserve(), bind(), put(), exit('job-1', 3)];
  const anyHistory = fc.array(fc.integer({ min: 0, max: told.length - 1 }), { minLength: 1, maxLength: 8 });
  const numRuns = soak ? 10_000 : 300;

  it('end like the same notes in order', async ({ annotate }) => {
    const { intake, run } = testIntake();
    let history = 0;
    const stateOf = async (notes: readonly Note[], producer: string) => {
      for (const outcome of await intake.take(notes)) expect(outcome.outcome).not.toBe('rejected');
      const { value, context } = run('job-1', producer)!;
      const { runId: _id, generationId: _g, identity: _i, launcher: _l, exitReport, gaps, ...rest } = context;
      const { reporter: _r, ...report } = exitReport ?? {};
      return { value, ...rest, report, gaps: [...gaps].sort(), placed: context.generationId !== null };
    };
    await fc.assert(
      fc.asyncProperty(anyHistory, async (order) => {
        history += 1;
        // A process of its own for each, because one process is one run.
        const says = (producer: string, pid: number) => {
          const note = noting({ producer });
          const own = told.map((said) =>
            said.type === 'run.bind' ? bind('job-1', { process: { ...job, pid } }) : said,
          );
          return (at: number) => note(own[at]!);
        };
        const shuffled = await stateOf(order.map(says(`p${history}`, 2 * history)), `p${history}`);
        const inOrder = [...new Set(order)].sort().map(says(`q${history}`, 2 * history + 1));
        expect(shuffled).toEqual(await stateOf(inOrder, `q${history}`));
      }),
      { numRuns },
    );
    await annotate(`${numRuns} histories of notes, each beside the same in order`);
  });
});
