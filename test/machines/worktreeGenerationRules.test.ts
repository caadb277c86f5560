import { describe, expect, it } from 'vitest';
import { actorKinds } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import {
  type GenerationSnapshot,
  migrationBlockersOf,
  sealBlockersOf,
  worktreeGenerationDefinition,
  worktreeGenerationMachine,
} from '../../machines/worktreeGeneration.ts';
import type { GenerationContext, SealBlocker } from '../../machines/worktreeGenerationBlockers.ts';
import {
  asked,
  contractOf,
  gapNamed,
  otherGuardian,
  ourGuardian,
  quarantined,
  receiptOfExecutor,
} from './support/generationEvidence.ts';
import {
  admitted,
  closed,
  closedGap,
  ended,
  granted,
  migrated,
  newGeneration,
  noted,
  offer,
  opened,
  proved,
  readyToSeal,
  sealed,
  tell,
  verified,
} from './support/generationStory.ts';

const codesOf = (snapshot: GenerationSnapshot) => sealBlockersOf(snapshot).map(({ code }) => code);

/** A generation that lacks exactly one premise, and the guard that has to name it. */
const lacking: Readonly<Record<SealBlocker['code'], readonly [GenerationSnapshot, string]>> = {
  not_closed: [tell(newGeneration(), granted, verified), ''],
  quarantined: [tell(readyToSeal(), ['quarantine.recorded', quarantined]), ''],
  not_managed: [
    tell(readyToSeal(), ['authority.handoffRequested', { ...asked, to: 'others' }]),
    'in authority.managed',
  ],
  run_active: [
    tell(newGeneration(), granted, verified, admitted('R1'), opened('R1', 'S1'), proved('R1', 'S1'), closed),
    'allSettled',
  ],
  scope_unproved: [
    tell(newGeneration(), granted, verified, admitted('R1'), opened('R1', 'S1'), ended('R1'), closed),
    'allSettled',
  ],
  scope_missing: [tell(newGeneration(), granted, verified, admitted('R1'), ended('R1'), closed), 'allSettled'],
  coverage_gap: [tell(readyToSeal(), ['coverage.gapRecorded', gapNamed('g1')]), 'noUntracked'],
  noted_run: [withNotedRun(readyToSeal()), 'notedResolved'],
  contract_unverified: [
    tell(newGeneration(), granted, admitted('R1'), opened('R1', 'S1'), ended('R1'), proved('R1', 'S1'), closed),
    'contractVerified',
  ],
  contract_covers_other_guardian: [
    tell(
      newGeneration(),
      ...[granted, admitted('R1'), opened('R1', 'S1', otherGuardian), ended('R1'), proved('R1', 'S1')],
      ...[verified, closed],
    ),
    'contractVerified',
  ],
};

/** No event leads here; the premise is checked all the same. */
function withNotedRun(snapshot: GenerationSnapshot): GenerationSnapshot {
  const context: GenerationContext = { ...snapshot.context, noted: { N1: { origin: 'observed' } } };
  return worktreeGenerationMachine.resolveState({ value: snapshot.value, context }) as GenerationSnapshot;
}

describe('WT-04: a seal', () => {
  it('is accepted when every premise holds, and counts the seals', () => {
    const before = readyToSeal();
    expect(codesOf(before)).toEqual([]);
    const after = tell(before, sealed);
    expect(after.value.lifecycle).toBe('sealed');
    expect(after.context.sealEpoch).toBe(before.context.sealEpoch + 1);
  });

  it.each(Object.entries(lacking))('is refused for %s alone', (code, [snapshot, guard]) => {
    expect(codesOf(snapshot)).toEqual([code]);
    expect(offer(snapshot, ...sealed)).toMatchObject({ change: 'unmatched', guards: guard === '' ? [] : [guard] });
  });

  it('is not helped by a cancelled run without a scope, nor held up by it', () => {
    expect(codesOf(tell(newGeneration(), granted, verified, admitted('R1'), ended('R1', 'cancelled'), closed))).toEqual(
      [],
    );
  });

  it('names every scope and run that stands in its way', () => {
    const snapshot = tell(
      newGeneration(),
      granted,
      admitted('R1'),
      opened('R1', 'S1'),
      opened('R1', 'S2', null),
      closed,
    );
    expect(sealBlockersOf(snapshot)).toMatchObject([
      { code: 'run_active', runId: 'R1' },
      { code: 'scope_unproved', runId: 'R1', scopeId: 'S1' },
      { code: 'scope_unproved', runId: 'R1', scopeId: 'S2' },
      { code: 'contract_unverified' },
    ]);
    expect(sealBlockersOf(tell(snapshot, verified)).at(-1)).toMatchObject({
      ...{ code: 'contract_covers_other_guardian', runId: 'R1', scopeId: 'S2' },
      detail: expect.stringContaining('unknown'),
    });
  });

  it('BIND-03: a later epoch says nothing about the scope of an earlier one', () => {
    const first = tell(newGeneration(), granted, verified, admitted('R1'), opened('R1', 'S1'), ended('R1'));
    const second = tell(first, admitted('R2'), opened('R2', 'S2'), ended('R2'), proved('R2', 'S2'), closed);
    expect(second.context.admitted.R2?.epoch).toBeGreaterThan(second.context.admitted.R1?.epoch ?? 9);
    expect(codesOf(second)).toEqual(['scope_unproved']);
  });
});

describe('coverage gaps', () => {
  const gapped = tell(
    readyToSeal(),
    ['coverage.gapRecorded', gapNamed('g1')],
    ['coverage.gapRecorded', gapNamed('g2')],
  );

  it.each(['boot_epoch', 'authentic_receipt'])('WT-04: one is closed by %s, and the other stays open', (evidence) => {
    const after = tell(gapped, ['coverage.gapClosed', { gapId: 'g1', evidence, evidenceRef: 'e' }]);
    expect(after.context.coverageGaps).toEqual({ recorded: 2, open: ['g2'] });
  });

  it('WT-04: neither time nor an unknown name closes one', () => {
    for (const payload of [
      { gapId: 'g1', evidence: 'elapsed', evidenceRef: 'e' },
      { gapId: 'g3', evidence: 'boot_epoch', evidenceRef: 'e' },
    ])
      expect(offer(gapped, 'coverage.gapClosed', payload).guards).toEqual(['gapProof']);
  });
});

describe('PROMO-06 ruling 15: the contract', () => {
  it('is that of the host; verifying a new guardian keeps the scopes of the old one covered', () => {
    const both = tell(readyToSeal(), ['contract.verified', contractOf(otherGuardian)]);
    expect(both.context.noWritersContract).toEqual(contractOf(otherGuardian));
    expect(both.context.coveredGuardians).toEqual([ourGuardian, otherGuardian]);
    expect(codesOf(both)).toEqual([]);
  });

  it('ruling 15: is asked about the guardian of every scope, proved or not', () => {
    const other = tell(
      newGeneration(),
      granted,
      verified,
      admitted('R1'),
      opened('R1', 'S1'),
      opened('R1', 'S2', otherGuardian),
    );
    expect(codesOf(other)).toContain('contract_covers_other_guardian');
    expect(codesOf(tell(other, proved('R1', 'S2')))).toContain('contract_covers_other_guardian');
    expect(codesOf(tell(other, ['contract.verified', contractOf(otherGuardian)]))).not.toContain(
      'contract_covers_other_guardian',
    );
  });
});

describe('authority', () => {
  it('ruling 15 PROMO-04: a generation made by Custody is granted without a gate report', () => {
    const { value, context } = tell(newGeneration({ controller: 'nobody' }), granted);
    expect(value).toEqual({ lifecycle: 'open', authority: 'managed' });
    expect(context).toMatchObject({ controller: 'custody', authorityEpoch: 2 });
  });

  it.each(['observed', 'legacy'] as const)(
    'ruling 15 PROMO-04: an %s one is migrated with a report or not at all',
    (origin) => {
      const before = newGeneration({ origin, controller: 'others' });
      for (const gateReport of [null, 'gate report'])
        expect(offer(before, 'authority.granted', { ...asked, gateReport }).guards).toEqual(['newGeneration']);
      const bare = { ...asked, migrationVerified: true, evidenceRefs: [] };
      expect(offer(before, 'authority.migrated', bare).guards).toEqual(['migrationContract']);
      expect(tell(before, migrated).context).toMatchObject({ controller: 'custody', authorityEpoch: 2 });
    },
  );

  it.each([
    ['a noted run', tell(newGeneration(), noted('N1'))],
    ['a noted run that ended', tell(newGeneration(), noted('N1'), ended('N1'))],
    ['an open gap', tell(newGeneration(), ['coverage.gapRecorded', gapNamed('g')])],
    ['a closed gap', tell(newGeneration(), ['coverage.gapRecorded', gapNamed('g')], closedGap('g'))],
    ['an admitted run', handedOff()],
  ] as const)('PROMO-04: %s is history, so there is no grant', (_, before) => {
    expect(offer(before, ...granted).guards).toEqual(['newGeneration']);
  });

  it('PROMO-04: it is not taken over from noted runs that still run, nor across a gap', () => {
    expect(offer(tell(newGeneration(), noted('N1')), ...migrated).guards).toEqual(['notedResolved']);
    const gapped = tell(newGeneration(), ['coverage.gapRecorded', gapNamed('g')]);
    expect(offer(gapped, ...migrated).guards).toEqual(['noUntracked']);
  });

  it('PROMO-05: handing off waits for every admitted run and scope, and for closed admission', () => {
    const request = ['authority.handoffRequested', { ...asked, to: 'others' }] as const;
    const give = ['authority.handedOff', { requestId: 'q', controller: 'others' }] as const;
    const working = tell(newGeneration(), granted, admitted('R1'), opened('R1', 'S1'), request);
    expect(offer(working, ...admitted('R2')).guards).toEqual(['in authority.managed']);
    expect(offer(working, ...give).guards).toEqual(['allSettled', 'not in lifecycle.open']);
    const quiet = tell(working, ended('R1'), proved('R1', 'S1'));
    expect(offer(quiet, ...give).guards).toEqual(['not in lifecycle.open']);
    const { value, context } = tell(quiet, closed, give);
    expect(value).toEqual({ lifecycle: 'closing', authority: 'observe' });
    expect(context).toMatchObject({ controller: 'others', authorityEpoch: 3, handoff: null, evidence: [] });
  });

  it('PROMO-01: the record names what control rests on, and to whom it is on its way', () => {
    const request = ['authority.handoffRequested', { ...asked, to: 'others' }] as const;
    const ours = tell(newGeneration({ origin: 'legacy' }), migrated);
    expect(ours.context).toMatchObject({ controller: 'custody', evidence: ['gate report'], handoff: null });
    const leaving = tell(ours, request);
    expect(leaving.context).toMatchObject({ evidence: ['gate report'], handoff: { to: 'others', requestId: 'q' } });
    const kept = tell(leaving, ['authority.handoffAbandoned', { requestId: 'q' }]);
    expect(kept.context).toMatchObject({ evidence: ['gate report'], handoff: null, authorityEpoch: 3 });
  });

  it('INT-09: what keeps control from being taken over is named, by the same computation as the guard', () => {
    const codes = (snapshot: GenerationSnapshot) => migrationBlockersOf(snapshot).map(({ code }) => code);
    const foreign = newGeneration({ origin: 'legacy', controller: 'legacy' });
    expect(codes(foreign)).toEqual(['contract_unverified']);
    expect(codes(tell(foreign, verified, noted('N1')))).toEqual(['noted_run']);
    expect(codes(tell(foreign, verified, ['coverage.gapRecorded', gapNamed('g')]))).toEqual(['coverage_gap']);
    expect(codes(tell(foreign, verified, noted('N1'), ended('N1')))).toEqual([]);
  });
});

function handedOff(): GenerationSnapshot {
  return tell(
    readyToSeal(),
    ['authority.handoffRequested', { ...asked, to: 'others' }],
    ['authority.handedOff', { requestId: 'q', controller: 'others' }],
  );
}

describe('admission', () => {
  it('PROMO-05: rows of version 3 that were handed off with their seal lose it, and no others', () => {
    const { 3: upcast } = worktreeGenerationDefinition.upcasters;
    const lifecycleOf = (value: object) => upcast!({ value } as never).value;
    const kept = [
      { lifecycle: 'sealed', authority: 'managed' },
      { lifecycle: 'sealed', authority: 'quiescing' },
      { lifecycle: 'retired', authority: 'observe' },
    ];
    for (const value of kept) expect(lifecycleOf(value)).toEqual(value);
    expect(lifecycleOf({ lifecycle: 'sealed', authority: 'observe' })).toEqual({
      lifecycle: 'closing',
      authority: 'observe',
    });
  });

  it('WT-03 I-23: nobody comes in after closing; who is in may still nest', () => {
    const closing = tell(newGeneration(), granted, admitted('R1'), closed);
    expect(offer(closing, ...admitted('R2')).change).toBe('unmatched');
    expect(tell(closing, opened('R1', 'S1')).context.admitted.R1?.scopes).toEqual({ S1: 'pending' });
  });

  it('BIND-04: a run is admitted once, and a scope belongs to one run', () => {
    const both = tell(newGeneration(), granted, admitted('R1'), admitted('R2'), opened('R1', 'S1'));
    expect(offer(both, ...admitted('R1')).guards).toEqual(['notAdmitted']);
    expect(offer(both, ...opened('R2', 'S1')).guards).toEqual(['scopeNew']);
    const watched = tell(newGeneration({ origin: 'observed' }), noted('N1'), ended('N1'), migrated);
    // Nobody's id is given out twice; were it, the second one would be as much in the way as anybody who is admitted.
    expect(codesOf(tell(watched, admitted('N1')))).toContain('run_active');
  });

  it('BIND-02: epochs go on where they were after a restart, a handoff and a new controller', () => {
    const before = tell(newGeneration(), granted, admitted('R1'), ended('R1', 'cancelled'));
    const again = tell(
      before,
      ['authority.handoffRequested', { ...asked, to: 'others' }],
      ['authority.handoffAbandoned', { requestId: 'q' }],
      admitted('R2'),
    );
    expect([again.context.admitted.R1?.epoch, again.context.admitted.R2?.epoch]).toEqual([1, 2]);
    expect(again.context.authorityEpoch).toBe(3);
  });
});

describe('the end', () => {
  it('WT-05: a vanished directory is an observation; only the receipt for this seal retires', () => {
    const before = tell(readyToSeal(), sealed);
    const missing = tell(before, ['path.observed', { result: 'missing' }]);
    expect(missing).toMatchObject({ value: before.value, context: { pathObservation: 'missing' } });
    const wrong = [{ verified: false }, { sealEpoch: 2 }, { generationId: 'W2' }];
    for (const rest of wrong)
      expect(offer(missing, 'retirement.receiptVerified', receiptOfExecutor(1, rest)).change).toBe('unmatched');
    const { value, context } = tell(missing, ['retirement.receiptVerified', receiptOfExecutor(1)]);
    expect(value.lifecycle).toBe('retired');
    expect(context.retirement).toMatchObject({ executor: 'archiver' });
  });

  it('WT-06: in observe mode only predictions are made', () => {
    const before = newGeneration({ origin: 'observed' });
    for (const [type, payload] of [closed, sealed]) expect(offer(before, type, payload).change).toBe('unmatched');
    const predicted = tell(before, [
      'prediction.recorded',
      { eligible: false, blockers: [{ code: 'x', evidenceIds: [] }] },
    ]);
    expect(predicted).toMatchObject({ value: before.value, context: { hypothetical: { eligible: false } } });
  });

  it('I-27: a sealed worktree is not released yet, a retired one is', () => {
    const before = tell(readyToSeal(), sealed);
    const after = tell(before, ['retirement.receiptVerified', receiptOfExecutor(1)]);
    const { isReleased, isSettled, links } = worktreeGenerationDefinition;
    expect([isReleased(before), isSettled(before), isReleased(after), isSettled(after)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(links(after)).toEqual({ repoId: 'P1', goalId: 'G1', place: '8:77' });
    expect(links(newGeneration({ goalId: null }))).toEqual({ repoId: 'P1', place: '8:77' });
  });
});

it('SYNC-07: every kind of actor has its definition, and only Goals are of the semantic plane', () => {
  expect(Object.keys(definitions).sort()).toEqual([...actorKinds].sort());
  for (const kind of actorKinds)
    expect(definitions[kind]).toMatchObject({ kind, plane: kind === 'goal' ? 'semantic' : 'local' });
});
