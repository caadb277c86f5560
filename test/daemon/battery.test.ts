/** PROMO-06: what the containment battery notices, with guardians that were built without one of their guards. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { battery, batteryVersion, doesNotCover } from '../../actors/daemon/contract/battery.ts';
import { runSelfCheck } from '../../actors/daemon/contract/selfCheck.ts';
import { probeExistence } from '../../actors/observe/linux/probe.ts';
import { selectAdapter } from '../../actors/observe/select.ts';
import { isGone, statOf } from '../guardian/support/processes.ts';
import { type GuardianSwitch, guardian, guardianBuiltWith } from '../guardian/support/programs.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';

/** A guardian that leaves a line for each time it is started. */
function counted(directory: string): { readonly path: string; readonly starts: () => number } {
  const [path, log] = [join(directory, 'counted'), join(directory, 'starts')];
  writeFileSync(path, `#!/bin/sh\necho start >> '${log}'\nexec '${guardian()}' "$@"\n`, { mode: 0o755 });
  return { path, starts: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0) };
}

/** Processes that hold something open below a directory, also when it has been removed since. */
function holdersOf(directory: string): number[] {
  const opened = (pid: string): string[] => {
    try {
      return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return []; // gone, or of a thread that is leaving
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const others = pids.filter((pid) => pid !== String(process.pid));
  return others.filter((pid) => opened(pid).some((path) => path.startsWith(`${directory}/`))).map(Number);
}

/** A guardian that lacks a guard may never end: without closing what it inherits, a child holds its own gate open. */
async function endHolders(directory: string): Promise<void> {
  const named = holdersOf(directory).map((pid) => ({ pid, start: statOf(pid)?.start ?? '' }));
  for (const one of named) signalVerified(one, 'SIGKILL');
  for (const { pid } of named) await isGone(pid);
}

async function tried(guardianPath: string, changes: Partial<Parameters<typeof runSelfCheck>[0]> = {}) {
  const directory = join(workDirectory(), 'run');
  onTestFinished(() => endHolders(directory));
  mkdirSync(directory, { mode: 0o700 });
  const installationId = 'i-battery' as never;
  const adapter = selectAdapter(process.platform, { installationId, probe: probeExistence });
  const guardianOf = (pid: number) => adapter.sameProgram(pid);
  const given = { subset: 'full', directory, guardianPath, installationId, guardianOf, ...changes } as const;
  const report = await runSelfCheck(given);
  expect(readdirSync(directory)).toEqual([]);
  return report;
}

const failed = ({ checks }: Awaited<ReturnType<typeof tried>>): string[] =>
  checks.filter(({ ok }) => !ok).map(({ id }) => id.replace('containment.', ''));

describe('the guardian that ships', () => {
  it('passes, and each check says its claim and how long it took', async () => {
    const report = await tried(guardian());
    expect(failed(report)).toEqual([]);
    expect(report.passed).toBe(true);
    expect(report.checks.map(({ id }) => id)).toEqual(battery.map(({ id }) => `containment.${id}`));
    for (const { ms, claim, detail } of report.checks) {
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(detail).toBe(claim);
    }
    expect(batteryVersion).toBeGreaterThan(1);
    // GRD-12: a container daemon, terminals of others, schedulers, other hosts, and the guardian itself.
    for (const beyond of ['container daemon', 'tmux', 'screen', 'cron', 'another machine', 'loss of a guardian'])
      expect(doesNotCover.join('\n')).toContain(beyond);
  });

  it('is tried in short by whoever cannot wait', async () => {
    const { checks } = await tried(guardian(), { subset: 'short' });
    expect(checks.map(({ id }) => id)).toEqual(['containment.exit', 'containment.gate', 'containment.escapee']);
  });
});

const without: readonly (readonly [GuardianSwitch, readonly string[]])[] = [
  ['WITHOUT_SUBREAPER', ['escapee', 'daemon']],
  ['WITHOUT_GATE', ['gate']],
  ['WITHOUT_SLOT_CHECK', ['exhaustion']],
  ['WITHOUT_CLOSE', ['launcher']],
  ['WITHOUT_AGREEMENT', ['ignores-term', 'stopped', 'hoppers']],
  ['WITHOUT_SPARING', ['nested']],
  ['WITHOUT_IDENTITY_CHECK', ['identity']],
  ['WITHOUT_CTTY', ['hang-up']],
  ['WITHOUT_WITNESS', ['half-guardian']],
];

describe('a guardian without one of its guards is found out', () => {
  it.each(without)('%s: by %j', async (option, checks) => {
    const report = await tried(guardianBuiltWith(option), { checkMs: 5_000 });
    expect(failed(report)).toEqual(expect.arrayContaining([...checks]));
    expect(report.passed).toBe(false);
  });
});

it('a program that is no guardian passes nothing', async () => {
  const report = await tried('/bin/true', { checkMs: 5_000 });
  expect(failed(report)).toEqual(battery.map(({ id }) => id));
});

describe('a guardian that is not lost after all', () => {
  it('is noticed by its receipt', async () => {
    const stranger = spawn('sleep', ['600']);
    onTestFinished(() => void stranger.kill('SIGKILL'));
    const { start } = statOf(stranger.pid!)!;
    const guardianOf = () => [{ pid: stranger.pid!, start, uid: process.getuid!() }];
    const report = await tried(guardian(), { guardianOf, checkMs: 5_000 });
    expect(failed(report)).toEqual(['lost-guardian', 'half-guardian']);
  });

  it('is noticed where nobody can be observed', async () => {
    expect(failed(await tried(guardian(), { guardianOf: undefined }))).toEqual(['lost-guardian', 'half-guardian']);
  });
});

describe('a battery that is called off', () => {
  it('begins nothing more, and is over with all that it has begun', async () => {
    const { path, starts } = counted(workDirectory());
    const calledOff = new AbortController();
    const reason = new Error('called off');
    const directory = join(workDirectory(), 'run');
    mkdirSync(directory, { mode: 0o700 });
    const running = tried(path, { directory, signal: calledOff.signal });
    running.catch(() => undefined);
    await eventually('the first guardian', () => starts() > 0 || undefined);
    calledOff.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(directory)).toEqual([]);
    const before = starts();
    expect(before).toBeLessThan(5);
    await tried(guardian(), { subset: 'short' });
    expect(starts()).toBe(before);
  });
});
