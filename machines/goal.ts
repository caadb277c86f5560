/**
 * The life of one Goal: how far the work has come, whether its result is integrated, and whether the nodes agree on it.
 * Workers, the git observer, the sync importer and people drive it. Between two events nothing is claimed to be running:
 * a worker may vanish at any point and the Goal stays where it is.
 */
import { and, not, or, type SnapshotFrom, stateIn } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { initialGoalContext } from './goalContext.ts';
import { goalSetup } from './goalParts.ts';
import { structuralHash } from './structuralHash.ts';

const isInGovernance = stateIn({ workflow: { active: { executing: 'governance' } } });
const isConverged = stateIn({ convergence: 'converged' });

/** The rereading of the Goal inside the transaction that commits (OCC-03). */
const isCurrent = and(['basisCurrent', isConverged]);
const isClaimant = and([isCurrent, 'claimCurrent']);
const canAdvance = and([isClaimant, 'isNextStep', 'acceptedReceipt']);
const canRecord = and([isClaimant, 'noVerdictYet', 'reuseSound']);
const canReview = and(['revisionExpected', isConverged]);
const canAuthor = and(['requestNonEmpty', 'revisionExpected']);
const canSelect = and([not('selectsCurrentStep'), 'revisionExpected']);
const canSelectWork = and([canSelect, 'hasAuthoredRound']);
const canLease = and([isClaimant, 'candidateExact', isInGovernance]);
const canLeaseAnew = and([canLease, not('attemptMatches')]);
/** A decision that the workflow accepts and that leads away from the governance that holds the lease. */
const selectsAway = and([
  canSelect,
  or([
    'selectsBacklog',
    and(['hasAuthoredRound', or(['selectsTodo', 'selectsPlan', 'selectsImplement', 'selectsQuality'])]),
  ]),
]);
const isImportable = and([
  'occurrenceNewer',
  or(['selectsBacklog', 'selectsTodo', 'selectsPlan', 'selectsImplement', 'selectsQuality', 'selectsGovernance']),
]);

export const goalMachine = goalSetup.createMachine({
  id: 'goal',
  version: '1',
  type: 'parallel',
  context: ({ input }) => initialGoalContext(input),
  on: {
    'receipt.recorded': { guard: 'hasBasis', actions: 'recordLate' },
    'step.failed': { guard: 'hasBasis', actions: 'recordLate' },
    'stop.settled': { guard: 'hasBasis', actions: 'recordLate' },
    'sideEffect.finished': { guard: 'effectOpen', actions: 'closeEffect' },
  },
  states: {
    workflow: {
      initial: 'active',
      states: {
        active: {
          initial: 'backlog',
          on: {
            'round.authored': { guard: canAuthor, target: '.todo', actions: ['appendRound', 'supersede'] },
            'decision.stepSelected': [
              { guard: 'selectsCurrentStep', actions: 'noop' },
              { guard: and([canSelect, 'selectsBacklog']), target: '.backlog', actions: 'supersede' },
              { guard: and([canSelectWork, 'selectsTodo']), target: '.todo', actions: 'supersede' },
              { guard: and([canSelectWork, 'selectsPlan']), target: '.executing.plan', actions: 'supersede' },
              { guard: and([canSelectWork, 'selectsImplement']), target: '.executing.implement', actions: 'supersede' },
              { guard: and([canSelectWork, 'selectsQuality']), target: '.executing.quality', actions: 'supersede' },
              {
                guard: and([canSelectWork, 'selectsGovernance']),
                target: '.executing.governance',
                actions: 'supersede',
              },
            ],
            'goal.nodeAssigned': { guard: 'revisionExpected', actions: 'assignNode' },
            'goal.cancelled': { target: 'cancelled', actions: 'supersede' },
            'execution.interrupted': { actions: 'recordLate' },
            'sync.workflowApplied': [
              { guard: and(['occurrenceNewer', 'selectsBacklog']), target: '.backlog', actions: 'applyRemote' },
              { guard: and(['occurrenceNewer', 'selectsTodo']), target: '.todo', actions: 'applyRemote' },
              { guard: and(['occurrenceNewer', 'selectsPlan']), target: '.executing.plan', actions: 'applyRemote' },
              {
                guard: and(['occurrenceNewer', 'selectsImplement']),
                target: '.executing.implement',
                actions: 'applyRemote',
              },
              {
                guard: and(['occurrenceNewer', 'selectsQuality']),
                target: '.executing.quality',
                actions: 'applyRemote',
              },
              {
                guard: and(['occurrenceNewer', 'selectsGovernance']),
                target: '.executing.governance',
                actions: 'applyRemote',
              },
            ],
            'sync.cancelApplied': { guard: 'occurrenceNewer', target: 'cancelled', actions: 'applyRemote' },
            'sync.nodeApplied': { actions: 'applyRemoteNode' },
          },
          states: {
            backlog: {
              entry: { type: 'enter', params: { status: 'backlog' } },
              description: 'Being written. Nobody works on it until it is queued.',
              on: {
                'round.authored': { guard: canAuthor, actions: 'appendRound' },
                'goal.queued': {
                  guard: and(['hasAuthoredRound', 'revisionExpected']),
                  target: 'todo',
                  actions: 'nextOccurrence',
                },
              },
            },
            todo: {
              entry: { type: 'enter', params: { status: 'todo' } },
              description: 'Queued. A worker of the assigned node may claim it and begin.',
              on: {
                'claim.recorded': { guard: isCurrent, actions: 'recordClaim' },
                'step.advanced': {
                  guard: and([isClaimant, 'isNextStep', 'hasAuthoredRound']),
                  target: 'executing.plan',
                  actions: 'nextOccurrence',
                },
              },
            },
            executing: {
              initial: 'plan',
              on: {
                'claim.recorded': { guard: isCurrent, actions: 'recordClaim' },
                'receipt.recorded': [
                  {
                    guard: and([canRecord, 'verdictFailed']),
                    target: 'failed',
                    actions: ['recordReceipt', 'recordFailure'],
                  },
                  { guard: canRecord, actions: 'recordReceipt' },
                  { guard: 'hasBasis', actions: 'recordLate' },
                ],
                'step.failed': [
                  { guard: isClaimant, target: 'failed', actions: 'recordFailure' },
                  { guard: 'hasBasis', actions: 'recordLate' },
                ],
                'stop.settled': [
                  { guard: isCurrent, target: 'failed', actions: 'recordFailure' },
                  { guard: 'hasBasis', actions: 'recordLate' },
                ],
                'preparation.reproduced': {
                  guard: and([isClaimant, 'hasAuthoredRound']),
                  target: '.plan',
                  actions: ['recordReproduction', 'nextOccurrence'],
                },
                'sideEffect.started': { guard: isClaimant, actions: 'openEffect' },
              },
              states: {
                plan: {
                  entry: { type: 'enter', params: { status: 'plan' } },
                  description:
                    'Begun: the verdict of a worker is awaited or on record. In this version it is that of the check.',
                  on: { 'step.advanced': { guard: canAdvance, target: 'implement', actions: 'nextOccurrence' } },
                },
                implement: {
                  entry: { type: 'enter', params: { status: 'implement' } },
                  description: 'The plan is being turned into a candidate.',
                  on: { 'step.advanced': { guard: canAdvance, target: 'quality', actions: 'nextOccurrence' } },
                },
                quality: {
                  entry: { type: 'enter', params: { status: 'quality' } },
                  description: 'The candidate is being checked.',
                  on: { 'step.advanced': { guard: canAdvance, target: 'governance', actions: 'nextOccurrence' } },
                },
                governance: {
                  entry: { type: 'enter', params: { status: 'governance' } },
                  description: 'The candidate is being integrated and published.',
                  on: {
                    'step.advanced': {
                      guard: and([canAdvance, 'integrationMatchesCandidate']),
                      target: '#goal.workflow.active.review',
                      actions: 'nextOccurrence',
                    },
                  },
                },
              },
            },
            review: {
              entry: { type: 'enter', params: { status: 'review' } },
              description: 'Integrated. A person accepts or declines it.',
              on: {
                'review.accepted': {
                  guard: canReview,
                  target: '#goal.workflow.done',
                  actions: 'nextOccurrence',
                },
                'review.declined': {
                  guard: canReview,
                  target: 'failed',
                  actions: ['nextOccurrence', 'recordFailure'],
                },
              },
            },
            failed: {
              entry: { type: 'enter', params: { status: 'failed' } },
              description: 'Automation has ended, and nothing goes on by itself.',
            },
          },
        },
        done: {
          entry: { type: 'enter', params: { status: 'done' } },
          tags: 'terminal',
          description: 'Accepted.',
        },
        cancelled: {
          entry: { type: 'enter', params: { status: 'cancelled' } },
          tags: 'terminal',
          description: 'Given up. What has begun still reports its outcome; nothing is rolled back.',
        },
      },
    },
    integration: {
      initial: 'idle',
      states: {
        idle: {
          description: 'No attempt at integrating the candidate is in hand.',
          on: { 'integration.leased': { guard: canLease, target: 'leased', actions: 'leaseIntegration' } },
        },
        leased: {
          description: 'The target is reserved for one attempt; git has not been touched.',
          on: {
            'integration.begun': {
              guard: and([isClaimant, 'attemptMatches', 'leaseCurrent', isInGovernance]),
              target: 'begun',
              actions: 'beginIntegration',
            },
            'integration.released': { guard: 'attemptMatches', target: 'idle', actions: 'dropLease' },
            'integration.leased': {
              guard: canLeaseAnew,
              target: 'leased',
              actions: ['dropLease', 'leaseIntegration'],
            },
            'goal.cancelled': { target: 'idle', actions: 'dropLease' },
            'goal.nodeAssigned': {
              guard: and(['revisionExpected', 'assignsOtherNode']),
              target: 'idle',
              actions: 'dropLease',
            },
            'sync.conflictRaised': { target: 'idle', actions: 'dropLease' },
            'sync.workflowApplied': { guard: isImportable, target: 'idle', actions: 'dropLease' },
            'sync.cancelApplied': { guard: 'occurrenceNewer', target: 'idle', actions: 'dropLease' },
            'sync.nodeApplied': { guard: 'assignsOtherNode', target: 'idle', actions: 'dropLease' },
            'decision.stepSelected': { guard: selectsAway, target: 'idle', actions: 'dropLease' },
            'round.authored': { guard: canAuthor, target: 'idle', actions: 'dropLease' },
          },
        },
        begun: {
          description: 'A merge may exist. Looking at git decides, also after a crash and after cancel.',
          on: {
            'integration.localRecorded': { guard: 'attemptMatches', target: 'localOnly', actions: 'recordLocal' },
            'integration.notApplied': { guard: 'attemptMatches', target: 'idle', actions: 'dropLease' },
          },
        },
        localOnly: {
          description: 'Merged here and not pushed: incomplete until the remote has it.',
          on: {
            'publication.started': {
              guard: and([isClaimant, 'attemptMatches', 'attemptServesCandidate', isInGovernance]),
              target: 'publishing',
              actions: 'startPublication',
            },
            'integration.leased': { guard: canLeaseAnew, target: 'leased', actions: 'leaseIntegration' },
          },
        },
        publishing: {
          description: 'A push may have happened. Looking at the remote decides.',
          on: {
            'publication.finished': { guard: 'attemptMatches', target: 'complete', actions: 'completeIntegration' },
            'publication.failed': { guard: 'attemptMatches', target: 'localOnly', actions: 'failPublication' },
          },
        },
        complete: {
          description: 'The remote has the merge of this attempt.',
          on: { 'integration.leased': { guard: canLeaseAnew, target: 'leased', actions: 'leaseIntegration' } },
        },
      },
    },
    convergence: {
      initial: 'converged',
      states: {
        converged: {
          description: 'The nodes agree, as far as they have heard of each other.',
          on: { 'sync.conflictRaised': { target: 'conflicted', actions: 'raiseConflict' } },
        },
        conflicted: {
          description: 'Two decisions contradict each other. Automation waits on every node for a person to choose.',
          on: {
            'sync.conflictResolved': {
              guard: 'revisionExpected',
              target: 'converged',
              actions: ['supersede', 'resolveConflict'],
            },
          },
        },
      },
    },
  },
});

export type GoalSnapshot = SnapshotFrom<typeof goalMachine>;

/** Over, with nothing left that still has to report what it did. */
const isSettled = (snapshot: GoalSnapshot): boolean =>
  snapshot.hasTag('terminal') &&
  snapshot.context.openEffects.length === 0 &&
  !snapshot.matches({ integration: 'begun' }) &&
  !snapshot.matches({ integration: 'publishing' });

export const goalDefinition: ActorDefinition<GoalSnapshot> = {
  kind: 'goal',
  plane: 'semantic',
  machine: goalMachine,
  version: 1,
  structuralHash: structuralHash(goalMachine),
  isSettled,
  /** A Goal holds neither capacity nor a worktree; its runs and generations are released for themselves. */
  isReleased: isSettled,
  inputOf: (event) => event as unknown as Payload<'goal.created'>,
  links: ({ context: { repoId } }) => linksOf({ repoId }),
  upcasters: {},
};
