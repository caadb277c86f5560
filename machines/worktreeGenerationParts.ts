/** Guards and actions of the worktree generation; the chart itself stands in worktreeGeneration.ts. */
import { assertEvent, setup } from 'xstate';
import type { EventOf, Payload } from './events/catalogue.ts';
import { mayBeNoted, withNoted, withSettled } from './notedRuns.ts';
import {
  type AdmittedRun,
  type GenerationContext,
  type GenerationEventType,
  isFreeOf,
  isNewGeneration,
  ownController,
} from './worktreeGenerationBlockers.ts';

type GenerationEvent = EventOf<GenerationEventType>;

const base = setup({
  types: {
    context: {} as GenerationContext,
    events: {} as GenerationEvent,
    input: {} as Payload<'generation.registered'>,
  },
  guards: {
    notAdmitted: ({ context, event }) => {
      assertEvent(event, 'run.admitted');
      return context.admitted[event.runId] === undefined && context.noted[event.runId] === undefined;
    },
    admitted: ({ context, event }) => {
      assertEvent(event, 'run.settled');
      return context.admitted[event.runId] !== undefined;
    },
    isNoted: ({ context, event }) => {
      assertEvent(event, 'run.settled');
      return mayBeNoted(context, event.runId);
    },
    scopeNew: ({ context, event }) => {
      assertEvent(event, 'scope.opened');
      const isKnown = Object.values(context.admitted).some(({ scopes }) => scopes[event.scopeId] !== undefined);
      return context.admitted[event.runId] !== undefined && !isKnown;
    },
    scopeKnown: ({ context, event }) => {
      assertEvent(event, 'scope.settled');
      return context.admitted[event.runId]?.scopes[event.scopeId] !== undefined;
    },
    gapProof: ({ context, event }) => {
      assertEvent(event, 'coverage.gapClosed');
      const isEvidence = event.evidence === 'boot_epoch' || event.evidence === 'authentic_receipt';
      return isEvidence && context.coverageGaps.open.includes(event.gapId);
    },
    allSettled: ({ context }) => isFreeOf(context, ['run_active', 'scope_missing', 'scope_unproved']),
    noUntracked: ({ context }) => isFreeOf(context, ['coverage_gap']),
    notedResolved: ({ context }) => isFreeOf(context, ['noted_run']),
    contractVerified: ({ context }) => isFreeOf(context, ['contract_unverified', 'contract_covers_other_guardian']),
    receiptVerified: ({ event }) => {
      assertEvent(event, 'retirement.receiptVerified');
      return event.verified;
    },
    receiptForThisSeal: ({ context, event }) => {
      assertEvent(event, 'retirement.receiptVerified');
      return event.generationId === context.generationId && event.sealEpoch === context.sealEpoch;
    },
    newGeneration: ({ context }) => isNewGeneration(context),
    /** Every other generation brings the gate report among its evidence (PROMO-04). */
    migrationContract: ({ event }) => {
      assertEvent(event, 'authority.migrated');
      return event.migrationVerified && event.evidenceRefs.length > 0;
    },
  },
});

const withRun = ({ admitted }: GenerationContext, runId: string, change: Partial<AdmittedRun>) => {
  const run = admitted[runId];
  return run === undefined ? {} : { admitted: { ...admitted, [runId]: { ...run, ...change } } };
};

type AuthorityEvent = EventOf<
  'authority.granted' | 'authority.migrated' | 'authority.handedOff' | 'authority.handoffAbandoned'
>;

/** Control that was never given away rests on what it rested on before. */
function evidenceOf(present: readonly string[], event: AuthorityEvent): readonly string[] {
  switch (event.type) {
    case 'authority.granted':
      return event.gateReport === null ? [] : [event.gateReport];
    case 'authority.migrated':
      return event.evidenceRefs;
    case 'authority.handedOff':
      return [];
    case 'authority.handoffAbandoned':
      return present;
  }
}

export const generationSetup = base.extend({
  actions: {
    admit: base.assign(({ context, event }) => {
      assertEvent(event, 'run.admitted');
      const epoch = context.ownershipEpoch + 1;
      const run: AdmittedRun = { epoch, run: 'active', scopes: {}, guardians: {} };
      return { ownershipEpoch: epoch, admitted: { ...context.admitted, [event.runId]: run } };
    }),
    note: base.assign(({ context, event }) => {
      assertEvent(event, 'run.noted');
      const isAdmitted = context.admitted[event.runId] !== undefined;
      return isAdmitted ? {} : withNoted(context, event.runId, event.origin);
    }),
    settleRun: base.assign(({ context, event }) => {
      assertEvent(event, 'run.settled');
      const isActive = context.admitted[event.runId]?.run === 'active';
      return isActive ? withRun(context, event.runId, { run: event.terminal }) : {};
    }),
    settleNoted: base.assign(({ context, event }) => {
      assertEvent(event, 'run.settled');
      return withSettled(context, event.runId, event.terminal);
    }),
    openScope: base.assign(({ context, event }) => {
      assertEvent(event, 'scope.opened');
      const { runId, scopeId, guardianDigest } = event;
      const run = context.admitted[runId];
      return withRun(context, runId, {
        scopes: { ...run?.scopes, [scopeId]: 'pending' },
        guardians: { ...run?.guardians, [scopeId]: guardianDigest },
      });
    }),
    settleScope: base.assign(({ context, event }) => {
      assertEvent(event, 'scope.settled');
      const scopes = context.admitted[event.runId]?.scopes;
      return withRun(context, event.runId, { scopes: { ...scopes, [event.scopeId]: 'proved' } });
    }),
    gap: base.assign(({ context: { coverageGaps }, event }) => {
      assertEvent(event, 'coverage.gapRecorded');
      const { recorded, open } = coverageGaps;
      return open.includes(event.gapId)
        ? {}
        : { coverageGaps: { recorded: recorded + 1, open: [...open, event.gapId] } };
    }),
    closeGap: base.assign(({ context: { coverageGaps }, event }) => {
      assertEvent(event, 'coverage.gapClosed');
      return { coverageGaps: { ...coverageGaps, open: coverageGaps.open.filter((gapId) => gapId !== event.gapId) } };
    }),
    predict: base.assign(({ event }) => {
      assertEvent(event, 'prediction.recorded');
      return { hypothetical: { eligible: event.eligible, blockers: event.blockers } };
    }),
    notePath: base.assign(({ event }) => {
      assertEvent(event, 'path.observed');
      return { pathObservation: event.result };
    }),
    recordContract: base.assign(({ context, event }) => {
      assertEvent(event, 'contract.verified');
      const { contract, kernel, guardianDigest, batteryVersion, reportRef } = event;
      return {
        noWritersContract: { contract, kernel, guardianDigest, batteryVersion, reportRef },
        coveredGuardians: [...new Set([...context.coveredGuardians, guardianDigest])],
      };
    }),
    /** From now on it lies where it was put. */
    quarantine: base.assign(({ event }) => {
      assertEvent(event, 'quarantine.recorded');
      const { scopeId, from, to, gitMetadata, atWallMs } = event;
      return { quarantine: { scopeId, from, to, gitMetadata, atWallMs }, path: to ?? from };
    }),
    seal: base.assign(({ context }) => ({ sealEpoch: context.sealEpoch + 1 })),
    retire: base.assign(({ event }) => {
      assertEvent(event, 'retirement.receiptVerified');
      return { retirement: { executor: event.executor, receiptDigest: event.receiptDigest } };
    }),
    /** Whoever was addressed under the old epoch is out of date (PROMO-05); the ownership epoch is never reset. */
    nextAuthority: base.assign(({ context, event }) => {
      assertEvent(event, [
        'authority.granted',
        'authority.migrated',
        'authority.handedOff',
        'authority.handoffAbandoned',
      ]);
      return {
        authorityEpoch: context.authorityEpoch + 1,
        controller: event.type === 'authority.handedOff' ? event.controller : ownController,
        handoff: null,
        evidence: evidenceOf(context.evidence, event),
      };
    }),
    requestHandoff: base.assign(({ event }) => {
      assertEvent(event, 'authority.handoffRequested');
      return { handoff: { to: event.to, requestId: event.requestId } };
    }),
  },
});
