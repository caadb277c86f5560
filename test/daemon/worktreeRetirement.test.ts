/** Tickets, executors and receipts: how a sealed worktree ends (WT-05, WT-07, WT-09). */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { canonicalJson } from '../../machines/canonical.ts';
import { reserve } from '../ingest/support/notes.ts';
import { launcher } from '../observeOnly/support/observing.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { authorityRecord, control, git, sealedGeneration, uncontrolled, watched } from './support/generations.ts';
import { placeAt } from './support/promotion.ts';

type Executor = 'custody-archive' | 'custody-remove';

const programOf = (executor: Executor): string => fileURLToPath(new URL(`../../dist/${executor}.cjs`, import.meta.url));

/** The program that ships. Throws what it says when it fails. */
function use(
  executor: Executor,
  file: string,
  env: Record<string, string> = {},
): { receipt: Record<string, unknown>; file: string } {
  const { PATH = '' } = process.env;
  const args = [programOf(executor), file, '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH, ...env } });
  const answer = JSON.parse(stdout || '{}');
  if (answer.ok !== true) throw Object.assign(new Error(stderr || stdout), answer.error);
  return answer.data;
}

const refusedUse = (executor: Executor, file: string, env: Record<string, string> = {}) => {
  try {
    use(executor, file, env);
  } catch (error) {
    return error as { code: string; details?: Record<string, unknown> };
  }
  throw new Error('it was not refused');
};

const issue = (daemon: TestDaemon, id: string, asked: Partial<CallArguments<'worktrees.ticket'>> = {}) =>
  daemon.call('worktrees.ticket', { id, executor: 'custody-remove', ...asked });

const retire = (daemon: TestDaemon, id: string, file: string) =>
  daemon.call('worktrees.retire', { id, receipt: readFileSync(file, 'utf8') });

const unretired = (daemon: TestDaemon, id: string, receipt: string) =>
  daemon.refusal('worktrees.retire', { id, receipt });

describe('from a seal to the end', () => {
  it.each(['custody-archive', 'custody-remove'] as const)(
    '%s acts on the ticket, and its receipt retires the worktree',
    async (executor) => {
      const daemon = await testDaemon().start();
      const { generationId: id, path, goalId } = await sealedGeneration(daemon);
      const ticket = await issue(daemon, id, { executor });
      expect(ticket).toMatchObject({ generationId: id, sealEpoch: 1, authorityEpoch: 2, executor, superseded: [] });
      expect(statSync(ticket.file).mode & 0o777).toBe(0o600);
      const { receipt, file } = use(executor, ticket.file);
      expect(receipt).toMatchObject({ generationId: id, path, git: 'deregistered' });
      expect(existsSync(path)).toBe(false);
      expect(git(daemon.home.repo, 'worktree', 'list', '--porcelain')).not.toContain(path);
      await daemon.restart();
      expect(await retire(daemon, id, file)).toMatchObject({ lifecycle: 'retired', authority: 'managed' });
      expect(authorityRecord(daemon)?.generations).toEqual({});
      expect((await daemon.call('worktrees.list', {})).worktrees).toEqual([]);
      // The place is free again, and the Goal can have another.
      expect(await daemon.call('worktrees.add', { goalId, path })).toMatchObject({ lifecycle: 'open' });
      expect(refusedUse(executor, ticket.file)).toMatchObject({ code: 'ticket_refused', details: { reason: 'used' } });
      expect(existsSync(path)).toBe(true);
      expect(await daemon.refusal('worktrees.ticket', { id, executor })).toMatchObject({
        code: 'not_sealed',
        exitCode: 13,
      });
    },
  );

  it('is repeated with its request id, and the secret is in the file alone', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await sealedGeneration(daemon);
    const first = await issue(daemon, id, { requestId: 'q' });
    expect(await issue(daemon, id, { requestId: 'q' })).toEqual(first);
    const other = await daemon.refusal('worktrees.ticket', { id, executor: 'custody-archive', requestId: 'q' });
    expect(other).toMatchObject({ code: 'event_id_conflict', exitCode: 11 });
    const { file } = use('custody-remove', first.file);
    const receipt = readFileSync(file, 'utf8');
    const request = { id, receipt, requestId: 'r' };
    await daemon.call('worktrees.retire', request);
    expect(await daemon.call('worktrees.retire', request)).toMatchObject({ lifecycle: 'retired' });
    await daemon.kill('SIGTERM');
    const secret = String((first.ticket as { secret?: string }).secret);
    expect(readFileSync(first.file, 'utf8')).toContain(secret);
    expect(readFileSync(join(daemon.home.stateDir, 'custody.db')).includes(secret)).toBe(false);
    expect(receipt).not.toContain(secret);
    const store = new Database(join(daemon.home.stateDir, 'custody.db'), { readonly: true });
    expect(store.prepare('SELECT state FROM tickets').pluck().all()).toEqual(['used']);
    store.close();
  });
});

describe('a ticket (WT-07)', () => {
  it('is for a sealed worktree alone, in its place, and not for the repository itself', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await daemon.goal();
    const asked = { id, executor: 'custody-remove' };
    expect(await daemon.refusal('worktrees.ticket', asked)).toMatchObject({ code: 'not_sealed', exitCode: 13 });
    await daemon.event({ actor: id, type: 'contract.verified' });
    await daemon.call('worktrees.close', { id });
    expect(await daemon.refusal('worktrees.ticket', asked)).toMatchObject({ code: 'not_sealed', exitCode: 13 });
    await daemon.call('worktrees.seal', { id });
    renameSync(path, `${path}-gone`);
    const gone = await daemon.refusal('worktrees.ticket', asked);
    expect(gone).toMatchObject({ code: 'generation_missing', exitCode: 13, details: { found: 'missing' } });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({
      lifecycle: 'sealed',
      pathObservation: 'missing',
    });
    renameSync(`${path}-gone`, path);
    await issue(daemon, id);
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ pathObservation: 'same' });

    const main = await daemon.call('worktrees.register', { path: daemon.home.repo });
    await daemon.event({ actor: main.generationId, type: 'contract.verified' });
    await control(daemon, main.generationId, { change: 'migrate', evidence: ['e'] });
    await daemon.call('worktrees.close', { id: main.generationId });
    await daemon.call('worktrees.seal', { id: main.generationId });
    const refusal = await daemon.refusal('worktrees.ticket', { id: main.generationId, executor: 'custody-remove' });
    expect(refusal).toMatchObject({ code: 'main_worktree', exitCode: 13 });
  });

  it('is not issued where another worktree would go along (WT-09)', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const inner = join(path, 'inner');
    git(daemon.home.repo, 'worktree', 'add', '-q', '-b', 'inner', inner);
    const { generationId } = await daemon.call('worktrees.register', { path: inner });
    const refusal = await daemon.refusal('worktrees.ticket', { id, executor: 'custody-remove' });
    expect(refusal).toMatchObject({ code: 'path_nested', exitCode: 13, details: { inner: generationId } });
  });

  it('is superseded by a second one for the same seal', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const first = await issue(daemon, id);
    const second = await issue(daemon, id);
    expect(second.superseded).toEqual([first.ticketId]);
    expect(refusedUse('custody-remove', first.file)).toMatchObject({ details: { reason: 'superseded' } });
    expect(existsSync(path)).toBe(true);
    await retire(daemon, id, use('custody-remove', second.file).file);
  });

  it('is one of many that were asked for at once', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await sealedGeneration(daemon);
    const tickets = await Promise.all(Array.from({ length: 6 }, () => issue(daemon, id)));
    const outcomes = tickets.map(({ file }) => {
      try {
        return use('custody-remove', file).receipt.outcome;
      } catch (error) {
        return (error as { details?: { reason?: string } }).details?.reason;
      }
    });
    expect(outcomes.filter((each) => each === 'removed')).toHaveLength(1);
    expect(outcomes.filter((each) => each === 'superseded')).toHaveLength(5);
  });

  it('counts for its executor, on its machine time, and for nobody inside of a run', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const short = await issue(daemon, id, { expiresMs: 1 });
    expect(refusedUse('custody-archive', short.file)).toMatchObject({ details: { reason: 'other_executor' } });
    expect(refusedUse('custody-remove', short.file)).toMatchObject({ details: { reason: 'expired' } });
    const { file } = await issue(daemon, id);
    expect(refusedUse('custody-remove', file, { CUSTODY_RUN: 'R1' })).toMatchObject({ code: 'not_operator' });
    writeFileSync(`${file}.copy`, readFileSync(file, 'utf8').replace(path, daemon.home.repo));
    expect(refusedUse('custody-remove', `${file}.copy`)).toMatchObject({ details: { reason: 'forged' } });
    expect(existsSync(path)).toBe(true);
    expect(existsSync(join(daemon.home.repo, 'README.md'))).toBe(true);
  });

  it('counts no more once somebody else is noted in the worktree, whoever takes the note in (WT-04, INT-11)', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const note = launcher();
    const first = await issue(daemon, id);
    await daemon.call('observe.take', { notes: [note(reserve('stranger', { place: placeAt(path) }))] });
    expect(refusedUse('custody-remove', first.file)).toMatchObject({ details: { reason: 'disturbed' } });
    expect(await daemon.refusal('worktrees.ticket', { id, executor: 'custody-remove' })).toMatchObject({
      code: 'seal_in_doubt',
    });
    expect(existsSync(path)).toBe(true);
  });

  it('is withdrawn as well by whoever observes without a daemon', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const { file } = await issue(daemon, id);
    const note = launcher();
    const notes = join(daemon.home.dir, 'notes');
    writeFileSync(notes, `${JSON.stringify(note(reserve('stranger', { place: placeAt(path) })))}\n`);
    await daemon.kill('SIGTERM');
    const { PATH = '' } = process.env;
    const env = { ...daemon.home.env, PATH, CUSTODY_HOME: daemon.home.stateDir };
    execFileSync(process.execPath, [cliProgram, 'observe', 'ingest', notes], { env });
    expect(refusedUse('custody-remove', file)).toMatchObject({ details: { reason: 'disturbed' } });
    expect(existsSync(path)).toBe(true);
  });

  it('is stale after any change of control, and whoever has begun with one is not raced', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const stale = await issue(daemon, id);
    await control(daemon, id, { change: 'handoff', to: 'legacy' });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ authority: 'observe', lifecycle: 'closing' });
    expect(refusedUse('custody-remove', stale.file)).toMatchObject({ details: { reason: 'stale_epoch' } });
    expect(existsSync(path)).toBe(true);
    // Nobody can vouch for what the other one let happen: the seal ended with control.
    await control(daemon, id, { change: 'migrate', evidence: ['e'] });
    expect(await daemon.refusal('worktrees.ticket', { id, executor: 'custody-remove' })).toMatchObject({
      code: 'not_sealed',
    });
    expect(await daemon.call('worktrees.seal', { id })).toMatchObject({ lifecycle: 'sealed', sealEpoch: 2 });
    expect(refusedUse('custody-remove', stale.file)).toMatchObject({ details: { reason: 'stale_epoch' } });
    const { file } = use('custody-remove', (await issue(daemon, id)).file);
    expect(await uncontrolled(daemon, id, { change: 'handoff', to: 'legacy' })).toMatchObject({
      code: 'executor_at_work',
      exitCode: 13,
    });
    await retire(daemon, id, file);
  });
});

describe('a receipt (WT-05)', () => {
  it('retires nothing unless it is that of the ticket, the seal, the executor and the worktree', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id } = await sealedGeneration(daemon);
    const { generationId: otherId } = await sealedGeneration(daemon);
    const superseded = await issue(daemon, id);
    const { file } = use('custody-remove', (await issue(daemon, id)).file);
    const receipt = JSON.parse(readFileSync(file, 'utf8'));
    const forged = (change: object) => canonicalJson({ ...receipt, ...change });
    const cases: readonly (readonly [string, string, string])[] = [
      [id, 'no receipt', 'unreadable'],
      [id, '{}', 'unreadable'],
      [id, forged({ more: 1 }), 'unreadable'],
      [id, forged({ ticketDigest: 'a'.repeat(64) }), 'unknown_ticket'],
      [id, forged({ ticketId: superseded.ticketId }), 'unknown_ticket'],
      [id, forged({ generationId: otherId }), 'other_generation'],
      [otherId, forged({}), 'other_generation'],
      [otherId, forged({ generationId: otherId }), 'other_generation'],
      [id, forged({ executor: 'custody-archive' }), 'other_executor'],
      [id, forged({ sealEpoch: 2 }), 'stale_epoch'],
      [id, forged({ authorityEpoch: 3 }), 'stale_epoch'],
      [id, forged({ path: '/elsewhere' }), 'other_place'],
      [id, forged({ fsIdentity: { ...receipt.fsIdentity, ino: '1' } }), 'other_place'],
    ];
    for (const [of, text, reason] of cases) {
      const refusal = await unretired(daemon, of, text);
      expect([reason, refusal]).toEqual([
        reason,
        expect.objectContaining({ code: 'receipt_refused', exitCode: 13, details: { reason } }),
      ]);
    }
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({ lifecycle: 'sealed' });
    await retire(daemon, id, file);
    expect(await unretired(daemon, id, forged({}))).toMatchObject({ code: 'not_sealed', exitCode: 13 });
  });

  it('counts for nothing while the worktree is still there, nor with the ticket that another took the place of', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    const first = await issue(daemon, id);
    const ticket = first.ticket as Record<string, unknown>;
    const { ticketId, generationId, sealEpoch, authorityEpoch, executor, fsIdentity } = ticket;
    const made = (of: string, change = {}) =>
      canonicalJson({
        ...{ version: 1, ticketId, generationId, sealEpoch, authorityEpoch, executor, path, fsIdentity },
        ...{ ticketDigest: of, outcome: 'removed', to: null, git: 'none', endedWallMs: 1, began: ticket.issued },
        ...change,
      });
    const digest = JSON.parse(readFileSync(join(first.file, '..', 'live'), 'utf8')).ticketDigest;
    expect(await unretired(daemon, id, made(digest))).toMatchObject({ details: { reason: 'still_there' } });
    const second = await issue(daemon, id, { expiresMs: 60_000 });
    expect(await unretired(daemon, id, made(digest))).toMatchObject({ details: { reason: 'superseded' } });
    const issued = (second.ticket as { issued: { monoMs: number; bootId: string; wallMs: number } }).issued;
    const late = JSON.parse(readFileSync(join(second.file, '..', 'live'), 'utf8')).ticketDigest;
    for (const began of [
      { ...issued, monoMs: issued.monoMs + 60_000 },
      { ...issued, bootId: 'another' },
    ]) {
      const refusal = await unretired(daemon, id, made(late, { ticketId: second.ticketId, began }));
      expect(refusal).toMatchObject({ details: { reason: 'expired' } });
    }
  });

  it('is not made up for by a directory that has merely vanished: that is noted, and retires nothing', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await sealedGeneration(daemon);
    await issue(daemon, id);
    git(daemon.home.repo, 'worktree', 'remove', path);
    expect(await unretired(daemon, id, '{}')).toMatchObject({ code: 'receipt_refused' });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({
      lifecycle: 'sealed',
      pathObservation: 'missing',
    });
    mkdirSync(path);
    expect(await unretired(daemon, id, '{}')).toMatchObject({ code: 'receipt_refused' });
    expect(await daemon.call('worktrees.show', { id })).toMatchObject({
      lifecycle: 'sealed',
      pathObservation: 'replaced',
    });
  });
});

describe('the whole way with a worktree that somebody else made', () => {
  it('registered, taken over, closed, sealed, archived, retired', async () => {
    const daemon = await testDaemon().start();
    const { generationId: id, path } = await watched(daemon);
    writeFileSync(join(path, 'unsaved'), 'work\n');
    await control(daemon, id, { change: 'migrate', evidence: ['tickets/1'] });
    await daemon.call('worktrees.close', { id });
    await daemon.call('worktrees.seal', { id });
    const { receipt, file } = use('custody-archive', (await issue(daemon, id, { executor: 'custody-archive' })).file);
    expect(readFileSync(join(String(receipt.to), 'unsaved'), 'utf8')).toBe('work\n');
    expect(await retire(daemon, id, file)).toMatchObject({ lifecycle: 'retired' });
  });

  it('executors explain themselves, and know nothing else', () => {
    const text = execFileSync(process.execPath, [programOf('custody-remove'), '--help'], { encoding: 'utf8' });
    expect(text).toMatch(/^Usage: custody-remove TICKET/);
    expect(text).toMatch(/\nExamples:\n {2}\$ custody worktrees ticket/);
    expect(refusedUse('custody-remove', '--force')).toMatchObject({ code: 'usage' });
    expect(refusedUse('custody-remove', '/nowhere/ticket')).toMatchObject({ code: 'usage' });
  });
});
