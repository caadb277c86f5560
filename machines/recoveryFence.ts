/**
 * The order in which a worker is replaced: one at a time, and never beside an earlier one that may be alive. Whoever
 * drives a recovery looks at this state and does the next thing; after a crash the next daemon goes on from here
 * (REC-02, REC-09). Waiting proves nothing and permits nothing.
 */
import { and, not, type SnapshotFrom } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { fenceSetup, initialFenceContext } from './recoveryFenceParts.ts';
import { structuralHash } from './structuralHash.ts';

export const recoveryFenceMachine = fenceSetup.createMachine({
  id: 'recoveryFence',
  version: '3',
  initial: 'idle',
  context: ({ input }) => initialFenceContext(input),
  states: {
    idle: {
      description: 'The worker that was launched last has ticked, or none was wanted yet.',
      on: {
        'recovery.started': [
          { guard: 'isOldGone', target: 'rescanning', actions: 'begin' },
          { guard: 'hasOneOld', target: 'stoppingOld', actions: 'begin' },
          { guard: 'hasNoOld', target: 'rescanning', actions: 'begin' },
          { target: 'refused', actions: 'begin' },
        ],
        // Said once: whoever begins a recovery may not have heard of it yet, and would wait for it for ever.
        'worker.scopeSettled': [
          { guard: 'isReplacementScope', actions: 'noteReplacementSettled' },
          { actions: 'noop' },
        ],
      },
    },
    stoppingOld: {
      description: 'The old incarnation is being ended; its scope says when nobody of it remains.',
      on: {
        'worker.scopeSettled': { guard: 'isOldScope', target: 'rescanning', actions: 'noteOldSettled' },
        'recovery.failed': { target: 'refused', actions: 'retain' },
      },
    },
    rescanning: {
      description:
        'Everything that any earlier incarnation launched is looked at, also what it launched while it was ended.',
      on: {
        'ownership.rescanned': [
          { guard: 'everyScopeProved', target: 'launchPermitted' },
          { target: 'refused', actions: 'retain' },
        ],
        'recovery.failed': { target: 'refused', actions: 'retain' },
      },
    },
    refused: {
      description:
        'Something of an earlier incarnation is live or unverified. Nothing is launched; a retry looks again.',
      on: {
        'worker.scopeSettled': { guard: 'isOldScope', actions: 'noteOldSettled' },
        // Somebody answers for the old one, whose end nothing will prove: there is none any more that could be ended.
        'recovery.started': { guard: 'hasNoOld', target: 'rescanning', actions: 'begin' },
        'recovery.retry': [
          { guard: 'isOldSettled', target: 'rescanning', actions: 'countAttempt' },
          { target: 'stoppingOld', actions: 'countAttempt' },
        ],
      },
    },
    launchPermitted: {
      description: 'Everybody is proved to be gone. What is known is asked for once more in the commit that launches.',
      on: {
        'ownership.rescanned': { guard: not('everyScopeProved'), target: 'refused', actions: 'retain' },
        'replacement.launched': {
          guard: and(['notOld', 'admissionEnabled', 'everyScopeProved']),
          target: 'awaitingTick',
          actions: 'setReplacement',
        },
        'recovery.failed': { target: 'refused', actions: 'retain' },
      },
    },
    awaitingTick: {
      description: 'The replacement is launched. Only a tick of its own makes it the worker (REPL-07).',
      on: {
        'scheduler.tick': { guard: 'tickFromReplacement', target: 'idle', actions: 'finish' },
        'worker.scopeSettled': { guard: 'isReplacementScope', actions: 'noteReplacementSettled' },
        'recovery.failed': { target: 'refused', actions: ['retain', 'promote'] },
      },
    },
  },
});

export type FenceSnapshot = SnapshotFrom<typeof recoveryFenceMachine>;

/** A fence lasts as long as its runtime: it is never settled, and holds nothing that could be released. */
export const recoveryFenceDefinition: ActorDefinition<FenceSnapshot> = {
  kind: 'recoveryFence',
  plane: 'local',
  machine: recoveryFenceMachine,
  version: 3,
  structuralHash: structuralHash(recoveryFenceMachine),
  isSettled: () => false,
  isReleased: () => false,
  inputOf: (event) => event as unknown as Payload<'fence.established'>,
  links: ({ context: { runtimeId } }) => linksOf({ runtimeId }),
  // Rows of all versions have the same shape: since 2 the end of the worker is noted in idle, since 3 refused has a way out.
  upcasters: { 1: (row) => row, 2: (row) => row },
};
