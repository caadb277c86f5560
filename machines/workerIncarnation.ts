/**
 * The life of one scheduling worker, from the decision to launch it until its scope is proved to be gone. The launch
 * coordinator, its own registration and ticks, clocks and its scope report to it. It holds no right over any Goal
 * (WRK-05): what it launches is owned through the scopes below its own.
 */
import { and, not, type SnapshotFrom, stateIn } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { structuralHash } from './structuralHash.ts';
import { initialWorkerContext } from './workerIncarnationContext.ts';
import { workerSetup } from './workerIncarnationParts.ts';

const isExited = stateIn('exited');
const isExactTick = and(['tickExact', 'tickTargetCurrent']);

export const workerIncarnationMachine = workerSetup.createMachine({
  id: 'workerIncarnation',
  version: '1',
  initial: 'launching',
  context: ({ input }) => initialWorkerContext(input),
  on: {
    'worker.stopRequested': { target: '.stopping', actions: 'recordReason' },
    'scope.exitProved': { guard: and(['scopeMatches', not(isExited)]), target: '.exited' },
    'scope.unverified': {
      guard: and(['scopeMatches', not(isExited)]),
      target: '.ownershipUnverified',
      actions: 'recordReason',
    },
  },
  states: {
    launching: {
      description: 'Its scope is being launched; it has not told who it is.',
      on: {
        'worker.registered': { guard: 'tokenMatches', target: 'starting', actions: 'register' },
        'worker.launchFailed': { target: 'stopping', actions: 'recordReason' },
      },
    },
    starting: {
      description: 'It is the one that was launched, and has not ticked for its target yet.',
      on: {
        'scheduler.tick': { guard: isExactTick, target: 'healthy', actions: 'recordTick' },
        'deadline.reached': { guard: 'startupStillDue', target: 'suspect' },
        'target.changed': { guard: 'isOtherTarget', actions: 'retarget' },
      },
    },
    healthy: {
      description: 'Its last tick was exact, for the current target, and is not old.',
      on: {
        'scheduler.tick': { guard: isExactTick, actions: 'recordTick' },
        'deadline.reached': { guard: 'silenceStillDue', target: 'suspect' },
        'target.changed': { guard: 'isOtherTarget', target: 'starting', actions: 'retarget' },
      },
    },
    suspect: {
      description: 'It has been silent for too long. That proves nothing: a tick leads back, a recovery ends it.',
      on: {
        'scheduler.tick': { guard: isExactTick, target: 'healthy', actions: 'recordTick' },
        'target.changed': { guard: 'isOtherTarget', actions: 'retarget' },
      },
    },
    stopping: {
      description: 'Its end was asked for, or its launch failed. Only what its scope says leads out.',
      on: { 'worker.stopRequested': { actions: 'noop' } },
    },
    exited: {
      tags: 'terminal',
      description: 'Nobody of its scope remains, by proof; or its image never ran.',
      on: { 'worker.stopRequested': { actions: 'noop' } },
    },
    ownershipUnverified: {
      tags: 'pendingOwnership',
      description: 'Its scope cannot be accounted for. Nothing replaces it before a proof.',
      on: { 'worker.stopRequested': { actions: 'noop' } },
    },
  },
});

export type WorkerSnapshot = SnapshotFrom<typeof workerIncarnationMachine>;

export const isWorkerExited = (snapshot: WorkerSnapshot): boolean => snapshot.matches('exited');

export const workerIncarnationDefinition: ActorDefinition<WorkerSnapshot> = {
  kind: 'workerIncarnation',
  plane: 'local',
  machine: workerIncarnationMachine,
  version: 1,
  structuralHash: structuralHash(workerIncarnationMachine),
  isSettled: isWorkerExited,
  isReleased: isWorkerExited,
  inputOf: (event) => event as unknown as Payload<'worker.requested'>,
  links: ({ context: { runtimeId, scopeId } }) => linksOf({ runtimeId, scopeId }),
  upcasters: {},
};
