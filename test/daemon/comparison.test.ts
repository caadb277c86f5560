/** What another system says of runs, beside what was derived here and what receipts and people have verified (PROMO-03). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import { bind, reserve } from '../ingest/support/notes.ts';
import { job, launcher } from '../observeOnly/support/observing.ts';
import { testDaemon } from '../support/daemon.ts';
import { makeRepository } from '../support/daemonHome.ts';
import { watched } from './support/generations.ts';
import { placeAt } from './support/promotion.ts';

type Told = NonNullable<CallArguments<'promote.compare'>['outcomes']>[number];

describe('outcomes of the old system', () => {
  it('are compared with what was derived, by receipts where a guardian left one; a disagreement waits for a verdict', async () => {
    const daemon = await testDaemon().start();
    const path = daemon.home.repo;
    const { goalId } = await daemon.goal();
    const { runId: failed } = await daemon.exec(goalId, 'exit 3');
    const { runId: living } = await daemon.exec(goalId, 'exec sleep 600');
    await daemon.proved(failed);
    const compare = (outcomes: readonly Told[], verified: readonly Told[] = []) =>
      daemon.call('promote.compare', { path, outcomes: [...outcomes], verified: [...verified] });
    const told = (run: string, outcome: Told['outcome'], atMs = Date.now()): Told => ({ run, outcome, atMs });
    expect(await daemon.refusal('promote.compare', { path, outcomes: [told(failed, 'failed')] })).toMatchObject({
      code: 'stage_too_early',
      exitCode: 13,
    });
    await daemon.call('promote.to', { path, to: 'comparing' });

    // The guardian's receipt decides by itself.
    const first = await compare([told(failed, 'failed'), told(failed, 'succeeded'), told('R-nobody', 'ended')]);
    expect(first).toMatchObject({ taken: 2, unknown: ['R-nobody'], comparison: { agreed: 1, theirsWrong: 1 } });
    const theirs = { ours: 'failed', theirs: 'succeeded', truth: 'failed', truthSource: 'guardian_receipt' };
    expect(first.disagreements).toMatchObject([{ ...theirs, verdict: 'theirs_wrong', unsafe: false }]);
    const decided = first.disagreements[0]!.comparisonId;
    expect(await daemon.refusal('promote.triage', { id: decided, verdict: 'ours_wrong', note: 'no' })).toMatchObject({
      code: 'preconditions_unmet',
      exitCode: 13,
    });

    // A run of one repository says nothing of another.
    const elsewhere = makeRepository(join(daemon.home.dir, 'elsewhere'));
    await daemon.call('worktrees.register', { path: elsewhere });
    await daemon.call('promote.to', { path: elsewhere, to: 'comparing' });
    const stranger = { path: elsewhere, outcomes: [told(failed, 'failed')] };
    expect(await daemon.call('promote.compare', stranger)).toMatchObject({ taken: 0, unknown: [failed] });

    // Nothing decides about what runs: they say that it has ended.
    const open = await compare([told(living, 'ended', 1_000)]);
    const [undecided] = open.disagreements;
    expect(undecided).toMatchObject({ ours: 'running', theirs: 'ended', truth: null, verdict: 'undecided' });
    const id = undecided!.comparisonId;
    expect(await daemon.refusal('promote.triage', { id: 'D-nobody', verdict: 'undecided', note: 'x' })).toMatchObject({
      code: 'not_found',
      exitCode: 3,
    });
    const triaged = await daemon.call('promote.triage', { id, verdict: 'theirs_wrong', note: 'seen in htop' });
    expect(triaged).toMatchObject({ verdict: 'theirs_wrong', triagedBy: 'operator', note: 'seen in htop' });
    // Told again, and after a restart, it stays decided.
    await daemon.restart();
    expect((await compare([told(living, 'ended', 1_000)])).comparison).toMatchObject({
      ...{ theirsWrong: 2, undecidedUnsafe: 0, undecidedOther: 0 },
    });
    // Begun anew, nothing of it counts.
    await daemon.call('promote.to', { path, to: 'tracking' });
    await daemon.call('promote.to', { path, to: 'comparing' });
    expect(await compare([])).toMatchObject({ comparison: { compared: 0 }, disagreements: [] });
  });

  it('about a run that others launched are decided by what somebody has verified, and not counted before', async () => {
    const daemon = await testDaemon().start();
    const path = daemon.home.repo;
    const where = placeAt((await watched(daemon)).path);
    const { process, end } = await job();
    const note = launcher();
    await daemon.call('observe.take', {
      notes: [note(reserve('job-1', { place: where })), note(bind('job-1', { process }))],
    });
    await daemon.call('promote.to', { path, to: 'comparing' });
    const told = (outcome: Told['outcome'], atMs: number): Told => ({ producer: 'shell', run: 'job-1', outcome, atMs });
    const startedMs = Date.now();
    await end();
    const seen = await daemon.event({ type: 'process.observed' }, ({ payload }) => payload.result === 'ended');
    const afterMs = seen.wallMs + 60_000;
    const outcomes = [told('running', startedMs), told('running', afterMs), told('failed', afterMs)];
    const compared = await daemon.call('promote.compare', { path, outcomes });
    expect(compared.comparison).toMatchObject({
      compared: 3,
      agreed: 2,
      undecidedUnsafe: 1,
      oursWrong: 0,
      theirsWrong: 0,
    });
    const { runId, launcher: calledThere } = compared.disagreements[0]!;
    expect(compared.disagreements).toMatchObject([{ ours: 'ended', theirs: 'running', truth: null, unsafe: true }]);
    expect(calledThere).toBe('shell:job-1');
    // Its id and its whole name mean the same run.
    const renamed = ['shell:job-1', runId].map((run) => ({ run, outcome: 'running' as const, atMs: startedMs }));
    expect(await daemon.call('promote.compare', { path, outcomes: renamed })).toMatchObject({
      ...{ taken: 2, unknown: [], comparison: { compared: 3 } },
    });
    const stranger = { producer: 'shell', run: 'job-2', outcome: 'running' as const, atMs: startedMs };
    expect(await daemon.call('promote.compare', { path, outcomes: [stranger] })).toMatchObject({
      unknown: ['shell:job-2'],
    });
    const { gate } = await daemon.call('promote.show', { path });
    expect(gate.dimensions[0]!.checks).toContainEqual(
      expect.objectContaining({ check: 'undecided_unsafe', verdict: 'red', measured: 1, bound: 0 }),
    );
    const ours = await daemon.call('promote.compare', { path, outcomes, verified: [told('running', afterMs + 1)] });
    expect(ours.comparison).toMatchObject({ oursWrong: 2, undecidedUnsafe: 0 });
    const theirs = await daemon.call('promote.compare', { path, outcomes, verified: [told('ended', afterMs - 1)] });
    expect(theirs.comparison).toMatchObject({ agreed: 2, theirsWrong: 1, oursWrong: 0 });
    // They were too early; that it had ended when we looked later speaks not against us.
    const tooEarly = { outcomes: [told('ended', startedMs - 1)], verified: [told('running', startedMs)] };
    const { disagreements } = await daemon.call('promote.compare', { path, ...tooEarly });
    expect(disagreements).toContainEqual(
      expect.objectContaining({ ours: 'running', theirs: 'ended', truth: 'running', verdict: 'theirs_wrong' }),
    );
  });
});
