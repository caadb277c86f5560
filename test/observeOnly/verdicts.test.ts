/** What `observe reconcile` concludes from the hard cases of procfs, and what stepping clocks do to it: nothing. */
import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { NotedProcess } from '../../machines/note.ts';
import { bind, reserve } from '../ingest/support/notes.ts';
import { inPidNamespace, isRoot, type Remote } from '../observe/support/remote.ts';
import { openWorkshop, type Workshop } from '../observe/support/workshop.ts';
import { job, launcher, noted, Observing } from './support/observing.ts';

let workshop: Workshop;
/** Preloaded, it shifts the clocks of a program (fixtures/clocks.c). */
let clocks: string;
beforeAll(() => {
  workshop = openWorkshop();
  clocks = join(workshop.directory, 'clocks.so');
  const source = fileURLToPath(new URL('fixtures/clocks.c', import.meta.url));
  execFileSync('cc', ['-std=gnu11', '-Wall', '-Wextra', '-shared', '-fPIC', '-o', clocks, source]);
  return () => workshop.close();
});

const nobody = 65_534;
const here = isRoot ? ['unshare', '-m'] : ['unshare', '-Urm'];

const shifted = (shifts: Readonly<Record<string, number>>): string[] => [
  `LD_PRELOAD=${clocks}`,
  ...Object.entries(shifts).map(([clock, seconds]) => `${clock}=${seconds}`),
];

/** Shows a file of procfs with another content to what runs behind it. */
const showing = (path: string, file: string): readonly string[] => [
  ...here,
  'sh',
  '-c',
  'mount --bind "$0" "$1" && shift && exec "$@"',
  file,
  path,
];

/** What was seen last of the one observed run, as the store has it. */
function lastSeen({ stateDir }: Observing): {
  result: string;
  reason: string;
  failures: number;
  pauseMs: number | null;
} {
  const look = new Database(join(stateDir, 'custody.db'), { readonly: true });
  try {
    const sql = 'SELECT result, reason, failures, retry_mono_ms - mono_ms AS pauseMs FROM freshness';
    return look.prepare(sql).get() as ReturnType<typeof lastSeen>;
  } finally {
    look.close();
  }
}

const pass = async (observing: Observing) => (await observing.observe(['reconcile', '--once'])).json.data.pass;
const bound = async (observing: Observing) => (await observing.observe(['status'])).json.data.runs.bound;

async function observed(observing: Observing, process: NotedProcess): Promise<Observing> {
  const note = launcher();
  const told = [note(reserve('job-1', { place: observing.place() })), note(bind('job-1', { process }))];
  expect(await observing.ingest(told)).toMatchObject({ code: 0 });
  return observing;
}

/** Inside of a PID namespace, by the procfs that is mounted there; as another user where one is named. */
async function inside(hidepid = '0', user?: number): Promise<{ remote: Remote; observing: Observing }> {
  const remote = inPidNamespace(workshop.driver, hidepid);
  onTestFinished(() => remote.close());
  await remote.puppeteer(workshop.puppeteer);
  const enter = [
    'nsenter',
    '-t',
    String(remote.insidePid()),
    '-p',
    '-m',
    ...(isRoot ? [] : ['-U', '--preserve-credentials']),
  ];
  const become = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const observing = new Observing([...enter, ...become]);
  if (user !== undefined) chownSync(observing.dir, user, user);
  return { remote, observing };
}

describe('FAULT-06: who the pid belongs to now', () => {
  it('a pid that was given out again is not the recorded process (ID-06)', async () => {
    const { remote, observing } = await inside();
    const first = await remote.puppet('spawnat 300');
    await observed(observing, noted(await remote.identity(first)));
    expect((await pass(observing)).outcomes).toEqual({ alive: 1 });
    let second = first;
    while (second.start === first.start) {
      await remote.puppet('kill');
      await remote.puppet('reap');
      second = await remote.puppet('spawnat 300');
    }
    expect((await pass(observing)).outcomes).toEqual({ ended: 1 });
    expect(lastSeen(observing)).toMatchObject({ result: 'ended', reason: 'replaced' });
  });

  it('another boot ends it, whoever has its pid there', async () => {
    const own = await job();
    const observing = await observed(new Observing(), own.process);
    const file = join(observing.dir, 'boot_id');
    writeFileSync(file, '11111111-2222-4333-8444-555555555555\n');
    const rebooted = Object.assign(observing, { prefix: showing('/proc/sys/kernel/random/boot_id', file) });
    expect((await pass(rebooted)).outcomes).toEqual({ ended: 1 });
    expect(lastSeen(observing)).toMatchObject({ result: 'ended', reason: 'boot_changed' });
  });
});

describe('FAULT-07, OBS-04, OBS-08: unknown, with a reason, and asked again less and less often', () => {
  it('of another PID namespace: the run stays as it was, and pauses twice as long every time', async () => {
    const { remote } = await inside();
    const process = noted(await remote.identity(await remote.puppet('spawn')));
    const observing = await observed(new Observing(), process);
    const [failure, longest] = [60, 100];
    const later = (seconds: number) => {
      const pauses = [
        `CUSTODY_RETRY_BACKOFF_MS=${failure * 1_000}`,
        `CUSTODY_RETRY_BACKOFF_LONGEST_MS=${longest * 1_000}`,
      ];
      return Object.assign(observing, { prefix: ['env', ...pauses, ...shifted({ MONO_SHIFT: seconds })] });
    };
    // Far enough apart that how long a command takes here makes no difference; the third pause is the longest.
    for (const [failures, pauseMs, from] of [
      [1, failure * 1_000, 0],
      [2, longest * 1_000, 1_000],
      [3, longest * 1_000, 2_000],
    ] as const) {
      expect((await pass(later(from))).outcomes).toEqual({ 'unknown:namespace_mismatch': 1 });
      expect(lastSeen(observing)).toEqual({ result: 'unknown', reason: 'namespace_mismatch', failures, pauseMs });
      expect(await pass(later(from))).toMatchObject({ lookedAt: 0, paused: 1, reads: 0 });
    }
    expect(await bound(observing)).toBe(1);
  });

  it('without procfs nothing is concluded, and the command says so', async () => {
    const own = await job();
    const observing = await observed(new Observing(), own.process);
    const script = 'mount -t tmpfs none /proc && exec "$@"';
    const blind = Object.assign(observing, { prefix: [...here, 'sh', '-c', script, 'sh'] });
    expect(await blind.observe(['reconcile'])).toMatchObject({
      code: 8,
      json: { ok: false, error: { code: 'proc_unusable' } },
    });
    Object.assign(observing, { prefix: [] });
    expect((await pass(observing)).outcomes).toEqual({ alive: 1 });
  });

  // Two users are needed, and only root can be two.
  if (isRoot)
    it.each([
      { hidepid: '1', living: 'unknown:permission', gone: 'ended' },
      { hidepid: '2', living: 'unknown:proc_hidden', gone: 'unknown:proc_hidden' },
    ])('OBS-05: under hidepid=$hidepid a foreign process is never seen to be gone by being hidden', async (row) => {
      for (const state of ['living', 'gone'] as const) {
        const { remote, observing } = await inside(row.hidepid, nobody);
        await remote.puppet('spawn');
        const process = noted(await remote.identity(await remote.puppet('uid 65533'), 65_533));
        await observed(observing, process);
        if (state === 'gone') for (const step of ['kill', 'reap']) await remote.puppet(step);
        expect((await pass(observing)).outcomes).toEqual({ [row[state]]: 1 });
        expect(await bound(observing)).toBe(row[state] === 'ended' ? 0 : 1);
      }
    });
});

describe('OBS-06: a leader that has exited', () => {
  it('is alive by its last thread, and over with it', async () => {
    const { remote, observing } = await inside();
    await remote.puppet('spawn');
    const process = noted(await remote.identity(await remote.puppet('leaderexit')));
    await observed(observing, process);
    expect((await pass(observing)).outcomes).toEqual({ alive: 1 });
    expect(lastSeen(observing)).toMatchObject({ reason: 'leader_zombie' });
    await remote.puppet('kill');
    expect((await pass(observing)).outcomes).toEqual({ ended: 1 });
    expect(lastSeen(observing)).toMatchObject({ reason: 'defunct' });
  });
});

describe('TIME-01, TIME-03, TIME-04: clocks that step between two commands', () => {
  const day = 86_400;

  it('change neither what is known nor when it is asked again', async () => {
    const [living, hidden] = [await job(), await job()];
    const observing = new Observing();
    const note = launcher();
    await observing.ingest([
      note(bind('a', { process: living.process })),
      note(bind('b', { process: { ...hidden.process, pidns: '1' } })),
      note(bind('c', { process: hidden.process }), 9),
    ]);
    expect((await pass(observing)).outcomes).toEqual({ alive: 2, 'unknown:namespace_mismatch': 1 });
    const uptime = readFileSync('/proc/uptime', 'utf8').split(' ').map(Number);
    const resumed = join(observing.dir, 'uptime');
    writeFileSync(resumed, `${(uptime[0]! + day).toFixed(2)} ${uptime[1]!.toFixed(2)}\n`);
    const known = async () => {
      const { runs, gaps } = (await observing.observe(['status'])).json.data;
      return { runs, gaps };
    };
    const before = await known();
    const at = (shift: number) => ['env', ...shifted({ WALL_SHIFT: shift })];
    for (const prefix of [at(day), at(-day), showing('/proc/uptime', resumed)]) {
      Object.assign(observing, { prefix });
      const { pass: looked, gapsClosed } = (await observing.observe(['reconcile'])).json.data;
      expect([looked.outcomes.alive, looked.outcomes.ended, gapsClosed]).toEqual([2, undefined, 0]);
      expect(await known()).toEqual(before);
    }
    // The clock was really another one.
    await pass(Object.assign(observing, { prefix: at(day) }));
    const { lastPass } = (await observing.observe(['status'])).json.data;
    expect(lastPass.wallMs - Date.now()).toBeGreaterThan((day / 2) * 1_000);
  });
});
