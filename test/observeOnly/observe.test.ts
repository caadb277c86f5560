import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bind, exit, place, reserve } from '../ingest/support/notes.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { job, launcher, Observing } from './support/observing.ts';

describe('INT-11: short invocations without a daemon', () => {
  it('FAULT-05, L-01: take notes in, see the process, and see that it has gone without being told', async () => {
    const observing = new Observing();
    const { process, end } = await job();
    const note = launcher();
    const told = [note(reserve('job-1', { place: observing.place() })), note(bind('job-1', { process }))];
    expect(await observing.ingest(told)).toMatchObject({
      code: 0,
      json: { ok: true, command: 'observe.ingest', data: { counts: { changed: 2, rejected: 0, invalid: 0 }, lost: 0 } },
    });
    const first = await observing.observe(['reconcile', '--once']);
    expect(first.json.data.pass).toMatchObject({
      lookedAt: 1,
      complete: true,
      outcomes: { alive: 1 },
      unavailable: null,
    });
    expect((await observing.observe(['status'])).json.data).toMatchObject({
      coverageClass: 'best_effort',
      runs: { bound: 1, unbound: 0, withGaps: 0 },
      producers: [{ producer: 'shell', taken: 2, lost: 0 }],
      lastPass: { lookedAt: 1, outcomes: { alive: 1 } },
    });
    await end();
    expect((await observing.observe(['reconcile'])).json.data.pass).toMatchObject({
      lookedAt: 1,
      outcomes: { ended: 1 },
    });
    // Never again (OBS-11): not even the context is read.
    expect((await observing.observe(['reconcile'])).json.data.pass).toMatchObject({ lookedAt: 0, reads: 0 });
    expect(existsSync(join(observing.stateDir, 'run', 'daemon.json'))).toBe(false);
  });

  it('OBS-12: a pass is bounded by count, and the next one goes on where it stopped', async () => {
    const observing = new Observing();
    const note = launcher();
    const jobs = await Promise.all(Array.from({ length: 7 }, () => job()));
    await observing.ingest(jobs.map(({ process }, at) => note(bind(`job-${at}`, { process }))));
    const counts = [];
    for (let pass = 0; pass < 3; pass += 1) {
      const { json } = await observing.observe(['reconcile', '--once', '--max-count', '3']);
      counts.push([json.data.pass.lookedAt, json.data.pass.complete]);
    }
    expect(counts).toEqual([
      [3, false],
      [3, false],
      [1, true],
    ]);
  });

  it('INT-12: may have been off for long: what ended meanwhile ends, and what lives is the same', async () => {
    const observing = new Observing();
    const note = launcher();
    const [one, two] = [await job(), await job()];
    await observing.ingest([note(bind('one', { process: one.process })), note(bind('two', { process: two.process }))]);
    await one.end();
    expect((await observing.observe(['reconcile'])).json.data.pass.outcomes).toEqual({ alive: 1, ended: 1 });
    expect((await observing.observe(['status'])).json.data.runs).toMatchObject({ bound: 1, withGaps: 1 });
  });
});

describe('INT-05, FAULT-10: notes that were lost', () => {
  it('are a gap with their window, whatever else is told; a hole at the beginning is one as well', async () => {
    const observing = new Observing();
    const note = launcher();
    const notes = [note(reserve(), 3), note(exit(), 6), note(reserve('job-2'), 4)];
    expect((await observing.ingest(notes)).json.data).toMatchObject({ lost: 3, counts: { changed: 3 } });
    const { gaps, producers } = (await observing.observe(['status'])).json.data;
    expect(gaps.shown.map(({ gapId, count }: { gapId: string; count: number }) => [gapId, count])).toEqual([
      [`shell:${'a'.repeat(16)}:1-2`, 2],
      [`shell:${'a'.repeat(16)}:5-5`, 1],
    ]);
    expect(producers).toMatchObject([{ taken: 6, lost: 3 }]);
    // Whichever worktree they were about, this one may be it (INT-06).
    const coverage = (await observing.observe(['coverage'])).json.data;
    expect(coverage).toMatchObject({ more: 0, worktrees: [{ class: 'incomplete', path: place.path }] });
    expect(coverage.worktrees[0].gaps).toEqual(coverage.gaps.map(({ gapId }: { gapId: string }) => gapId));
    expect(JSON.stringify(coverage)).not.toMatch(/"complete"/);
    // The same again finds nothing new.
    expect((await observing.ingest(notes)).json.data).toMatchObject({ lost: 0, counts: { changed: 0 } });
    expect((await observing.observe(['status'])).json.data.gaps).toMatchObject({ recorded: 2, open: 2 });
  });

  it('were lost after the note before, whichever process has taken that in', async () => {
    const observing = new Observing();
    const note = launcher();
    const first = note(reserve());
    await observing.ingest([first]);
    const later = note(exit(), 4);
    await observing.ingest([later]);
    const { gaps } = (await observing.observe(['coverage'])).json.data;
    expect(gaps).toMatchObject([{ fromWallMs: first.at.wallMs, toWallMs: later.at.wallMs }]);
    expect(first.at.wallMs).toBeLessThan(later.at.wallMs);
  });

  it('of an earlier boot are closed by this one, and by nothing else', async () => {
    const observing = new Observing();
    const note = launcher();
    const earlier = { ...note(reserve(), 2) };
    const lines = [{ ...earlier, at: { ...earlier.at, bootId: 'an-earlier-boot', wallMs: 5 } }, note(exit(), 4)];
    await observing.ingest(lines);
    expect((await observing.observe(['reconcile'])).json.data.gapsClosed).toBe(1);
    expect((await observing.observe(['reconcile'])).json.data.gapsClosed).toBe(0);
    expect((await observing.observe(['status'])).json.data.gaps).toMatchObject({ recorded: 2, open: 1 });
    const all = (await observing.observe(['coverage', '--all'])).json.data;
    expect(all.gaps.map(({ closedBy }: { closedBy: string | null }) => closedBy)).toEqual(['boot_epoch', null]);
    expect((await observing.observe(['coverage'])).json.data.gaps).toHaveLength(1);
  });
});

describe('notes of another machine', () => {
  it('say nothing of an end here: they are refused, and that is a gap', async () => {
    const observing = new Observing();
    const { process } = await job();
    const note = launcher();
    const elsewhere = (one: ReturnType<typeof note>) => ({ ...one, at: { ...one.at, bootId: 'another-machine' } });
    const place = observing.place();
    const lines = [note(reserve('here', { place })), elsewhere(note(bind('there', { process, place }), 4))];
    const { json, code } = await observing.ingest(lines);
    expect(json.data).toMatchObject({ counts: { changed: 1, rejected: 1 }, refusals: [{ reason: 'foreign_boot' }] });
    expect(code).toBe(11);
    expect((await observing.observe(['reconcile'])).json.data).toMatchObject({ gapsClosed: 0, pass: { outcomes: {} } });
    expect((await observing.observe(['coverage'])).json.data).toMatchObject({
      gaps: [{ kind: 'note_rejected' }, { kind: 'note_lost', count: 2 }],
      worktrees: [{ class: 'incomplete' }],
    });
  });
});

describe('bad input', () => {
  it('is named by line, and keeps nothing else out', async () => {
    const observing = new Observing();
    const note = launcher();
    const path = join(observing.dir, 'notes');
    const good = JSON.stringify(note(reserve()));
    const lines = [
      '{"v":1',
      good,
      '',
      '[]',
      JSON.stringify({ ...note(exit()), code: 'x', extra: 1 }),
      `"${'x'.repeat(20_000)}"`,
    ];
    writeFileSync(
      path,
      Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), Buffer.from([0xff, 0xfe]), Buffer.from('\n')]),
    );
    const answer = await observing.observe(['ingest', path]);
    expect(answer.code).toBe(2);
    expect(answer.json.data.counts).toMatchObject({ changed: 1, invalid: 5 });
    expect(answer.json.data.refusals).toEqual([
      { line: 1, reason: 'not_json' },
      { line: 4, reason: expect.stringContaining('note: wrong_type') },
      { line: 5, reason: expect.stringContaining('code: wrong_type') },
      { line: 6, reason: 'too_long' },
      { line: 7, reason: 'not_json' },
    ]);
    expect(JSON.stringify(answer.json)).not.toContain('xxxx');
  });

  it.each([
    ['a file that is not there', ['ingest', '/no/such/file'], 'input_unreadable'],
    ['a directory', ['ingest', '.'], 'input_unreadable'],
    ['a bound that is none', ['reconcile', '--max-ms', '0'], 'usage'],
    ['a word that is none', ['watch'], 'usage'],
  ])('%s is refused with a reason', async (_, args, error) => {
    const observing = new Observing();
    await observing.observe(['status']);
    expect(await observing.observe(args)).toMatchObject({ code: 2, json: { ok: false, error: { code: error } } });
  });

  it('a conflict is exit 11, and what was told first stays', async () => {
    const observing = new Observing();
    const note = launcher();
    await observing.ingest([note(exit('job-1', 1))]);
    const answer = await observing.ingest([note(exit('job-1', 2)), note(exit('job-2', 2))]);
    expect(answer).toMatchObject({ code: 11, json: { data: { counts: { changed: 1, rejected: 1 } } } });
    expect(answer.json.data.refusals).toEqual([{ line: 1, reason: 'event_id_conflict' }]);
  });

  it('JRN-09, JRN-10: a damaged store is refused, not emptied, and left as it is', async () => {
    const observing = new Observing();
    await observing.observe(['status']);
    const path = join(observing.stateDir, 'custody.db');
    const damaged = readFileSync(path);
    damaged.fill(0x55, 0, 64);
    writeFileSync(path, damaged);
    for (const args of [['status'], ['reconcile'], ['ingest']]) {
      const answer = await observing.observe(args);
      expect(answer).toMatchObject({ code: 9, json: { ok: false, error: { code: 'store_corrupt' } } });
    }
    expect(readFileSync(path)).toEqual(damaged);
  });
});

describe('CONC-01, FAULT-04: several at once', () => {
  it('exclude each other for the moment, and nothing is lost or taken twice', async () => {
    const observing = new Observing();
    await observing.observe(['status']);
    const jobs = await Promise.all(Array.from({ length: 4 }, () => job()));
    const insist = async (args: readonly string[], input = ''): Promise<number> => {
      for (let tries = 1; ; tries += 1) {
        const answer = await observing.observe(args, input);
        if (answer.code === 0) return tries;
        expect(answer.json.error).toMatchObject({ code: 'runtime_busy' });
      }
    };
    const writers = jobs.map(({ process }, at) => {
      const note = launcher({ producer: `p${at}` });
      const lines = [note(reserve()), note(bind('job-1', { process }))];
      return insist(['ingest', '-'], lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
    await Promise.all([...writers, insist(['reconcile']), insist(['reconcile'])]);
    const { runs, producers } = (await observing.observe(['status'])).json.data;
    expect(runs.bound).toBe(4);
    expect(producers.map(({ taken }: { taken: number }) => taken)).toEqual([2, 2, 2, 2]);
  });
});

describe('FAULT-01, FAULT-02, FAULT-09: killed at any instant', () => {
  const kills = process.env.CUSTODY_SOAK === '1' ? 1_000 : 20;

  it('an ingest or a pass that is repeated ends as if it had not been killed', async ({ annotate }) => {
    const observing = new Observing();
    const one = await job();
    await observing.observe(['status']);
    let killed = 0;
    const note = launcher();
    const expected: string[] = [];
    for (let round = 0; killed < kills; round += 1) {
      const notes = Array.from({ length: 5 }, (_, at) => note(reserve(`job-${round}-${at}`, { label: `l${round}` })));
      if (round === 0) notes.push(note(bind('job-0-0', { process: one.process })));
      expected.push(...notes.map(({ run }) => run));
      const path = observing.file(notes);
      for (const args of [['ingest', path], ['reconcile']]) {
        const child = spawn(process.execPath, [cliProgram, 'observe', ...args], {
          env: observing.env,
          stdio: 'ignore',
        });
        // Seeded: somewhere in what one takes here, from the start of the process on.
        const timer = setTimeout(() => child.kill('SIGKILL'), 20 + ((round * 37) % 160));
        const [, signal] = await once(child, 'exit');
        clearTimeout(timer);
        if (signal === 'SIGKILL') killed += 1;
      }
      expect(await observing.observe(['ingest', path])).toMatchObject({ code: 0, json: { data: { lost: 0 } } });
    }
    expect((await observing.observe(['reconcile'])).json.data.pass.outcomes).toEqual({ alive: 1 });
    const { runs, gaps, producers } = (await observing.observe(['status'])).json.data;
    expect(runs).toMatchObject({ bound: 1, unbound: new Set(expected).size - 1 });
    expect([gaps.recorded, producers[0].taken]).toEqual([0, expected.length]);
    await annotate(`${killed} kills of an ingest or a pass`);
  });
});
