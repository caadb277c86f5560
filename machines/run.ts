/**
 * The life of one worker job, from the durable intent to run it until the recorded process is known to be gone. The
 * launcher binds it, the reconciler and the receipt reader end it; what the process leaves behind is the scope's affair.
 */
import { type AnyMachineSnapshot, and, assertEvent, assign, not, type SnapshotFrom, setup } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { EventOf, Payload } from './events/catalogue.ts';
import type { Observation, ProcessIdentity } from './identity.ts';
import { identityDigest, sameProcess } from './identity.ts';
import type { GenerationId, RunId, ScopeId } from './ids.ts';
import type { LauncherName } from './launcherNames.ts';
import { structuralHash } from './structuralHash.ts';

export interface RunEnd {
  /** Which kind of evidence ended it; exactly one (RUN-03). */
  readonly evidence: 'kernel_observation' | 'status_receipt' | 'scope_proof';
  readonly reason: string;
  readonly eventId: string;
}

type Sampled = Pick<Observation, 'result' | 'reason' | 'sampledAt'>;

export interface RunContext {
  readonly runId: RunId;
  readonly generationId: GenerationId | null;
  readonly goalRef: Payload<'run.reserved'>['goalRef'];
  readonly mode: 'observe' | 'managed';
  readonly rootScopeId: ScopeId | null;
  readonly label: string | null;
  readonly retryOf: RunId | null;
  readonly origin: Payload<'run.reserved'>['origin'];
  /** Facts that nobody told and nobody fills in (RUN-08). */
  readonly gaps: readonly string[];
  readonly identity: ProcessIdentity | null;
  /** 0 until bound; a sample names the version that it looked for (CONC-03). */
  readonly identityVersion: number;
  readonly lastObservation: Sampled | null;
  /** Never overwritten by an unknown (OBS-08). */
  readonly lastConfirmed: Sampled | null;
  readonly exitReport: {
    readonly exitCode: number | null;
    readonly signal: number | null;
    readonly reporter: string;
  } | null;
  readonly end: RunEnd | null;
  readonly unresolvedReason: string | null;
  /** What its launcher calls it; null for one that no note told of, or only before this was kept. */
  readonly launcher: LauncherName | null;
}

type RunEvent =
  | EventOf<'reservation.reported'>
  | EventOf<'run.placed'>
  | EventOf<'identity.bound'>
  | EventOf<'admission.uncertain'>
  | EventOf<'admission.cancelled'>
  | EventOf<'process.observed'>
  | EventOf<'workload.statusReceipt'>
  | EventOf<'scope.exitProved'>
  | EventOf<'exit.reported'>;

/** What can be missing of an observed run, in `gaps`. */
export const reserveMissing = 'reserve_missing';
export const placeMissing = 'place_missing';

const without = (gaps: readonly string[], told: string): readonly string[] => gaps.filter((gap) => gap !== told);

/** A sample that arrives late overwrites no newer one (CONC-04); samples of different boots have no order. */
function newer(known: Sampled | null, arrived: Sampled): Sampled {
  const isLate =
    known !== null &&
    known.sampledAt.bootId === arrived.sampledAt.bootId &&
    known.sampledAt.monoMs > arrived.sampledAt.monoMs;
  return isLate ? known : arrived;
}

const runSetup = setup({
  types: { context: {} as RunContext, events: {} as RunEvent, input: {} as Payload<'run.reserved'> },
  guards: {
    identityVerified: ({ event }) => {
      assertEvent(event, 'identity.bound');
      return event.verified && event.source === 'entrypoint';
    },
    identitySame: ({ context, event }) => {
      assertEvent(event, 'identity.bound');
      return context.identity !== null && sameProcess(context.identity, event.identity);
    },
    managed: ({ context }) => context.mode === 'managed',
    isObserved: ({ context }) => context.mode === 'observe',
    missesReservation: ({ context }) => context.gaps.includes(reserveMissing),
    sameReservation: ({ context, event }) => {
      assertEvent(event, 'reservation.reported');
      return context.label === event.label && context.retryOf === event.retryOf;
    },
    hasNoPlace: ({ context }) => context.generationId === null,
    samePlace: ({ context, event }) => {
      assertEvent(event, 'run.placed');
      return context.generationId === event.generationId;
    },
    gateNeverOpened: ({ context, event }) => {
      assertEvent(event, 'admission.cancelled');
      return event.gate === 'never_opened' && event.scopeId === context.rootScopeId;
    },
    observedEnded: ({ event }) => {
      assertEvent(event, 'process.observed');
      return event.result === 'ended' && event.stable;
    },
    claimsEnded: ({ event }) => {
      assertEvent(event, 'process.observed');
      return event.result === 'ended';
    },
    sampleBasisCurrent: ({ context, event }) => {
      assertEvent(event, 'process.observed');
      const isSameProcess = context.identity !== null && sameProcess(context.identity, event.identity);
      return isSameProcess && event.basisVersion === context.identityVersion;
    },
    receiptNamesProcess: ({ context, event }) => {
      assertEvent(event, 'workload.statusReceipt');
      const { identity } = context;
      const namesProcess =
        identity !== null && identity.pid === event.workload.pid && identity.processToken === event.workload.start;
      return (
        namesProcess && event.authentic && event.scopeId === context.rootScopeId && event.bootId === identity.bootId
      );
    },
    rootScope: ({ context, event }) => {
      assertEvent(event, 'scope.exitProved');
      return event.scopeId === context.rootScopeId;
    },
  },
  actions: {
    bindIdentity: assign(({ context, event }) => {
      assertEvent(event, 'identity.bound');
      return { identity: event.identity, identityVersion: context.identityVersion + 1, unresolvedReason: null };
    }),
    recordPlace: assign(({ context, event }) => {
      assertEvent(event, 'run.placed');
      return { generationId: event.generationId, gaps: without(context.gaps, placeMissing) };
    }),
    recordReservation: assign(({ context, event }) => {
      assertEvent(event, 'reservation.reported');
      return { label: event.label, retryOf: event.retryOf, gaps: without(context.gaps, reserveMissing) };
    }),
    recordCancel: assign({ unresolvedReason: null }),
    recordUncertain: assign(({ event }) => {
      assertEvent(event, 'admission.uncertain');
      return { unresolvedReason: event.reason };
    }),
    recordObservation: assign(({ context, event }) => {
      assertEvent(event, 'process.observed');
      const observation = { result: event.result, reason: event.reason, sampledAt: event.sampledAt };
      const { lastObservation, lastConfirmed } = context;
      return {
        lastObservation: newer(lastObservation, observation),
        lastConfirmed: event.result === 'unknown' ? lastConfirmed : newer(lastConfirmed, observation),
      };
    }),
    recordEnd: assign(({ event }) => ({ end: endOf(event) })),
    recordExitReport: assign(({ event }) => {
      assertEvent(event, 'exit.reported');
      return { exitReport: { exitCode: event.exitCode, signal: event.signal, reporter: event.reporter } };
    }),
    noop: assign({}),
  },
});

function endOf(event: RunEvent): RunEnd {
  assertEvent(event, ['process.observed', 'workload.statusReceipt', 'scope.exitProved']);
  const { eventId } = event;
  if (event.type === 'process.observed') return { evidence: 'kernel_observation', reason: event.reason, eventId };
  if (event.type === 'workload.statusReceipt') return { evidence: 'status_receipt', reason: event.how, eventId };
  return { evidence: 'scope_proof', reason: event.proofKind, eventId };
}

export const runMachine = runSetup.createMachine({
  id: 'run',
  version: '3',
  type: 'parallel',
  context: ({ input }) => ({
    runId: input.runId,
    generationId: input.generationId,
    goalRef: input.goalRef,
    mode: input.mode,
    rootScopeId: input.rootScopeId,
    label: input.label,
    retryOf: input.retryOf,
    origin: input.origin,
    gaps: input.gaps,
    identity: null,
    identityVersion: 0,
    lastObservation: null,
    lastConfirmed: null,
    exitReport: null,
    end: null,
    unresolvedReason: null,
    launcher: input.launcher ?? null,
  }),
  states: {
    lifecycle: {
      initial: 'reserved',
      on: {
        'reservation.reported': [
          { guard: 'missesReservation', actions: 'recordReservation' },
          { guard: and(['isObserved', 'sameReservation']), actions: 'noop' },
        ],
        'run.placed': [
          { guard: and(['isObserved', 'hasNoPlace']), actions: 'recordPlace' },
          { guard: 'samePlace', actions: 'noop' },
        ],
      },
      states: {
        reserved: {
          initial: 'pending',
          on: {
            'identity.bound': { guard: 'identityVerified', target: 'bound', actions: 'bindIdentity' },
            'admission.cancelled': {
              guard: and(['managed', 'gateNeverOpened']),
              target: 'cancelled',
              actions: 'recordCancel',
            },
          },
          states: {
            pending: {
              description: 'The intent is durable; the job has no verified process yet.',
              on: { 'admission.uncertain': { target: 'unresolved', actions: 'recordUncertain' } },
            },
            unresolved: {
              description:
                'Nobody can say whether the job began. Only an identity or a proof that it never ran leads out.',
              on: { 'admission.uncertain': { actions: 'recordUncertain' } },
            },
          },
        },
        bound: {
          description: 'Exactly one process is the job. It stays so until evidence about that very process arrives.',
          on: {
            'identity.bound': { guard: 'identitySame', actions: 'noop' },
            'process.observed': [
              {
                guard: and(['observedEnded', 'sampleBasisCurrent']),
                target: 'ended',
                actions: ['recordObservation', 'recordEnd'],
              },
              { guard: and(['sampleBasisCurrent', not('claimsEnded')]), actions: 'recordObservation' },
            ],
            'workload.statusReceipt': { guard: 'receiptNamesProcess', target: 'ended', actions: 'recordEnd' },
            'scope.exitProved': { guard: 'rootScope', target: 'ended', actions: 'recordEnd' },
          },
        },
        ended: { tags: 'terminal', description: 'The recorded process is gone. A retry is another run.' },
        cancelled: { tags: 'terminal', description: 'The gate never opened, so the image never ran.' },
      },
    },
    exitReport: {
      initial: 'absent',
      states: {
        absent: {
          description: 'No launcher has claimed anything.',
          on: { 'exit.reported': { target: 'reported', actions: 'recordExitReport' } },
        },
        reported: { description: 'A launcher claims that the job ended; a claim moves nothing else.' },
      },
    },
  },
});

export type RunSnapshot = SnapshotFrom<typeof runMachine>;

/** Carried by the observed runs whose process has to be looked at, and by no others: an index of what is due (OBS-11, -12). */
export const dueLink = 'due';

const isTerminal = (snapshot: AnyMachineSnapshot): boolean => snapshot.hasTag('terminal');

export const runDefinition: ActorDefinition<RunSnapshot> = {
  kind: 'run',
  plane: 'local',
  machine: runMachine,
  version: 3,
  structuralHash: structuralHash(runMachine),
  isSettled: isTerminal,
  isReleased: isTerminal,
  inputOf: (event) => event as unknown as Payload<'run.reserved'>,
  links: (snapshot) => {
    const { generationId, goalRef, rootScopeId, identity, mode } = snapshot.context;
    return linksOf({
      generationId,
      goalId: goalRef?.goalId,
      scopeId: rootScopeId,
      identity: identity === null ? null : identityDigest(identity),
      [dueLink]: mode === 'observe' && snapshot.matches({ lifecycle: 'bound' }) ? mode : null,
    });
  },
  upcasters: {
    1: (row) => ({ ...row, context: { ...row.context, origin: 'native', gaps: [] } }),
    2: (row) => ({ ...row, context: { ...row.context, launcher: null } }),
  },
};
