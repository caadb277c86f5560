/** I-20, PROMO-01, WT-07: the daemon dies on either side of the commit of a change of control, of a ticket, of a retirement. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CallArguments, CallName } from '../../actors/daemon/api/contract.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { authorityRecord, control, sealedGeneration, watched } from './support/generations.ts';

/** Before the commit nothing has happened, after it everything. */
const sides = ['before_commit', 'after_commit'] as const;

/** The request whose commit the daemon dies at, and once more what was asked for, of the next daemon. */
async function interrupted<Name extends CallName>(
  daemon: TestDaemon,
  { of, side }: { readonly of: string; readonly side: (typeof sides)[number] },
  [name, args]: readonly [Name, CallArguments<Name>],
) {
  await killAt(daemon, { at: 'after_journal_insert', of, next: side });
  expect(await daemon.attempt(name, args).catch((error: { code?: string }) => error.code)).toBe('daemon_gone');
  expect((await daemon.process.exited).signal).toBe('SIGKILL');
  await daemon.start(failingDaemonCommand());
  return daemon.call(name, args);
}

const recorded = (daemon: TestDaemon): Record<string, { mode: string; authorityEpoch: number }> =>
  (authorityRecord(daemon)?.generations ?? {}) as never;

/** The record says what was committed, and names nobody whom we do not control. */
async function expectOneController(daemon: TestDaemon): Promise<void> {
  const { worktrees } = await daemon.call('worktrees.list', { all: true });
  const ours = worktrees.filter(({ authority, lifecycle }) => authority !== 'observe' && lifecycle !== 'retired');
  const said = Object.entries(recorded(daemon)).map(([id, { mode, authorityEpoch }]) => [id, mode, authorityEpoch]);
  expect(said).toEqual(
    ours.map(({ generationId, authority, authorityEpoch }) => [generationId, authority, authorityEpoch]),
  );
  for (const { authority, controller } of worktrees) expect(controller === 'custody').toBe(authority !== 'observe');
}

describe.each(sides)('a daemon that dies %s', (side) => {
  it('of taking over has taken over once, when the request is repeated', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { generationId: id } = await watched(daemon);
    const args = { id, change: 'migrate' as const, evidence: ['e'], requestId: 'q' };
    const view = await interrupted(daemon, { of: 'authority.migrated', side }, ['worktrees.authority', args]);
    expect(view).toMatchObject({ authority: 'managed', authorityEpoch: 2 });
    await expectOneController(daemon);
  });

  it('of giving away has given away once, and gives up the repository', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { generationId: id } = await daemon.goal();
    await daemon.call('worktrees.close', { id });
    const args = { id, change: 'handoff', to: 'legacy', requestId: 'q' } as const;
    const view = await interrupted(daemon, { of: 'authority.handedOff', side }, ['worktrees.authority', args]);
    expect(view).toMatchObject({ authority: 'observe', controller: 'legacy', authorityEpoch: 3 });
    expect(authorityRecord(daemon)).toBeUndefined();
    await expectOneController(daemon);
  });

  it('of a retirement has retired once, and the ticket is used', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { generationId: id } = await sealedGeneration(daemon);
    const asked = { id, executor: 'custody-remove', requestId: 't' };
    const { file } = await daemon.call('worktrees.ticket', asked);
    const program = fileURLToPath(new URL('../../dist/custody-remove.cjs', import.meta.url));
    const done = spawnSync(process.execPath, [program, file, '--json'], { encoding: 'utf8' });
    const receipt = readFileSync(JSON.parse(done.stdout).data.file, 'utf8');
    const args = { id, receipt, requestId: 'q' };
    const view = await interrupted(daemon, { of: 'retirement.receiptVerified', side }, ['worktrees.retire', args]);
    expect(view).toMatchObject({ lifecycle: 'retired' });
    const again = spawnSync(process.execPath, [program, file, '--json'], { encoding: 'utf8' });
    expect(JSON.parse(again.stdout).error).toMatchObject({ code: 'ticket_refused', details: { reason: 'used' } });
    await expectOneController(daemon);
  });

  it('of a change that was asked for without a request id leaves one controller', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { generationId: id } = await daemon.goal();
    await control(daemon, id, { change: 'handoff', to: 'legacy' });
    await killAt(daemon, { at: 'after_journal_insert', of: 'authority.handoffAbandoned', next: side });
    await daemon.attempt('worktrees.authority', { id, change: 'abandon' }).catch(() => undefined);
    await daemon.process.exited;
    await daemon.start(failingDaemonCommand());
    await expectOneController(daemon);
  });
});
