import { describe, expect, it } from 'vitest';
import type { GoalSnapshot } from '../../machines/goal.ts';
import { digestOf } from './support/evidence.ts';
import { basisOf, candidate, inputs } from './support/goalEvidence.ts';
import { claimed, goalAt, integrationAt, offer, progress, tell, until } from './support/goalStory.ts';

const executing = ['plan', 'implement', 'quality', 'governance'] as const;

const bends = [
  ['occurrence', { occurrence: 99 }],
  ['status', { step: 'review' }],
  ['node', { nodeId: 'N9' }],
  ['Round', { round: 9 }],
] as const;

const standing = ({ value, context }: GoalSnapshot) => ({ value, occurrence: context.occurrence });

describe('a step that is entered again', () => {
  it('OCC-01: is another occurrence, which the verdicts of the earlier one do not serve', () => {
    const first = until(claimed('quality'), ({ context }) => context.receipts.at(-1)?.step === 'quality');
    const receiptIds = first.context.receipts.map(({ receiptId }) => receiptId);
    const elsewhere = tell(first, 'decision.stepSelected', { to: 'implement' });
    const again = tell(tell(elsewhere, 'decision.stepSelected', { to: 'quality' }), 'claim.recorded');
    expect(again.context.occurrence.n).toBe(first.context.occurrence.n + 2);
    expect(offer(again, 'step.advanced', { receiptIds }).guards).toEqual(['acceptedReceipt']);
    const judged = tell(again, 'receipt.recorded', { candidate });
    expect(tell(judged, 'step.advanced').context.status).toBe('governance');
  });

  it('GOAL-08: an advance names a committed verdict about the very inputs', () => {
    const judged = tell(claimed('plan'), 'receipt.recorded');
    expect(offer(judged, 'step.advanced', { receiptIds: [] }).guards).toEqual(['acceptedReceipt']);
    expect(offer(judged, 'step.advanced', { inputsDigest: digestOf('f') }).guards).toEqual(['acceptedReceipt']);
    expect(offer(judged, 'step.advanced', { to: 'governance' }).guards).toEqual(['isNextStep']);
    expect(tell(judged, 'step.advanced').context.status).toBe('implement');
  });
});

describe.each(['plan', 'quality'] as const)('OCC-09 OCC-10: a response in %s', (step) => {
  const before = claimed(step);

  it.each(bends)('is late evidence when another %s was read', (_, bend) => {
    const basis = basisOf(before.context, bend);
    const after = tell(before, 'receipt.recorded', { basis, candidate: 'late' });
    expect(standing(after)).toEqual(standing(before));
    expect(after.context.receipts).toEqual(before.context.receipts);
    expect(after.context.candidate).toBe(before.context.candidate);
    expect(after.context.late.at(-1)).toMatchObject({ ...pick(basis), receipt: { candidate: 'late' } });
  });

  it('is late evidence once the process was asked to stop and has ended', () => {
    const stopped = tell(before, 'stop.settled');
    const after = tell(stopped, 'receipt.recorded', { basis: basisOf(before.context) });
    expect(standing(after)).toEqual(standing(stopped));
    expect(after.context.receipts).toEqual(before.context.receipts);
    expect(after.context.late).toHaveLength(1);
  });
});

const pick = ({ occurrence, step, round }: ReturnType<typeof basisOf>) => ({ occurrence, step, round });

describe('verdicts', () => {
  it('RCPT-01: are stored with Goal step, Round, occurrence, kind, inputs and artifacts', () => {
    const before = claimed('plan');
    const { receipts } = tell(before, 'receipt.recorded', { kind: 'planning' }).context;
    expect(receipts).toEqual([
      {
        ...{ receiptId: expect.any(String), kind: 'planning', verdict: 'accepted', inputsDigest: inputs },
        ...{ artifactDigests: [digestOf('4')], claimId: before.context.claim?.claimId, eventId: expect.any(String) },
        ...{ occurrence: before.context.occurrence.n, step: 'plan', round: 1 },
      },
    ]);
  });

  it.each(executing)('RCPT-03: a failed one in %s ends the occurrence; only a decision opens another', (step) => {
    const before = claimed(step);
    const failed = tell(before, 'receipt.recorded', { verdict: 'failed' });
    expect(failed.context).toMatchObject({
      status: 'failed',
      occurrence: before.context.occurrence,
      failure: { kind: 'verdict', occurrence: before.context.occurrence.n, step },
    });
    for (const type of ['claim.recorded', 'step.advanced', 'preparation.reproduced', 'sideEffect.started'] as const)
      expect(offer(failed, type).change).toBe('unmatched');
    const again = tell(failed, 'decision.stepSelected', { to: step });
    expect(again.context).toMatchObject({ status: step, failure: null, claim: null });
    expect(again.context.occurrence.n).toBe(before.context.occurrence.n + 1);
  });

  it('RCPT-06: a second one in an occurrence is late, accepted or failed', () => {
    const judged = tell(claimed('plan'), 'receipt.recorded');
    for (const verdict of ['accepted', 'failed'] as const) {
      const after = tell(judged, 'receipt.recorded', { verdict });
      expect(standing(after)).toEqual(standing(judged));
      expect(after.context.receipts).toHaveLength(1);
      expect(after.context.late).toHaveLength(1);
    }
  });

  it('RCPT-06 GOAL-06: what a replaced claim brings is late, and the current claimant may adopt it once', () => {
    const before = claimed('plan');
    const replaced = tell(before, 'claim.recorded');
    const basis = basisOf(before.context);
    const late = tell(replaced, 'receipt.recorded', { basis, receiptId: 'V-late', kind: 'planning' });
    expect(late.context.receipts).toEqual([]);
    const adopting = { receiptId: 'V-adopted', reuseOf: 'V-late', kind: 'planning' };
    const adopted = tell(late, 'receipt.recorded', adopting);
    expect(adopted.context.receipts).toMatchObject([{ receiptId: 'V-adopted', reuseOf: 'V-late' }]);
    expect(tell(adopted, 'receipt.recorded', { ...adopting, receiptId: 'V-twice' }).context.receipts).toHaveLength(1);
    expect(tell(adopted, 'step.advanced').context.status).toBe('implement');
  });

  it.each([
    ['nothing of that name', { reuseOf: 'V-none' }],
    ['other inputs', { inputsDigest: digestOf('f') }],
    ['another kind', { kind: 'git' }],
    ['another verdict', { verdict: 'failed' }],
  ] as const)('RCPT-06: adopting %s is late evidence itself', (_, bend) => {
    const before = claimed('plan');
    const late = tell(tell(before, 'claim.recorded'), 'receipt.recorded', {
      ...{ basis: basisOf(before.context), receiptId: 'V-late', kind: 'planning' },
    });
    const after = tell(late, 'receipt.recorded', { reuseOf: 'V-late', kind: 'planning', ...bend });
    expect(standing(after)).toEqual(standing(late));
    expect(after.context.receipts).toEqual([]);
    expect(after.context.late).toHaveLength(2);
  });

  it('RCPT-06: evidence of an earlier Round is not adopted', () => {
    const judged = tell(claimed('plan'), 'receipt.recorded', { receiptId: 'V-old' });
    const replanned = tell(tell(judged, 'round.authored'), 'decision.stepSelected', { to: 'plan' });
    const after = tell(tell(replanned, 'claim.recorded'), 'receipt.recorded', { reuseOf: 'V-old' });
    expect(after.context.receipts).toHaveLength(1);
    expect(after.context.late).toHaveLength(1);
  });
});

describe('claims', () => {
  it.each(executing)('WRK-05: in %s whoever does not have the claim changes nothing, whoever launched it', (step) => {
    const before = claimed(step);
    for (const claimId of [null, 'C-of-somebody-else']) {
      const basis = { ...basisOf(before.context), claimId } as never;
      const failed = { basis, failureClass: 'infrastructure', reasonCode: 'x', evidenceRef: 'R1' } as const;
      for (const after of [
        tell(before, 'receipt.recorded', { basis, verdict: 'failed' }),
        tell(before, 'step.failed', failed),
      ]) {
        expect(standing(after)).toEqual(standing(before));
        expect(after.context.receipts).toEqual(before.context.receipts);
      }
    }
  });

  it.each(['todo', ...executing] as const)('CLAIM-01: in %s one is recorded, and nothing else changes', (status) => {
    const before = goalAt(status);
    const after = tell(before, 'claim.recorded', { claimId: 'C1' });
    const { claim, claims, revision, revisedBy, ...rest } = after.context;
    expect(before.context).toMatchObject(rest);
    expect(after.value).toEqual(before.value);
    expect(claim).toMatchObject({ claimId: 'C1', step: status, occurrence: before.context.occurrence.n });
    expect(claims).toEqual([...before.context.claims, claim]);
    expect(revision).toBe(before.context.revision + 1);
    expect(revisedBy).toBe(claim?.eventId);
  });

  it.each(bends)('CLAIM-01: one from another %s is refused', (_, bend) => {
    const before = goalAt('plan');
    expect(offer(before, 'claim.recorded', { basis: basisOf(before.context, bend) }).guards).toEqual(['basisCurrent']);
  });

  it('CLAIM-03 RCPT-07: superseding drops none of what was claimed and found', () => {
    const judged = tell(claimed('plan'), 'receipt.recorded');
    const later = tell(tell(judged, 'round.authored'), 'goal.cancelled');
    expect(later.context.claim).toBeNull();
    expect(later.context).toMatchObject({ claims: judged.context.claims, receipts: judged.context.receipts });
  });
});

describe('OCC-12: work that cannot be used', () => {
  it('is left behind, and the same request is planned again', () => {
    const before = claimed('governance');
    const { context } = tell(before, 'preparation.reproduced');
    expect(context).toMatchObject({
      ...{ status: 'plan', round: before.context.round, candidate: null },
      preparation: {
        branch: 'again',
        checks: ['quality'],
        occurrence: before.context.occurrence.n,
        step: 'governance',
      },
    });
    expect(context.occurrence).toEqual({
      n: before.context.occurrence.n + 1,
      boundary: before.context.occurrence.boundary,
    });
  });
});

describe('integration', () => {
  it('OCC-07: a merge that is not pushed is incomplete until the same attempt has been published', () => {
    const local = integrationAt('localOnly');
    expect(local.context.integration).toMatchObject({
      complete: false,
      targetCommit: expect.any(String),
      remoteCommit: null,
    });
    const refused = tell(tell(local, 'publication.started'), 'publication.failed');
    expect(refused.context.integration).toMatchObject({ complete: false, publicationFailure: 'refused' });
    const replaced = tell(refused, 'integration.leased');
    expect(replaced.context.integrationHistory.at(-1)).toMatchObject({ complete: false, outcome: 'replaced' });
    const published = until(replaced, ({ value }) => value.integration === 'complete');
    expect(published.context.integration).toMatchObject({ complete: true, remoteCommit: expect.any(String) });
  });

  it('OCC-06: a local merge does not carry over to what is wanted by now', () => {
    const local = integrationAt('localOnly');
    const superseded = tell(local, 'decision.stepSelected', { to: 'quality' });
    expect(offer(superseded, 'publication.started').guards).toContain('in workflow.active.executing.governance');
    const other = tell(progress(superseded).snapshot, 'receipt.recorded', { candidate: 'other' });
    const again = progress(tell(other, 'step.advanced')).snapshot;
    expect(offer(again, 'publication.started').guards).toEqual(['attemptServesCandidate']);
  });

  it('I-13: a Goal whose candidate changed after its integration does not pass', () => {
    const complete = until(integrationAt('complete'), ({ context }) => context.claim !== null);
    const judged = tell(complete, 'receipt.recorded', { candidate: 'other' });
    expect(offer(judged, 'step.advanced').guards).toEqual(['integrationMatchesCandidate']);
  });
});
