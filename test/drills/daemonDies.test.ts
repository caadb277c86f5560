import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { patienceMs } from '../support/patience.ts';

const repeats = process.env.CUSTODY_SOAK === '1' ? 20 : 3;

/** A job that says that it is there, waits for its turn, prints a line and exits 7. */
async function waitingRun(daemon: TestDaemon, goalId: string, nth: number) {
  const turn = turns(daemon.home.dir, `turn${nth}`);
  const launches = join(daemon.home.dir, `launches${nth}`);
  const script = `echo $$ >> "${launches}"; echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; echo the line; exit 7`;
  const run = await daemon.exec(goalId, script);
  await turn.ready();
  const guardian = startReceipt(daemon.scopeDir(run.scopeId))!.guardian;
  return { ...run, turn, guardian, launches: () => readFileSync(launches, 'utf8').trim().split('\n') };
}

type WaitingRun = Awaited<ReturnType<typeof waitingRun>>;

async function linesOf(daemon: TestDaemon, runId: string): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const line of daemon.client.stream<{ data?: string }>('runs.logs', { id: runId, stream: 'stdout' })) {
    if (line.data !== undefined) pieces.push(Buffer.from(line.data, 'base64'));
  }
  return Buffer.concat(pieces).toString();
}

/** Ended once, as it ended, by the one guardian that was ever launched for it. */
async function expectOneOutcome(daemon: TestDaemon, run: WaitingRun): Promise<void> {
  expect(await daemon.proved(run.runId)).toMatchObject({
    state: 'ended',
    result: { how: 'exited', code: 7 },
    scope: { state: 'exited', proof: 'own_receipt' },
  });
  expect(await linesOf(daemon, run.runId)).toBe('the line\n');
  expect(run.launches()).toHaveLength(1);
  const scopeEvents = (await daemon.events({ actor: run.scopeId! })).map(({ type }) => type);
  for (const type of ['launch.prepared', 'guardian.attached', 'launch.releaseCommitted']) {
    expect(scopeEvents.filter((one) => one === type)).toEqual([type]);
  }
  for (const type of ['workload.statusReceipt', 'guardian.exitReceipt']) {
    expect(scopeEvents.filter((one) => one === type)).toEqual([type]);
  }
  const runEvents = await daemon.events({ actor: run.runId });
  const endings = runEvents.filter(({ type, outcome }) => type === 'workload.statusReceipt' && outcome === 'changed');
  expect(endings).toHaveLength(1);
}

describe('D2 the daemon dies, the work does not (GRD-09, FAULT-09, SHUT-10)', () => {
  it(
    `${repeats} × killed before the end, and started again before it`,
    async ({ annotate }) => {
      const daemon = await testDaemon().start();
      const { goalId } = await daemon.goal();
      for (let nth = 0; nth < repeats; nth += 1) {
        const run = await waitingRun(daemon, goalId, nth);
        await daemon.restart();
        const scope = await daemon.scope(run.scopeId);
        expect(scope).toMatchObject({
          assessment: { state: 'live' },
          guardianPid: run.guardian.pid,
          summary: 'running',
        });
        await run.turn.release();
        await expectOneOutcome(daemon, run);
      }
      await annotate(`${repeats} repeats`);
    },
    repeats * patienceMs,
  );

  it(
    `${repeats} × killed before the end, and started again after it`,
    async ({ annotate }) => {
      const daemon = await testDaemon().start();
      const { goalId } = await daemon.goal();
      for (let nth = 0; nth < repeats; nth += 1) {
        const run = await waitingRun(daemon, goalId, nth);
        await daemon.kill();
        await run.turn.release();
        await isGone(run.guardian.pid);
        await daemon.start();
        await expectOneOutcome(daemon, run);
      }
      await annotate(`${repeats} repeats`);
    },
    repeats * patienceMs,
  );

  it(
    `${repeats} × killed between the release commit and the gate: nothing ran, and that is the outcome (GRD-07)`,
    async ({ annotate }) => {
      const daemon = await testDaemon().start(failingDaemonCommand());
      const { goalId } = await daemon.goal();
      for (let nth = 0; nth < repeats; nth += 1) {
        const ran = join(daemon.home.dir, 'ran');
        const requestId = `request-${nth}`;
        await killAt(daemon, { at: 'before gate' });
        await expect(daemon.exec(goalId, `touch "${ran}"`, { requestId })).rejects.toMatchObject({
          code: 'daemon_gone',
        });
        await daemon.process.exited;
        await daemon.start(failingDaemonCommand());
        // Refused as not released, or not known yet to be: its guardian says so when it sees that its link is gone.
        const reply = await daemon.attempt(
          'runs.exec',
          daemon.launchArguments(goalId, `touch "${ran}"`, { requestId }),
        );
        const { runId, scopeId } = (reply.ok ? reply.data : reply.error.details) as { runId: string; scopeId: string };
        expect(await daemon.proved(runId)).toMatchObject({
          state: 'ended',
          result: { how: 'notReleased' },
          scope: { state: 'exited', proof: 'own_receipt' },
        });
        expect(() => readFileSync(ran)).toThrow('ENOENT');
        const types = (await daemon.events({ actor: scopeId! })).map(({ type }) => type);
        expect(types.filter((type) => type === 'guardian.attached')).toHaveLength(1);
      }
      await annotate(`${repeats} repeats`);
    },
    repeats * patienceMs,
  );
});
