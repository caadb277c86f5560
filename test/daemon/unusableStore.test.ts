import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { daemonOnSmallDisk } from '../support/daemonMount.ts';
import { daemonProgram, Refused, startDaemonProcess } from '../support/daemonProcess.ts';

const fingerprint = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

function overwriteHeader(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(100, 0x5a), 0, 100, 0);
  closeSync(file);
}

function makeNewer(path: string): void {
  const database = new Database(path);
  database.pragma('user_version = 99');
  database.close();
}

/** Without what SQLite keeps beside a database that is open. */
const namesIn = (daemon: TestDaemon) =>
  readdirSync(daemon.home.stateDir)
    .filter((name) => !/-(shm|wal)$/.test(name))
    .sort();

/** The error that a starting daemon reports, and the exit status that it leaves with. */
async function refusedStart(daemon: TestDaemon) {
  const { stateDir, env } = daemon.home;
  const command = [...daemon.prefix, process.execPath, daemonProgram];
  const refused = await startDaemonProcess({ stateDir, env, command }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refused instanceof Refused)) throw refused ?? new Error('it serves');
  return {
    code: refused.error.code,
    exitCode: refused.error.exitCode,
    left: refused.ended.code,
    next: refused.error.next,
  };
}

describe('JRN-09, JRN-10, FAULT-08: a store that cannot be used', () => {
  it.each([
    ['a damaged header', 'store_corrupt', overwriteHeader],
    ['nothing in it', 'store_corrupt', (path: string) => truncateSync(path, 0)],
    ['a newer schema', 'store_newer', makeNewer],
  ])('%s: %s, exit 9, and the file stays as it is', async (_, code, damage) => {
    const daemon = await testDaemon().start();
    await daemon.kill('SIGTERM');
    const database = join(daemon.home.stateDir, 'custody.db');
    damage(database);
    const [before, names] = [fingerprint(database), namesIn(daemon)];
    const refused = await refusedStart(daemon);
    expect(refused).toMatchObject({ code, exitCode: 9, left: 9 });
    expect(refused.next.length).toBeGreaterThan(0);
    expect(fingerprint(database)).toBe(before);
    expect(namesIn(daemon)).toEqual(names);
    expect(existsSync(join(daemon.home.stateDir, 'run', 'daemon.json'))).toBe(false);
  });

  it('a file system that was mounted read-only: named, and nothing empty takes its place', async () => {
    const { daemon, remount } = await daemonOnSmallDisk('6m');
    await daemon.start();
    const { goalId } = await daemon.goal();
    await daemon.kill('SIGTERM');
    remount('ro');
    const refused = await refusedStart(daemon);
    expect(refused).toMatchObject({ code: 'store_readonly', exitCode: 9, left: 9 });
    remount('rw');
    await daemon.start();
    expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ goalId });
  });

  it('another program that writes into it: deferred by name within moments, and done when it has gone (CONC-01)', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const run = await daemon.exec(goalId, `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 6`);
    await turn.ready();
    const other = new Database(join(daemon.home.stateDir, 'custody.db'));
    other.exec('BEGIN IMMEDIATE');
    const added = { title: 'another', repo: daemon.home.repo, request: 'x', requestId: 'while it is busy' };
    const busy = { code: 'store_busy', exitCode: 10, retryable: true };
    expect(await daemon.refusal('goals.add', added)).toMatchObject(busy);
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject(busy);
    expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ goalId });
    await turn.release();
    await isGone(startReceipt(daemon.scopeDir(run.scopeId))!.guardian.pid);
    other.exec('ROLLBACK');
    other.close();
    expect(await daemon.proved(run.runId)).toMatchObject({ result: { code: 6 }, scope: { state: 'exited' } });
    expect(await daemon.call('goals.add', added)).toMatchObject({ title: 'another' });
  });

  it('a log that finds no room is no reason to stop serving', async () => {
    const daemon = testDaemon();
    mkdirSync(join(daemon.home.stateDir, 'log'), { recursive: true, mode: 0o700 });
    chmodSync(daemon.home.stateDir, 0o700);
    symlinkSync('/dev/full', join(daemon.home.stateDir, 'log', 'daemon.log'));
    await daemon.start();
    const { goalId } = await daemon.goal();
    const run = await daemon.exec(goalId, 'exit 6');
    expect(await daemon.proved(run.runId)).toMatchObject({ result: { code: 6 } });
  });

  it('a second daemon: runtime_busy, exit 7, and the first one serves on', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    expect(await refusedStart(daemon)).toMatchObject({ code: 'runtime_busy', exitCode: 7, left: 7 });
    const run = await daemon.exec(goalId, 'exit 6');
    expect(await daemon.proved(run.runId)).toMatchObject({ result: { code: 6 } });
    expect((await daemon.client.hello()).pid).toBe(daemon.pid);
  });
});
