/**
 * One repository on its way through the stages, with a launcher of somebody else at work in it (PROMO-02, PROMO-04, PROMO-05,
 * PROMO-08, METR-02). Each test goes on where the one before it has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { rowDigest } from '../../persistence/digest.ts';
import { bind, reserve } from '../ingest/support/notes.ts';
import { launcher } from '../observeOnly/support/observing.ts';
import { tamper } from '../persistence/support/tamper.ts';
import { metricsFixture, withSeries } from '../promotion/support/evidence.ts';
import { makeRepository } from '../support/daemonHome.ts';
import { authorityRecord, git, watched } from './support/generations.ts';
import { acceptanceHere, MeteredDaemon, placeAt } from './support/promotion.ts';

const daemon = new MeteredDaemon();
const path = daemon.home.repo;
let theirs: string;
let legacy: ChildProcess;
let report: string;
let ours: { readonly goalId: string; readonly generationId: string };

const show = () => daemon.call('promote.show', { path });
const to = (stage: 'tracking' | 'comparing' | 'canary' | 'wide' | 'sole') =>
  daemon.call('promote.to', { path, to: stage });
/** As the store would have it after an update, before anybody has asked for a promotion again. Returns its id. */
function ofAnotherProgram(reportId: string): string {
  const file = new Database(join(daemon.home.stateDir, 'custody.db'));
  const found = file.prepare('SELECT unit_id, verdict, wall_ms, report FROM gate_reports WHERE report_id = ?');
  const [unitId, verdict, wallMs, told] = found.raw().get(reportId) as [string, string, number, string];
  const row = [
    'Gbefore',
    unitId,
    verdict,
    wallMs,
    JSON.stringify({ ...JSON.parse(told), program: 'f'.repeat(64) }),
  ] as const;
  file
    .prepare(
      'INSERT INTO gate_reports (report_id, unit_id, verdict, wall_ms, report, digest) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(...row, rowDigest(...row));
  file.close();
  return row[0];
}

const grant = async (id: string, ...evidence: string[]) => {
  const { code, exitCode, details } = await daemon.refusal('worktrees.authority', { id, change: 'grant', evidence });
  expect({ code, exitCode }).toEqual({ code: 'grant_refused', exitCode: 13 });
  return (details!.blockers as readonly { readonly code: string }[]).map((one) => one.code);
};

beforeAll(async () => {
  await daemon.start();
  legacy = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(legacy, 'spawn');
}, 120_000);
afterAll(async () => {
  legacy.kill('SIGKILL');
  await daemon.dispose();
});

it('begins with tracking, of which the repository notices nothing, and makes no worktree in it (PROMO-02)', async () => {
  const before = readdirSync(join(path, '.git'));
  expect(await show()).toMatchObject({ stage: 'tracking', isSet: false, version: 0, history: [] });
  expect(await daemon.lacks('comparing')).toMatchObject({ code: 'promotion_refused', codes: ['nothing_watched'] });
  const view = await watched(daemon);
  theirs = view.generationId;
  expect(await to('tracking')).toMatchObject({ stage: 'tracking', isSet: true, version: 1 });
  expect(await daemon.lacks('canary')).toMatchObject({ codes: ['one_at_a_time'], exitCode: 13 });
  expect(readdirSync(join(path, '.git')).filter((name) => name !== 'worktrees')).toEqual(before);
  expect(authorityRecord(daemon)).toBeUndefined();

  const { goalId } = await daemon.call('goals.add', { title: 'a goal', repo: path, request: 'x', queue: true });
  expect(await daemon.refusal('worktrees.add', { goalId })).toMatchObject({ code: 'stage_too_early', exitCode: 13 });
  const migration = await daemon.refusal('worktrees.authority', { id: theirs, change: 'migrate', evidence: ['e'] });
  expect(migration).toMatchObject({ code: 'migration_refused', details: { blockers: [{ code: 'stage_too_early' }] } });
  expect(await grant(theirs)).toEqual(['has_history', 'stage_too_early', 'no_gate_report']);
});

it('of two promotions that were decided on the same version one wins; a repeated request is one (PROMO-04)', async () => {
  const asked = { path, to: 'comparing', expectVersion: 1 } as const;
  const both = await Promise.all([
    daemon.attempt('promote.to', { ...asked, requestId: 'a' }),
    daemon.attempt('promote.to', { ...asked, requestId: 'b' }),
  ]);
  const won = both.flatMap((reply) => (reply.ok ? [reply.data] : []));
  expect(won).toMatchObject([{ stage: 'comparing', version: 2, reportId: expect.any(String) }]);
  const lost = both.flatMap((reply) => (reply.ok ? [] : [reply.error]));
  expect(lost).toMatchObject([{ code: 'version_conflict', exitCode: 11 }]);
  const requestId = won[0]!.history.at(-1)!.requestId;
  expect(await daemon.call('promote.to', { ...asked, requestId })).toMatchObject({ version: 2 });
  expect(await daemon.refusal('promote.to', { path, to: 'canary', requestId })).toMatchObject({
    code: 'event_id_conflict',
  });
  expect((await show()).history.map(({ from, to: stage, by }) => [from, stage, by])).toEqual([
    ['tracking', 'tracking', 'operator'],
    ['tracking', 'comparing', 'operator'],
  ]);
});

it('no canary without budgets, which come from enough measurements or from a person (METR-02)', async () => {
  const lacks = await daemon.lacks('canary');
  expect(new Set(lacks.codes)).toEqual(
    new Set(['no_budget', 'not_ready', 'gate_safety', 'gate_recovery', 'gate_latency', 'gate_coverage']),
  );
  for (const { next } of lacks.blockers) expect(next[0]).toMatch(/^custody /);
  daemon.measure(withSeries('recovery_time', { count: 1 }));
  expect(await daemon.refusal('promote.measure', {})).toMatchObject({
    ...{ code: 'samples_missing', exitCode: 13 },
    details: { blockers: [{ code: 'recovery_time_p95', detail: expect.stringContaining('2 are missing') }] },
  });
  expect((await daemon.call('promote.budgets', {})).budgets.filter(({ origin }) => origin === 'measured')).toEqual([]);
  daemon.measure(metricsFixture());
  const { budgets } = await daemon.call('promote.measure', { factor: 3 });
  expect(budgets).toContainEqual(
    expect.objectContaining({ name: 'commit_latency_p95', value: 12, origin: 'measured', measured: expect.anything() }),
  );
  const values = [{ name: 'compared_outcomes', value: 1 }] as const;
  await daemon.call('promote.setBudgets', { values: [...values] });
  await daemon.restart();
  expect((await daemon.call('promote.budgets', {})).budgets).toContainEqual(
    expect.objectContaining({ name: 'compared_outcomes', value: 1, origin: 'by_hand', measured: null }),
  );
  expect((await daemon.lacks('canary')).codes).not.toContain('no_budget');
});

it('an acceptance report counts if it tried this program on this host, and says no more than its rows (PROMO-08)', async () => {
  const good = await acceptanceHere();
  const other = 'f'.repeat(64);
  const unwelcome = [
    { ...good, program: { ...good.program, digest: other } },
    { ...good, host: { ...good.host, kernel: 'another' } },
    { ...good, host: { ...good.host, guardianDigest: other } },
    { ...good, verifications: good.verifications.slice(1) },
  ];
  for (const one of unwelcome)
    expect(await daemon.refusal('acceptance.record', { report: one })).toMatchObject({
      code: 'acceptance_refused',
      exitCode: 13,
    });
  expect((await show()).readiness).toMatchObject({ state: 'not_ready' });
  const partial = { ...good, verifications: good.verifications.slice(1), verdict: 'not_ready' as const };
  expect(await daemon.call('acceptance.record', { report: partial })).toMatchObject({
    readiness: { state: 'not_ready', lacks: [{ code: 'containment_contract' }] },
  });
  expect((await daemon.lacks('canary')).codes).toContain('not_ready');
  await daemon.call('acceptance.record', { report: good });
  expect((await show()).readiness).toEqual({ state: 'ready', lacks: [] });
  expect((await daemon.lacks('canary')).codes).toEqual(['gate_safety']);
});

it('canary comes with four green dimensions, and cites its report', async () => {
  const adapter = createLinuxAdapter({ installationId: 'I0' as never });
  const { pid, processToken: start, uid, namespace } = adapter.capture(legacy.pid!);
  adapter.close();
  const [, pidns = '', timens = ''] = /^pid:(\d+),time:(\d+)$/.exec(namespace)!;
  const note = launcher();
  const where = placeAt((await daemon.call('worktrees.show', { id: theirs })).path);
  const process = { pid, start, uid, pidns, timens, pidfs: null };
  await daemon.call('observe.take', {
    notes: [note(reserve('job-1', { place: where })), note(bind('job-1', { process }))],
  });
  const told = { producer: 'shell', run: 'job-1', outcome: 'running', atMs: Date.now() } as const;
  const compared = await daemon.call('promote.compare', { path, outcomes: [told] });
  expect(compared).toMatchObject({ taken: 1, comparison: { compared: 1, agreed: 1 } });
  daemon.measure(withSeries('pass_duration', { p95: 1_000 }));
  expect((await daemon.lacks('canary')).codes).toEqual(['gate_latency']);
  daemon.measure(metricsFixture());
  expect(await daemon.call('promote.to', { path, to: 'canary', dryRun: true })).toMatchObject({ stage: 'comparing' });
  const view = await to('canary');
  report = view.reportId!;
  expect(view).toMatchObject({ stage: 'canary', version: 3 });
  expect(view.history.at(-1)).toMatchObject({
    reportId: report,
    reportDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

it('a grant rests on a green report of this repository, and is for what is new (PROMO-04)', async () => {
  expect(await grant(theirs, report)).toEqual(['has_history']);
  const migration = await daemon.refusal('worktrees.authority', { id: theirs, change: 'migrate', evidence: [report] });
  expect(migration.details!.blockers).toContainEqual(expect.objectContaining({ code: 'stage_too_early' }));

  const { generationId: id } = await daemon.goal();
  await daemon.call('worktrees.close', { id });
  await daemon.call('worktrees.authority', { id, change: 'handoff', to: 'legacy' });
  const elsewhere = makeRepository(join(daemon.home.dir, 'elsewhere'));
  await daemon.call('worktrees.register', { path: elsewhere });
  const { reportId: ofOther } = await daemon.call('promote.to', { path: elsewhere, to: 'comparing' });
  const early = (await show()).history[1]!.reportId!;
  expect(await grant(id)).toEqual(['no_gate_report']);
  expect(await grant(id, 'tickets/4711')).toEqual(['no_gate_report']);
  expect(await grant(id, report, 'another')).toEqual(['no_gate_report']);
  expect(await grant(id, ofOther!)).toEqual(['gate_report_of_other']);
  expect(await grant(id, early)).toEqual(['gate_report_not_green']);
  await to('comparing');
  expect(await grant(id, report)).toEqual(['stage_too_early']);
  report = (await to('canary')).reportId!;
  daemon.measure(withSeries('pass_duration', { p95: 1_000 }));
  await daemon.lacks('wide');
  expect(await grant(id, report)).toEqual(['gate_report_overtaken']);
  tamper(daemon.home, "UPDATE gate_reports SET verdict = 'green' WHERE verdict = 'red'");
  expect(await grant(id, report)).toEqual(['gate_report_overtaken']);
  daemon.measure(metricsFixture());
  await daemon.lacks('wide');
  expect(await grant(id, ofAnotherProgram(report))).toEqual(['gate_report_outdated']);
  const granted = await daemon.call('worktrees.authority', { id, change: 'grant', evidence: [report] });
  expect(granted).toMatchObject({ authority: 'managed', evidence: [report] });
});

it('wide needs work under control that came to a proved end, and then lets existing worktrees be taken over', async () => {
  expect((await daemon.lacks('wide')).codes).toEqual(['no_canary_work']);
  ours = await daemon.goal();
  const { runId } = await daemon.exec(ours.goalId, 'exit 0');
  await daemon.proved(runId);
  expect(await to('wide')).toMatchObject({ stage: 'wide' });
  const migration = await daemon.refusal('worktrees.authority', { id: theirs, change: 'migrate', evidence: [report] });
  expect(migration.details!.blockers).toMatchObject([{ code: 'noted_run' }]);
});

it('sole needs everything that others launched to be over', async () => {
  const left = { blockers: [{ code: 'legacy_unresolved', detail: expect.stringContaining(theirs) }] };
  expect(await daemon.lacks('sole')).toMatchObject(left);
  // That its worktree is gone says nothing of the run.
  git(path, 'worktree', 'remove', '--force', join(daemon.home.dir, 'theirs'));
  expect(await daemon.lacks('sole')).toMatchObject(left);
  legacy.kill('SIGKILL');
  await daemon.event({ type: 'process.observed' }, ({ payload }) => payload.result === 'ended');
  expect(await to('sole')).toMatchObject({ stage: 'sole', next: null });
  const { checks } = await daemon.call('doctor', {});
  const { detail } = checks.find(({ id }) => id === 'promotion')!;
  expect(detail).toContain(`${path} is in stage sole`);
  expect(detail).toMatch(/for active use: ready$/);
});

it('the way back may be asked for over any number of stages, and moves no control (PROMO-05)', async () => {
  const { generationId: id } = ours;
  const before = await daemon.call('worktrees.show', { id });
  const reply = await daemon.attempt('promote.to', { path, to: 'comparing' });
  expect(reply).toMatchObject({ ok: true, exitCode: 5, data: { stage: 'comparing', reportId: null } });
  expect(reply.ok && reply.warnings.join('\n')).toContain(`custody worktrees authority ${id} handoff --to legacy`);
  expect(await daemon.call('worktrees.show', { id })).toEqual(before);
  await daemon.restart();
  expect(await show()).toMatchObject({ stage: 'comparing', worktrees: { controlled: expect.arrayContaining([id]) } });
  expect(await daemon.refusal('worktrees.add', { goalId: ours.goalId })).toMatchObject({ code: 'stage_too_early' });
  expect(await daemon.refusal('promote.to', { path, to: 'comparing' })).toMatchObject({ code: 'preconditions_unmet' });
});

it('a stage whose record is damaged lets nothing be taken, and doctor names it (ruling 27)', async () => {
  tamper(daemon.home, "UPDATE promotions SET stage = 'sole'");
  expect(await daemon.refusal('promote.show', { path })).toMatchObject({ code: 'store_corrupt', exitCode: 9 });
  expect(await daemon.refusal('worktrees.add', { goalId: ours.goalId })).toMatchObject({ code: 'store_corrupt' });
  const { checks } = await daemon.call('doctor', {});
  expect(checks).toContainEqual(expect.objectContaining({ id: 'promotion', ok: false, severity: 'error' }));
});
