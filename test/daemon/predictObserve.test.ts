/** In observe mode predictions are all there is: they are journaled, and move nothing (WT-06, INT-08, OBS-10). */
import { expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../actors/host/host.ts';
import type { Draft } from '../../actors/host/outcome.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { fileIdentityOf } from '../../actors/runtime/generations.ts';
import { draft } from '../../actors/runtime/submission.ts';
import type { GenerationId, RunId, ScopeId } from '../../machines/ids.ts';
import { protocol } from '../../machines/protocol.ts';
import { openStore } from '../../persistence/store.ts';
import { codesOf, commit, factOf, git, type PredictionDaemon, predictionDaemon, put } from './support/prediction.ts';

const generationId = 'Wobserved1' as GenerationId;
const by = 'test';
const to = ['worktreeGeneration', generationId] as const;

/** What an importer commits, by a host of its own while no daemon holds the store. */
async function recorded(daemon: PredictionDaemon, drafts: readonly Draft[]): Promise<void> {
  const clock = createSystemClock();
  const store = openStore({ stateDir: daemon.home.stateDir, clock, create: false });
  const host = createHost({ ...protocol, store, clock, onFault: ({ error }) => expect(error).toBeUndefined() });
  const outcomes = await host.submit(drafts);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(drafts.map(() => 'changed'));
  await host.close();
  store.close();
}

const contract = {
  ...{ contract: 'scope-exit-proof/1' as const, kernel: 'k', guardianDigest: 'd'.repeat(64) },
  ...{ batteryVersion: 1, reportRef: 'ref' },
};

/** A worktree that somebody else has made and works in, with work that is merged. */
async function observed(more: readonly Draft[] = []): Promise<{ daemon: PredictionDaemon; path: string }> {
  const daemon = predictionDaemon();
  onTestFinished(() => daemon.dispose());
  await daemon.start();
  await daemon.kill();
  const { repo, dir } = daemon.home;
  const path = `${dir}/theirs`;
  git(repo, 'worktree', 'add', '-q', '-b', 'theirs', path);
  commit({ path }, 'work');
  git(repo, 'merge', '-q', '--squash', 'theirs');
  git(repo, 'commit', '-qm', 'squash');
  const payload = {
    ...{ generationId, path, fsIdentity: fileIdentityOf(path), origin: 'legacy' as const, controller: 'legacy' },
    ...{ repoId: null, goalId: null, branch: 'theirs', baseCommit: null },
  };
  await recorded(daemon, [
    draft('generation.registered', { to, payload, by }),
    draft('contract.verified', { to, payload: contract, by, eventId: 'contract' }),
    ...more,
  ]);
  await daemon.start();
  return { daemon, path };
}

const predictionsIn = (daemon: PredictionDaemon) => daemon.events({ actor: generationId, type: 'prediction.recorded' });

it('is journaled when it changes and coalesced when it does not, with what would have to be decided', async () => {
  const { daemon, path } = await observed();
  const first = await daemon.predict({ generationId });
  expect(first).toMatchObject({ eligible: true, blockers: [], recorded: 'recorded', authority: 'observe' });
  expect(first.steps.map(({ code }) => code)).toEqual(['not_closed', 'not_managed']);
  expect(await daemon.predict({ generationId })).toMatchObject({ eligible: true, recorded: 'unchanged' });
  put({ path }, 'new');
  expect(await daemon.predict({ generationId })).toMatchObject({ eligible: false, recorded: 'recorded' });
  expect(await daemon.predict({ generationId })).toMatchObject({ eligible: false, recorded: 'unchanged' });
  const journaled = await predictionsIn(daemon);
  expect(journaled.map(({ payload }) => payload.eligible)).toEqual([true, false]);
  const { blockers } = journaled[1]!.payload as { blockers: { code: string; evidenceIds: string[] }[] };
  expect(blockers.map(({ code }) => code)).toEqual(['untracked_files', 'not_closed', 'not_managed']);
  for (const { evidenceIds } of blockers) expect(evidenceIds).not.toEqual([]);
  const shown = await daemon.call('worktrees.show', { id: generationId });
  expect(shown).toMatchObject({ lifecycle: 'open', authority: 'observe', controller: 'legacy', authorityEpoch: 1 });
});

it('is journaled again when another commit protects for the same reason', async () => {
  const { daemon, path } = await observed();
  commit({ path }, 'one');
  expect(await daemon.predict({ generationId })).toMatchObject({ recorded: 'recorded' });
  expect(await daemon.predict({ generationId })).toMatchObject({ recorded: 'unchanged' });
  commit({ path }, 'two');
  expect(await daemon.predict({ generationId })).toMatchObject({ recorded: 'recorded' });
});

it('closing and sealing are refused all the same', async () => {
  const { daemon } = await observed();
  expect(await daemon.predict({ generationId })).toMatchObject({ eligible: true });
  expect(await daemon.refusal('worktrees.close', { id: generationId })).toMatchObject({ exitCode: 4 });
  expect(await daemon.refusal('worktrees.seal', { id: generationId })).toMatchObject({ exitCode: 4 });
});

it('names noted runs, open gaps and scopes that no run of it knows', async () => {
  const scopeId = 'Sforeign1' as ScopeId;
  const runId = 'Rlegacy1' as RunId;
  const scope = {
    ...{ scopeId, runId: null, generationId, parentScopeId: null, kind: 'external' as const, goalId: null },
    ...{ occurrence: null, nodeId: 'Nnode' as never, recipeDigest: 'd'.repeat(64), onRootExit: 'wait' as const },
    ...{ graceMs: 300, budgetMs: 1_000, purpose: null },
  };
  const gap = { gapId: 'gap-1', producer: by, kind: 'missing_history', window: { from: 0, to: 1 }, count: 1 };
  const external = ['executionScope', scopeId] as const;
  const { daemon } = await observed([
    draft('run.noted', { to, payload: { runId, origin: 'legacy' }, by }),
    draft('coverage.gapRecorded', { to, payload: gap, by }),
    draft('scope.requested', { to: external, payload: scope, by }),
    draft('scope.registeredExternally', { to: external, payload: { reason: 'external' }, by }),
  ]);
  const prediction = await daemon.predict({ generationId });
  expect(codesOf(prediction)).toEqual(['coverage_gap', 'noted_run', 'scope_unproved']);
  expect(factOf(prediction, 'coverage_gap')!.evidenceIds).toEqual(['gap-1']);
  expect(factOf(prediction, 'noted_run')!.evidenceIds).toEqual([runId]);
  expect(factOf(prediction, 'scope_unproved')!.evidenceIds).toEqual([scopeId]);
});
