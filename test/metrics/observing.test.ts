/** `custody metrics` without a daemon: short processes leave behind what they measured (METR-01). */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { MetricsReport, Series } from '../../actors/metrics/report.ts';
import { bind, exit, reserve } from '../ingest/support/notes.ts';
import { client } from '../note/support/client.ts';
import { job, launcher, Observing } from '../observeOnly/support/observing.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { everySeries } from './support/everySeries.ts';

const metricsOf = async (observing: Observing, ...args: string[]): Promise<readonly Series[]> => {
  const { code, json } = await observing.observe(['metrics', ...args]);
  expect({ code, ok: json?.ok, command: json?.command }).toEqual({ code: 0, ok: true, command: 'observe.metrics' });
  const { window, series } = json.data as MetricsReport;
  expect(window.fromMs % 60_000).toBe(0);
  expect(window.untilMs).toBeGreaterThan(window.fromMs);
  expect(series.map(({ name, unit }) => [name, unit])).toEqual(everySeries(series));
  return series;
};

const named = (series: readonly Series[], name: string) => series.filter((one) => one.name === name);
const valuesOf = (series: readonly Series[], name: string) =>
  named(series, name).map(({ labels, measured }) => ({ ...labels, ...measured }));
const nothing = { kind: 'distribution', count: 0, p50: null, p95: null, max: null };

it('has every series, and null where nothing was measured; then what passes, notes and commits were', async () => {
  const observing = new Observing();
  const empty = await metricsOf(observing);
  for (const name of ['pass_duration', 'pass_reads', 'commit_latency', 'recovery_time'])
    expect(valuesOf(empty, name)).toEqual([nothing]);
  for (const name of ['commit_busy_ratio', 'unknowns', 'predictions_would_be_unsafe', 'journal_growth'])
    expect(valuesOf(empty, name)).toMatchObject([{ value: null }]);
  expect(valuesOf(empty, 'coverage_gaps')).toEqual([{ kind: 'gauge', value: 0 }]);

  const note = launcher();
  const jobs = await Promise.all([job(), job()]);
  const told = jobs.map(({ process }, n) => note(bind(`job-${n}`, { process })));
  await observing.ingest([...told, note(reserve('job-9'), 5), note(exit('job-9', 0), 9)]);
  for (const { end } of jobs) {
    expect((await observing.observe(['reconcile'])).json.data.pass.complete).toBe(true);
    await end();
  }
  const { reads, lookedAt } = (await observing.observe(['reconcile'])).json.data.pass;
  expect(lookedAt).toBe(1);
  // Nobody is due any more: this is no measurement.
  await observing.observe(['reconcile']);

  const env = { ...observing.env, CUSTODY_HOME: observing.stateDir };
  execFileSync(client(), ['reserve', 'waiting/1'], { env });
  const series = await metricsOf(observing, '--since', '10m');
  expect(valuesOf(series, 'pass_duration')).toMatchObject([{ count: 3, p50: expect.any(Number) }]);
  const [passReads] = valuesOf(series, 'pass_reads') as { count: number; p50: number; max: number }[];
  expect(passReads).toMatchObject({ count: 3 });
  expect(passReads!.p50).toBeGreaterThanOrEqual(reads);
  const [latency] = valuesOf(series, 'commit_latency') as { count: number; p50: number; p95: number; max: number }[];
  expect(latency!.count).toBeGreaterThan(4);
  expect([0, latency!.p50, latency!.p95, latency!.max]).toEqual(
    [0, latency!.p50, latency!.p95, latency!.max].sort((a, b) => a - b),
  );
  expect(valuesOf(series, 'commit_busy_ratio')).toEqual([{ kind: 'gauge', value: 0 }]);
  expect(valuesOf(series, 'unknowns')).toEqual([{ kind: 'counter', value: 0 }]);
  expect(valuesOf(series, 'coverage_gaps')).toEqual([{ producer: 'shell', state: 'open', kind: 'gauge', value: 2 }]);
  expect(valuesOf(series, 'recovery_time')).toMatchObject([{ count: 4 }]);
  const [rows, growth, bytes, database, spool, age] = [
    'journal_rows',
    'journal_growth',
    'journal_bytes',
    'database_bytes',
    'spool_bytes',
    'oldest_unapplied_event_age',
  ].map((name) => (valuesOf(series, name)[0] as { value: number }).value);
  const look = new Database(join(observing.stateDir, 'custody.db'), { readonly: true });
  const content = ['event_id', 'type', 'outcome', 'envelope', 'digest'].map((one) => `octet_length(${one})`).join('+');
  expect(look.prepare(`SELECT count(*) AS rows, sum(${content}) AS bytes FROM journal`).get()).toEqual({ rows, bytes });
  look.close();
  expect(growth).toBe(rows);
  expect(database).toBeGreaterThan(bytes!);
  expect(spool).toBeGreaterThan(100);
  expect(age).toBeGreaterThan(0);
  expect(age).toBeLessThan(600);
  await observing.observe(['ingest']);
  expect(valuesOf(await metricsOf(observing), 'oldest_unapplied_event_age')).toEqual([{ kind: 'gauge', value: 0 }]);
});

it('is refused with what to do, where a window or a format makes no sense', async () => {
  const observing = new Observing();
  for (const args of [['--since', 'yesterday'], ['--since', '5'], ['--since', '2199-01-01'], ['--prometheus']])
    expect(await observing.observe(['metrics', ...args])).toMatchObject({ code: 2, json: { ok: false } });
});

it('says on standard error that it knows nothing, where there was no store to tell from', () => {
  const { stateDir } = new Observing();
  const args = [cliProgram, 'metrics', '--prometheus', '--state-dir', join(stateDir, 'mistyped')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('# TYPE custody_') });
  expect(stderr).toContain('warning: there was no store in');
});
