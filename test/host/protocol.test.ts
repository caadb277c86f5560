import { describe, expect, it } from 'vitest';
import type { Draft } from '../../actors/host/outcome.ts';
import { protocol } from '../../machines/protocol.ts';
import { producer, testHost } from './support/testHost.ts';

const digest = 'd'.repeat(64);

const event = (actor: string, type: string, payload: Record<string, unknown>): Draft => {
  const [kind, id] = actor.split(' ') as [string, string];
  return { type, actor: { kind, id }, producer, payload };
};

const registered = event('worktreeGeneration W1', 'generation.registered', {
  generationId: 'W1',
  path: '/src/one',
  fsIdentity: { dev: '1', ino: '2', gitdir: '/src/.git/worktrees/one' },
  origin: 'native',
  controller: 'custody',
  repoId: 'P1',
  goalId: null,
  branch: null,
  baseCommit: null,
});

const granted = event('worktreeGeneration W1', 'authority.granted', { requestId: 'q1', actor: 'op', gateReport: null });
const generation = [registered, granted];

/** C.11-2: what an admission puts into one commit. */
const admission = (runId: string, scopeId: string): Draft[] => [
  event(`run ${runId}`, 'run.reserved', {
    runId,
    generationId: 'W1',
    goalRef: null,
    mode: 'managed',
    rootScopeId: scopeId,
    label: null,
    retryOf: null,
    origin: 'native',
    gaps: [],
  }),
  event('worktreeGeneration W1', 'run.admitted', { runId }),
  event(`executionScope ${scopeId}`, 'scope.requested', {
    scopeId,
    runId,
    generationId: 'W1',
    parentScopeId: null,
    kind: 'guardian',
    goalId: 'G1',
    occurrence: 1,
    nodeId: 'N1',
    recipeDigest: digest,
    onRootExit: 'terminate',
    graceMs: 1_000,
    budgetMs: 2_000,
    purpose: null,
  }),
  event('worktreeGeneration W1', 'scope.opened', { runId, scopeId, guardianDigest: digest }),
];

describe('the host with the charts of the protocol', () => {
  it('BIND-01, BIND-02, C.11-2: admits a run, binds it and asks for its launch in one commit', async () => {
    const { host, store } = testHost({ ...protocol });
    await host.submit(generation);
    const outcomes = await host.submit(admission('R1', 'S1'));
    expect(outcomes.map(({ outcome, reason }) => [outcome, reason])).toEqual(Array(4).fill(['changed', undefined]));
    expect(store.bindings.ofRun('R1')).toMatchObject({ generationId: 'W1', epoch: 1 });
    expect(store.outbox.open({ position: 0, ordinal: -1 }, 9)).toMatchObject([
      { type: 'launchScope', policy: 'once', params: '{"scopeId":"S1"}', actor: { id: 'S1' } },
    ]);
    await host.submit(admission('R2', 'S2'));
    expect(store.bindings.ofGeneration('W1').map(({ runId, epoch }) => [runId, epoch])).toEqual([
      ['R2', 2],
      ['R1', 1],
    ]);
    expect(host.linked('executionScope', 'generationId', 'W1')).toEqual(['S1', 'S2']);
    expect(host.list('executionScope', { released: false }).map(({ id }) => id)).toEqual(['S1', 'S2']);
  });

  it('K7, C.11-1: a scope that never launched frees its run and its generation in the same commit', async () => {
    const { host, store } = testHost({ ...protocol });
    await host.submit(generation);
    await host.submit(admission('R1', 'S1'));
    const from = store.journal.lastPosition();
    const abandoned = event('executionScope S1', 'launch.abandoned', { gate: 'never_opened', reason: 'bench' });
    let commits = 0;
    host.onCommit(() => {
      commits += 1;
    });
    await host.submit([abandoned]);
    expect(commits).toBe(1);
    const written = store.journal.page({ after: from });
    expect(written.map((entry) => entry.intact && `${entry.actor.kind} ${entry.type}`)).toEqual([
      'executionScope launch.abandoned',
      'run admission.cancelled',
      'worktreeGeneration run.settled',
      'worktreeGeneration scope.settled',
    ]);
    expect(host.list('executionScope', { released: false })).toEqual([]);
    expect(await host.submit([abandoned])).toMatchObject([{ outcome: 'duplicate', stored: 'changed' }]);
    expect(store.journal.page({ after: from })).toEqual(written);
    expect(await store.check()).toMatchObject({ ok: true });
  });

  it('OCC-02, JRN-03: takes no event of a worker without its basis', async () => {
    const { host } = testHost({ ...protocol });
    const claim = event('goal G1', 'claim.recorded', { claimId: 'c1', incarnationTokenHash: digest });
    expect(await host.submit([claim])).toMatchObject([{ reason: 'invalid_event', detail: ['basis: missing'] }]);
  });

  it('JRN-02: starts again with what it had', async () => {
    const first = testHost({ ...protocol });
    await first.host.submit(generation);
    await first.host.submit(admission('R1', 'S1'));
    await first.host.close();
    const { host } = testHost({ ...protocol, store: first.store });
    for (const [kind, id] of [
      ['run', 'R1'],
      ['worktreeGeneration', 'W1'],
      ['executionScope', 'S1'],
    ] as const) {
      const [before, after] = [first.host.snapshotOf(kind, id), host.snapshotOf(kind, id)];
      expect([after?.value, after?.context]).toEqual([before?.value, before?.context]);
    }
    const [outcome] = await host.submit([
      event('executionScope S1', 'launch.abandoned', { gate: 'never_opened', reason: 'bench' }),
    ]);
    expect(outcome).toMatchObject({ outcome: 'changed', version: 2 });
  });
});
