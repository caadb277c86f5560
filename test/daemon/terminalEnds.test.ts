/** However a session comes to its end, its scope is drained once, with whoever escaped from it (PTY-04); and only proof settles it. */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operatorKey, sessionToken } from '../../actors/runtime/credentials.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { guardianOf, type Opened, opened, over, ptyHostOf, shows, typed } from './support/terminals.ts';

interface End {
  /** What its leader does; by itself it would also end when it is hung up. */
  readonly leader?: string;
  readonly terminal?: object;
  readonly bring?: (daemon: TestDaemon, session: Opened) => Promise<unknown>;
  readonly firstFailure: object | null;
}

const report = (daemon: TestDaemon, { sessionId }: Opened) => {
  const session = { sessionId, token: sessionToken(operatorKey(daemon.home), sessionId) };
  return daemon.call('agent.result', { session, result: '{}' });
};

const ends: readonly (readonly [string, End])[] = [
  ['its result', { bring: report, firstFailure: null }],
  ['its own exit', { bring: (daemon, { sessionId }) => typed(daemon, sessionId, ''), firstFailure: null }],
  [
    'the loss of its terminal',
    {
      leader: 'trap "" HUP; exec sleep 600',
      bring: async (daemon) => signalVerified(ptyHostOf(daemon), 'SIGKILL'),
      firstFailure: { cause: 'capture', reason: 'hostLost' },
    },
  ],
  ['a deadline', { terminal: { idleMs: 6_000 }, firstFailure: { cause: 'deadline', reason: 'idle' } }],
  [
    'a stop',
    { bring: (daemon, { runId }) => daemon.call('runs.stop', { id: runId }), firstFailure: { cause: 'stop' } },
  ],
];

it.each(ends)('PTY-04: %s ends all of it by one drain, an escaped child included', async (_, end) => {
  const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '50' } }).start();
  const pidFile = join(daemon.home.dir, 'escaped');
  const escapee = `setsid sh -c 'trap "" HUP TERM; echo $$ > "${pidFile}"; echo ready; exec sleep 600' &`;
  const { terminal = {}, leader = 'read go' } = end;
  const session = await opened(daemon, `${escapee} ${leader}`, { terminal });
  await shows(daemon, session.sessionId, 'ready');
  const escaped = Number(readFileSync(pidFile, 'utf8'));
  expect(isAlive(escaped)).toBe(true);
  await end.bring?.(daemon, session);
  const ended = await over(daemon, session.sessionId);
  expect(ended.firstFailure).toEqual(end.firstFailure && expect.objectContaining(end.firstFailure));
  await daemon.proved(session.runId);
  await isGone(escaped);
  const drains = await daemon.events({ actor: session.scopeId, type: 'drain.requested' });
  expect(drains.filter(({ outcome }) => outcome === 'changed')).toHaveLength(1);
});

it('PTY-05: without its receipt a session is unverified and keeps its slot and its transcript; with it, it is settled', async () => {
  const daemon = await testDaemon().start();
  const turn = turns(daemon.home.dir);
  const script = `echo said; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}`;
  const { goalId, runId, scopeId, sessionId: id } = await opened(daemon, script);
  await turn.ready();
  const { pid } = guardianOf(daemon, scopeId);
  await daemon.kill();
  await turn.release();
  await isGone(pid);
  const receipt = join(daemon.scopeDir(scopeId), 'exit.json');
  const kept = join(daemon.home.dir, 'kept');
  renameSync(receipt, kept);
  await daemon.start();
  await eventually('it is unverified', async () => {
    const { scope } = await daemon.call('sessions.show', { id });
    return scope === 'unverified' || undefined;
  });
  expect((await daemon.call('status', {})).capacity.scopeIds).toContain(scopeId);
  expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject({
    code: 'ownership_unverified',
  });
  const { transcriptDir } = await daemon.call('sessions.show', { id });
  expect(readFileSync(join(transcriptDir, 'raw.000001'), 'utf8')).toContain('said');
  expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ status: 'todo' });
  renameSync(kept, receipt);
  await daemon.restart();
  await daemon.proved(runId);
  expect(await daemon.call('sessions.show', { id })).toMatchObject({ workload: 'final', scope: 'proved' });
});
