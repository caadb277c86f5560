/** What a real daemon measures of itself, and what is left of it when the daemon is killed (METR-01). */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { occupied } from '../daemon/support/occupied.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { eventually } from '../support/eventually.ts';
import { seriesNames } from './support/everySeries.ts';
import { counters, parsed, scraped } from './support/scrape.ts';

const socketOf = ({ home }: TestDaemon): string =>
  readRendezvous(placesOf({ stateDir: home.stateDir, env: {} }))!.socket;

async function countersOf(daemon: TestDaemon): Promise<ReadonlyMap<string, number>> {
  const { status, body } = await scraped(socketOf(daemon), daemon.credential);
  expect(status).toBe(200);
  return counters(body);
}

async function measured(daemon: TestDaemon, name: string) {
  const { series } = await daemon.call('observe.metrics', { sinceMs: Date.now() - 600_000 });
  const { measured: found } = series.find((one) => one.name === name)!;
  return { count: 0, max: null, value: null, ...found };
}

it('passes, commits and recoveries are on record; no counter goes back with the death of a daemon', async () => {
  const daemon = await testDaemon().start();
  const { goalId } = await daemon.goal();
  await daemon.exec(goalId, 'exec sleep 600');
  await eventually('a pass that looked at the guardian', async () =>
    (await measured(daemon, 'pass_duration')).count > 0 ? true : undefined,
  );
  expect((await measured(daemon, 'pass_reads')).max).toBeGreaterThan(0);
  expect((await measured(daemon, 'commit_latency')).count).toBeGreaterThan(5);
  expect((await measured(daemon, 'journal_growth')).value).toBeGreaterThan(5);
  expect((await measured(daemon, 'recovery_time')).count).toBe(1);

  const before = await countersOf(daemon);
  expect(before.get('custody_pass_duration_seconds_count')).toBeGreaterThan(0);
  await daemon.kill('SIGKILL');
  await daemon.start();
  const after = await countersOf(daemon);
  for (const [name, value] of before) expect([name, after.get(name)! >= value]).toEqual([name, true]);
  await eventually('a second recovery', async () =>
    (await measured(daemon, 'recovery_time')).count === 2 ? true : undefined,
  );

  // Another program holds the database: nothing can be written down, and what there is is shown all the same.
  const letGo = occupied(daemon);
  expect(await daemon.refusal('goals.cancel', { id: goalId })).toMatchObject({ code: 'store_busy' });
  const meanwhile = await countersOf(daemon);
  for (const [name, value] of after) expect([name, meanwhile.get(name)! >= value]).toEqual([name, true]);
  letGo();
  const busy = await eventually('the busy attempt', async () => {
    const { value } = await measured(daemon, 'commit_busy_ratio');
    return value! > 0 ? value! : undefined;
  });
  expect(busy).toBeLessThan(1);
  expect((await countersOf(daemon)).get('custody_commit_busy_total {}')).toBeGreaterThan(0);
});

it('GET /metrics is for the operator, on the private socket, and says what custody metrics --prometheus says', async () => {
  const daemon = await testDaemon().start();
  const socket = socketOf(daemon);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(await scraped(socket)).toMatchObject({ status: 403 });
  expect(await scraped(socket, 'operator 0')).toMatchObject({ status: 403 });
  const { status, type, body } = await scraped(socket, daemon.credential);
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const names = parsed(body).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of seriesNames.filter((one) => one !== 'commit_busy_ratio'))
    expect(names.some((one) => one.startsWith(`custody_${name}`))).toBe(true);
  for (const one of parsed(body))
    expect(one).toMatchObject({ name: expect.stringMatching(/^custody_/), help: expect.stringMatching(/\S/) });
  const env = { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir };
  const printed = execFileSync(process.execPath, [cliProgram, 'metrics', '--prometheus'], { env, encoding: 'utf8' });
  expect(parsed(printed).map(({ name }) => name)).toEqual(names);
});
