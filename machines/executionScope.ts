/**
 * The life of the process tree under one guardian, from the request until the kernel has said that nobody is left. The
 * launch coordinator, the receipt reader, the reconciler and the drain executor report to it; three facts move apart:
 * what is proved about the tree, what became of its root, and how far an ordered end has come.
 */
import { and, not, or, type SnapshotFrom, stateIn } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { initialScopeContext, scopeSetup } from './executionScopeParts.ts';
import { structuralHash } from './structuralHash.ts';

const inCoverage = (state: 'requested' | 'launching' | 'gated' | 'live' | 'unverified' | 'exitedProved') =>
  stateIn({ coverage: state });
const inGap = stateIn({ coverage: { unverified: 'gap' } });
const isRootOver = stateIn({ workload: 'finished' });
const isIdle = stateIn({ termination: 'idle' });
const isOwnedTree = or([inCoverage('gated'), inCoverage('live'), inCoverage('unverified')]);
const isBeforeRelease = or([inCoverage('requested'), inCoverage('launching'), inCoverage('gated')]);
const isProofOfExit = and(['receiptAuthentic', 'receiptComplete']);
const isProofByEnclosing = and(['guardianGone', 'enclosingContains', 'noSurvivors']);
const isAbandonedUnverified = and(['platformCovered', 'neverReleased', 'guardianGone']);

export const executionScopeMachine = scopeSetup.createMachine({
  id: 'executionScope',
  version: '4',
  type: 'parallel',
  context: ({ input }) => initialScopeContext(input),
  states: {
    coverage: {
      initial: 'requested',
      on: { 'witness.merged': { guard: not(inCoverage('exitedProved')), actions: 'mergeWitnesses' } },
      states: {
        requested: {
          description: 'Wanted, not spawned: nothing of it can be running.',
          entry: 'requestLaunch',
          on: {
            'launch.prepared': { guard: and(['platformCovered', isIdle]), target: 'launching', actions: 'prepare' },
            'launch.notStarted': { target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'launch.abandoned': { guard: 'neverReleased', target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'scope.registeredExternally': { target: 'unverified.gap', actions: 'recordExternal' },
          },
        },
        launching: {
          description: 'A guardian may have been spawned and has not reported yet; its gate is shut.',
          on: {
            'guardian.attached': { target: 'gated', actions: 'attach' },
            'launch.notStarted': { target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'launch.abandoned': { guard: 'neverReleased', target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'coverage.gap': { target: 'unverified.gap', actions: 'recordGap' },
          },
        },
        gated: {
          description: 'The guardian holds the workload before its first instruction and waits for the release.',
          on: {
            'launch.abandoned': { guard: 'neverReleased', target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'launch.releaseCommitted': { guard: isIdle, target: 'live', actions: ['markReleased', 'requestGate'] },
            'guardian.exitReceipt': { guard: isProofOfExit, target: 'neverLaunched', actions: 'recordNeverLaunched' },
            'boot.epochEnded': { guard: 'epochUniform', target: 'exitedProved', actions: 'prove' },
            'coverage.gap': { target: 'unverified.gap', actions: 'recordGap' },
            'guardian.observed': [
              { guard: 'observedAbsent', target: 'unverified.gap', actions: 'recordGuardianGone' },
              { actions: 'recordGuardian' },
            ],
          },
        },
        live: {
          description:
            'Somebody of the tree may be running. As far as anybody has looked, the guardian is there to say when nobody is.',
          on: {
            'guardian.observed': [
              { guard: 'observedAlive', actions: 'recordGuardian' },
              { guard: 'observedAbsent', target: 'unverified.gap', actions: 'recordGuardianGone' },
              { target: 'unverified.transient', actions: 'recordGuardian' },
            ],
            'guardian.exitReceipt': { guard: isProofOfExit, target: 'exitedProved', actions: 'prove' },
            'boot.epochEnded': { guard: 'epochUniform', target: 'exitedProved', actions: 'prove' },
            'coverage.gap': { target: 'unverified.gap', actions: 'recordGap' },
            'launch.releaseUncertain': { actions: 'markUncertain' },
            'residents.observed': { guard: and(['hasResidents', isRootOver]), actions: 'recordResidents' },
            'sideEffect.committed': { actions: 'commitSideEffect' },
            'sideEffect.done': { actions: 'finishSideEffect' },
          },
        },
        unverified: {
          initial: 'transient',
          on: {
            'launch.abandoned': {
              guard: isAbandonedUnverified,
              target: 'neverLaunched',
              actions: 'recordNeverLaunched',
            },
            'guardian.exitReceipt': { guard: isProofOfExit, target: 'exitedProved', actions: 'prove' },
            'boot.epochEnded': { guard: 'epochUniform', target: 'exitedProved', actions: 'prove' },
          },
          states: {
            transient: {
              description: 'The guardian cannot be looked at just now. A good look leads back.',
              on: {
                'guardian.observed': [
                  {
                    guard: and(['observedAlive', 'noGap']),
                    target: '#executionScope.coverage.live',
                    actions: ['recordGuardian', 'withdrawAssumption'],
                  },
                  { guard: 'observedAbsent', target: 'gap', actions: 'recordGuardianGone' },
                  { actions: 'recordGuardian' },
                ],
                'coverage.gap': { target: 'gap', actions: 'recordGap' },
                'end.assumed': { guard: and(['notAssumed', 'inForeignNamespace']), actions: 'recordAssumption' },
              },
            },
            gap: {
              description:
                'Coverage was lost. No later sight of life or quiet repairs that; only one of the three proofs does.',
              on: {
                'coverage.gap': { actions: 'recordGap' },
                'end.assumed': { guard: and(['isOwn', 'notAssumed']), actions: 'recordAssumption' },
                'enclosing.receiptAccepted': {
                  guard: isProofByEnclosing,
                  target: '#executionScope.coverage.exitedProved',
                  actions: 'prove',
                },
              },
            },
          },
        },
        exitedProved: {
          tags: ['terminal', 'capacityReleased'],
          description: 'No process of the tree remains, by proof.',
        },
        neverLaunched: {
          tags: ['terminal', 'capacityReleased'],
          description: 'The gate never opened: the image never ran.',
        },
      },
    },
    workload: {
      initial: 'notReleased',
      states: {
        notReleased: {
          description: 'The root waits behind the gate, or was never there.',
          on: {
            'launch.releaseCommitted': { guard: and([inCoverage('gated'), isIdle]), target: 'running' },
            'workload.statusReceipt': { guard: 'receiptAuthentic', target: 'finished', actions: 'recordStatus' },
            'guardian.exitReceipt': { guard: isProofOfExit, target: 'finished', actions: 'recordStatus' },
          },
        },
        running: {
          description: 'The root is taken to be running until its guardian says how it ended.',
          on: {
            'workload.statusReceipt': { guard: 'receiptAuthentic', target: 'finished', actions: 'recordStatus' },
            'guardian.exitReceipt': { guard: isProofOfExit, target: 'finished', actions: 'recordStatus' },
          },
        },
        finished: { description: 'The wait status of the root is known; the tree may still live.' },
      },
    },
    termination: {
      initial: 'idle',
      on: {
        'launch.notStarted': { guard: or([inCoverage('requested'), inCoverage('launching')]), target: '.settled' },
        'launch.abandoned': {
          guard: and(['neverReleased', or([isBeforeRelease, and([isAbandonedUnverified, inCoverage('unverified')])])]),
          target: '.settled',
        },
        'guardian.exitReceipt': { guard: and([isProofOfExit, isOwnedTree]), target: '.settled' },
        'boot.epochEnded': { guard: and(['epochUniform', isOwnedTree]), target: '.settled' },
        'enclosing.receiptAccepted': { guard: and([isProofByEnclosing, inGap]), target: '.settled' },
      },
      states: {
        idle: {
          description: 'Nobody has asked for the end of this scope.',
          on: {
            'drain.requested': {
              guard: and([
                'isOwn',
                'notCommitted',
                or([isBeforeRelease, inCoverage('live'), inCoverage('unverified')]),
              ]),
              target: 'quiescing',
              actions: ['requestDrain', 'offerDrain'],
            },
          },
        },
        quiescing: {
          description: 'The grace, then the freeze: killing starts when two scans agree.',
          on: {
            'drain.requested': { actions: 'noop' },
            'drain.quiesced': { target: 'signalling' },
            'drain.budgetExhausted': { target: 'stalled' },
            'drain.inspectionFailed': { target: 'stalled' },
          },
        },
        signalling: {
          description: 'The frozen set is being killed, one verified identity after the other.',
          on: {
            'drain.requested': { actions: 'noop' },
            'drain.signalled': { target: 'awaitingProof' },
            'drain.budgetExhausted': { target: 'stalled' },
            'drain.inspectionFailed': { target: 'stalled' },
          },
        },
        awaitingProof: {
          description: 'Everybody was signalled; the receipt decides.',
          on: {
            'drain.requested': { actions: 'noop' },
            'drain.budgetExhausted': { target: 'stalled' },
            'drain.inspectionFailed': { target: 'stalled' },
          },
        },
        stalled: {
          description:
            'The budget ran out or nobody could look. That proves nothing; the drain can be asked for again.',
          on: {
            'drain.requested': { guard: 'notCommitted', target: 'quiescing', actions: ['requestDrain', 'offerDrain'] },
          },
        },
        settled: {
          tags: 'terminal',
          description: 'There is nothing left to end.',
          on: { 'drain.requested': { actions: 'noop' } },
        },
      },
    },
  },
});

export type ScopeSnapshot = SnapshotFrom<typeof executionScopeMachine>;

export const executionScopeDefinition: ActorDefinition<ScopeSnapshot> = {
  kind: 'executionScope',
  plane: 'local',
  machine: executionScopeMachine,
  version: 4,
  structuralHash: structuralHash(executionScopeMachine),
  isSettled: (snapshot) => snapshot.hasTag('capacityReleased') && snapshot.matches({ termination: 'settled' }),
  // What others have launched has never held anything of ours, so nobody here waits for it, counts it or ends it.
  isReleased: (snapshot) => snapshot.hasTag('capacityReleased') || snapshot.context.controller !== null,
  inputOf: (event) => event as unknown as Payload<'scope.requested'>,
  links: ({ context }) =>
    linksOf({
      runId: context.runId,
      generationId: context.generationId,
      goalId: context.goalId,
      parentScopeId: context.parentScopeId,
    }),
  upcasters: {
    // Only a transition joined: what was written before fits as it is.
    1: (row) => row,
    2: (row) => ({
      ...row,
      context: { ...row.context, assumed: null, delegators: [], residents: [], residentsOnly: false },
    }),
    3: (row) => ({ ...row, context: { ...row.context, controller: null } }),
  },
};
