/** PTY host, daemon and guardians killed at seeded instants of sessions that begin, work and end (PTY-10, FAULT-09). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SessionView } from '../../actors/daemon/api/views.ts';
import { readReceipt } from '../guardian/support/scope.ts';
import { seeded } from '../host/support/random.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { type Named, signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { patienceMs } from '../support/patience.ts';
import { over, ptyHostOf, runFile, size } from './support/terminals.ts';

const kills = process.env.CUSTODY_SOAK === '1' ? 300 : 15;
const victims = ['host', 'daemon', 'guardian'] as const;
const instants = ['beginning', 'working', 'ending'] as const;
type Victim = (typeof victims)[number];
type Instant = (typeof instants)[number];
/** Turns of the event loop between what is asked for and the kill. */
const mostTurns = 60;
/** Sessions that go on beside the newest one. */
const company = 3;
const parameters = { env: { CUSTODY_GRACE_MS: '0', CUSTODY_CAPACITY: '1000' } };

interface Launched {
  readonly request: Parameters<TestDaemon['exec']>[2] & { readonly requestId: string };
  readonly goalId: string;
  readonly instant: Instant;
  readonly victim: Victim;
}

interface Found {
  readonly scopeId: string;
  readonly guardian: Named;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const scopesOf = ({ home }: TestDaemon): string[] => {
  const parent = join(home.stateDir, 'scopes');
  return existsSync(parent) ? readdirSync(parent) : [];
};

/** The guardian of the launch that is under way, as soon as it has said who it is; undefined if the launch had none. */
async function guardianSince(daemon: TestDaemon, before: ReadonlySet<string>, launch: Promise<unknown>) {
  const started = (): Found | undefined => {
    for (const scopeId of scopesOf(daemon)) {
      const guardian = before.has(scopeId) ? undefined : startReceipt(daemon.scopeDir(scopeId))?.guardian;
      if (guardian !== undefined) return { scopeId, guardian };
    }
    return undefined;
  };
  const isOver = launch.then(() => true);
  for (;;) {
    const found = started();
    if (found !== undefined) return found;
    if (await Promise.race([isOver, turn()])) return started();
  }
}

const ranFile = (daemon: TestDaemon, runId: string): string => join(daemon.home.dir, `ran-${runId}`);
const launchesOf = (daemon: TestDaemon, runId: string): number =>
  existsSync(ranFile(daemon, runId)) ? readFileSync(ranFile(daemon, runId), 'utf8').trim().split('\n').length : 0;

/** What the kills did to one session: nothing that is not theirs. */
interface Fate {
  readonly isOrphaned: boolean;
  readonly lostItsHost: boolean;
}

/** Launched once or never; everything that had its guardian to the end is proved by a complete receipt, and lost no byte. */
function expectFate(daemon: TestDaemon, session: SessionView, { isOrphaned, lostItsHost }: Fate): void {
  const { runId, scopeId } = session;
  const launches = launchesOf(daemon, runId);
  expect(launches, `launches of ${runId}`).toBeLessThanOrEqual(1);
  if (isOrphaned) return;
  expect(session).toMatchObject({ scope: 'proved' });
  if (launches === 0) return;
  expect(readReceipt(daemon.scopeDir(scopeId), 'exit').scope).toBe(scopeId);
  expect(readReceipt(daemon.scopeDir(scopeId), 'status').scope).toBe(scopeId);
  if (!lostItsHost) expect(session).toMatchObject({ capture: 'complete', missing: null, interrupted: false });
}

it(
  `${kills} kills of PTY host, daemon and guardians: receipts complete, nothing launched twice, every session is over or goes on`,
  async ({ annotate }) => {
    const daemon = await testDaemon(parameters).start();
    const random = seeded(20_260_107);
    const launches: Launched[] = [];
    const orphaned = new Set<string>();
    const hostDeaths: number[] = [];
    const counts: Record<string, number> = {};
    const stop = async (at: number): Promise<void> => {
      const launched = launches[at];
      if (launched === undefined) return;
      const { runs } = await daemon.call('runs.list', { goalId: launched.goalId });
      for (const { runId } of runs) await daemon.attempt('runs.stop', { id: runId, waitMs: patienceMs });
    };

    for (let kill = 0; kill < kills; kill += 1) {
      const victim = victims[random(victims.length)]!;
      const instant = instants[random(instants.length)]!;
      const turns = random(mostTurns);
      const { goalId } = await daemon.goal();
      const script = `echo $$ >> "${daemon.home.dir}/ran-$CUSTODY_RUN"; exec cat`;
      const request = { ...daemon.launchArguments(goalId, script), terminal: size, requestId: `launch ${kill}` };
      launches.push({ request, goalId, instant, victim });
      const before = new Set(scopesOf(daemon));
      const launch = daemon.attempt('runs.exec', request).catch(() => undefined);
      if (instant !== 'beginning') await launch;
      const ending = instant === 'ending' ? stop(kill).catch(() => undefined) : undefined;
      if (victim === 'guardian') {
        const found = await guardianSince(daemon, before, launch);
        for (let left = turns; left > 0; left -= 1) await turn();
        if (found !== undefined && killGuardian(found.guardian)) orphaned.add(found.scopeId);
      } else {
        for (let left = turns; left > 0; left -= 1) await turn();
        if (victim === 'daemon') await daemon.restart();
        else if (existsSync(runFile(daemon, 'pty-host.json')) && signalVerified(ptyHostOf(daemon), 'SIGKILL'))
          hostDeaths.push(kill);
      }
      const name = `${victim} ${instant}`;
      counts[name] = (counts[name] ?? 0) + 1;
      await Promise.all([launch, ending]);
      await daemon.attempt('runs.exec', request);
      await stop(kill - company);
    }

    for (let at = Math.max(0, kills - company); at < kills; at += 1) await stop(at);
    const { sessions } = await daemon.call('sessions.list', { all: true });
    let launched = 0;
    for (const { sessionId, runId, scopeId, goalId } of sessions) {
      const at = launches.findIndex((one) => one.goalId === goalId);
      const lostItsHost = hostDeaths.some((death) => death >= at && death <= at + company);
      const session = await over(daemon, sessionId);
      expectFate(daemon, session, { isOrphaned: orphaned.has(scopeId), lostItsHost });
      launched += launchesOf(daemon, runId);
    }
    await annotate(
      `${kills} kills: ${JSON.stringify(counts)}; ${launched} sessions ran, ${orphaned.size} lost their guardian`,
    );
    expect(launched, 'kills that met nobody prove nothing').toBeGreaterThan(kills / 2);
  },
  kills * patienceMs,
);
