import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventView } from '../../actors/daemon/api/views.ts';
import { isGone } from '../guardian/support/processes.ts';
import { TestDaemon } from '../support/daemon.ts';
import { type Failpoint, failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await new TestDaemon(daemonHome()).start(failingDaemonCommand());
});
afterAll(() => daemon.dispose());

/** What a repeat of the request finds after the crash. */
type Fate =
  /** Nothing was recorded: it is launched now, for the first time. */
  | 'launched anew'
  /** Recorded and not released: the gate closed with the daemon. */
  | 'cancelled'
  /** Released, and the byte was never sent: the guardian says so. */
  | 'not released'
  | 'ran';

const points: ReadonlyArray<readonly [name: string, point: Failpoint, fate: Fate]> = [
  ['before the slots', { at: 'before slots' }, 'launched anew'],
  ['after the slots', { at: 'after slots' }, 'launched anew'],
  [
    'inside the reserve commit',
    { at: 'after_journal_insert', of: 'run.reserved', next: 'before_commit' },
    'launched anew',
  ],
  [
    'right after the reserve commit',
    { at: 'after_journal_insert', of: 'run.reserved', next: 'after_commit' },
    'cancelled',
  ],
  ['after the reserve commit', { at: 'after reserve commit' }, 'cancelled'],
  ['before the spawn', { at: 'before handshake' }, 'cancelled'],
  ['after the spawn', { at: 'before handshake', next: 'spawned' }, 'cancelled'],
  ['after the frame', { at: 'before handshake', next: 'frame sent' }, 'cancelled'],
  ['after the handshake', { at: 'after handshake' }, 'cancelled'],
  [
    'inside the release commit',
    { at: 'after_journal_insert', of: 'launch.releaseCommitted', next: 'before_commit' },
    'cancelled',
  ],
  [
    'right after the release commit',
    { at: 'after_journal_insert', of: 'launch.releaseCommitted', next: 'after_commit' },
    'not released',
  ],
  ['after the release commit', { at: 'after release commit' }, 'not released'],
  ['before the gate', { at: 'before gate' }, 'not released'],
  ['after the gate byte', { at: 'before gate', next: 'gate byte' }, 'ran'],
  ['after the gate', { at: 'after gate' }, 'ran'],
];

const marks = (runId: string): string[] => {
  try {
    return readFileSync(join(daemon.home.dir, `ran-${runId}`), 'utf8')
      .trim()
      .split('\n');
  } catch {
    return [];
  }
};

const endOf: Readonly<
  Record<Fate, { readonly state: string; readonly how: string | null; readonly launches: number }>
> = {
  'launched anew': { state: 'ended', how: 'exited', launches: 1 },
  cancelled: { state: 'cancelled', how: null, launches: 0 },
  'not released': { state: 'ended', how: 'notReleased', launches: 0 },
  ran: { state: 'ended', how: 'exited', launches: 1 },
};

function expectOneLaunch(events: readonly EventView[], runs: number): void {
  for (const type of ['scope.requested', 'launch.prepared']) {
    expect(events.filter((event) => event.type === type)).toHaveLength(1);
  }
  for (const type of ['guardian.attached', 'launch.releaseCommitted', 'guardian.exitReceipt']) {
    expect(events.filter((event) => event.type === type).length).toBeLessThanOrEqual(1);
  }
  // No workload without a committed binding: released in the journal before anything ran (GRD-06).
  if (runs > 0) expect(events.map(({ type }) => type)).toContain('launch.releaseCommitted');
}

describe('SIGKILL of the daemon at every step of a launch (GRD-06, GRD-07, RUN-01, BIND-01, FAULT-02, linux case 25)', () => {
  it.each(points)('%s', async (name, point, fate) => {
    const { goalId, generationId } = await daemon.goal();
    const again = daemon.launchArguments(goalId, `echo x >> "${daemon.home.dir}/ran-$CUSTODY_RUN"; exit 7`, {
      requestId: `request ${name}`,
    });
    await killAt(daemon, point);
    await expect(daemon.attempt('runs.exec', again)).rejects.toMatchObject({ code: 'daemon_gone' });
    expect((await daemon.process.exited).signal).toBe('SIGKILL');
    await daemon.start(failingDaemonCommand());

    const reply = await daemon.attempt('runs.exec', again);
    if (fate === 'cancelled') expect(reply).toMatchObject({ error: { code: 'launch_abandoned', exitCode: 13 } });
    const { runId, scopeId } = (reply.ok ? reply.data : reply.error.details) as { runId: string; scopeId: string };
    const expected = endOf[fate];
    const proof = fate === 'cancelled' ? 'never_launched' : 'own_receipt';
    const run = await daemon.proved(runId);
    expect(run).toMatchObject({ state: expected.state, scope: { state: 'exited', proof } });
    expect(run.result?.how ?? null).toBe(expected.how);
    expect(run.result?.code ?? null).toBe(expected.how === 'exited' ? 7 : null);
    expect(marks(runId)).toHaveLength(expected.launches);
    expectOneLaunch(await daemon.events({ actor: scopeId! }), expected.launches);
    const guardian = startReceipt(daemon.scopeDir(scopeId))?.guardian;
    if (guardian) await isGone(guardian.pid);

    const { runs } = await daemon.call('worktrees.show', { id: generationId });
    expect(runs).toEqual([expect.objectContaining({ runId, state: expected.state, scopes: { [scopeId!]: 'proved' } })]);
    // The containment check may have died with the daemon as well.
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    await daemon.call('worktrees.close', { id: generationId });
    expect(await daemon.call('worktrees.seal', { id: generationId })).toMatchObject({ lifecycle: 'sealed' });
    expect((await daemon.call('status', {})).capacity.used).toBe(0);
  });

  it('afterwards the store is whole and nothing lies about, not even the space of a launch that nobody asks for again', async () => {
    const { goalId } = await daemon.goal();
    await killAt(daemon, { at: 'after slots' });
    await expect(daemon.exec(goalId, 'true')).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    const directories = () => readdirSync(daemon.scopeDir('')).filter((name) => !name.startsWith('.spare-'));
    const left = directories();
    await daemon.start(failingDaemonCommand());
    const { checks } = await daemon.call('doctor', {});
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    const { scopes } = await daemon.call('processes', { released: true });
    const known = new Set(scopes.map(({ scopeId }) => scopeId));
    expect(left.filter((name) => !known.has(name))).toHaveLength(1);
    expect(directories().filter((name) => !known.has(name))).toEqual([]);
  });
});
