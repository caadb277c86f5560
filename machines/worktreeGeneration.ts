/**
 * The life of one physical worktree and who may act on it. Admission, the scope relays and the operator drive it: it
 * tracks every run and scope that could write there, so that a seal means that nobody can. Whoever is not in control
 * only takes notes.
 */
import { and, not, or, type SnapshotFrom, stateIn } from 'xstate';
import { type ActorDefinition, linksOf } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { fromNamed } from './notedRuns.ts';
import { structuralHash } from './structuralHash.ts';
import {
  type GenerationStanding,
  handoffBlockers,
  initialGenerationContext,
  migrationBlockers,
  type SealBlocker,
  sealBlockers,
  writerBlockers,
} from './worktreeGenerationBlockers.ts';
import { generationSetup } from './worktreeGenerationParts.ts';

const isObserved = stateIn({ authority: 'observe' });
const isManaged = stateIn({ authority: 'managed' });
const isQuiescing = stateIn({ authority: 'quiescing' });
const isOpen = stateIn({ lifecycle: 'open' });
const isClosing = stateIn({ lifecycle: 'closing' });

export const worktreeGenerationMachine = generationSetup.createMachine({
  id: 'worktreeGeneration',
  version: '5',
  type: 'parallel',
  context: ({ input }) => initialGenerationContext(input),
  states: {
    lifecycle: {
      initial: 'open',
      on: {
        'run.noted': { guard: isObserved, actions: 'note' },
        'run.settled': [
          { guard: 'admitted', actions: 'settleRun' },
          { guard: 'isNoted', actions: 'settleNoted' },
        ],
        'scope.opened': { guard: and(['scopeNew', or([isOpen, isClosing])]), actions: 'openScope' },
        'scope.settled': { guard: 'scopeKnown', actions: 'settleScope' },
        'coverage.gapRecorded': { actions: 'gap' },
        'coverage.gapClosed': { guard: 'gapProof', actions: 'closeGap' },
        'prediction.recorded': { guard: isObserved, actions: 'predict' },
        'path.observed': { actions: 'notePath' },
        'contract.verified': { actions: 'recordContract' },
      },
      states: {
        open: {
          description: 'Runs may be admitted, as long as this program is in control.',
          on: {
            'run.admitted': { guard: and(['notAdmitted', isManaged]), actions: 'admit' },
            'admission.closed': { guard: or([isManaged, isQuiescing]), target: 'closing' },
            'quarantine.recorded': {
              guard: or([isManaged, isQuiescing]),
              target: 'quarantined',
              actions: 'quarantine',
            },
          },
        },
        closing: {
          description: 'Nobody new comes in. What was admitted may still nest scopes until it is settled.',
          on: {
            'seal.requested': {
              guard: and([isManaged, 'allSettled', 'noUntracked', 'notedResolved', 'contractVerified']),
              target: 'sealed',
              actions: 'seal',
            },
            'quarantine.recorded': {
              guard: or([isManaged, isQuiescing]),
              target: 'quarantined',
              actions: 'quarantine',
            },
          },
        },
        sealed: {
          description:
            'No writer is left, by proof, for as long as control stays: whoever has it next may let somebody in. The executor that archives or removes the worktree reports back.',
          on: {
            'retirement.receiptVerified': {
              guard: and([isManaged, 'receiptVerified', 'receiptForThisSeal']),
              target: 'retired',
              actions: 'retire',
            },
            'authority.handedOff': { guard: isQuiescing, target: 'closing' },
          },
        },
        quarantined: {
          description:
            'Put aside for good: somebody of it is only assumed to be gone, so it is never sealed and never removed.',
        },
        retired: { tags: 'terminal', description: 'The worktree is given back; its executor brought the receipt.' },
      },
    },
    authority: {
      initial: 'observe',
      states: {
        observe: {
          description: 'Somebody else is in control, or nobody asked for it yet: notes and predictions only.',
          on: {
            'authority.granted': { guard: 'newGeneration', target: 'managed', actions: 'nextAuthority' },
            'authority.migrated': {
              guard: and(['migrationContract', 'noUntracked', 'notedResolved']),
              target: 'managed',
              actions: 'nextAuthority',
            },
          },
        },
        managed: {
          description:
            'This program is in control: it admits runs while the worktree is open, seals it and retires it.',
          on: { 'authority.handoffRequested': { target: 'quiescing', actions: 'requestHandoff' } },
        },
        quiescing: {
          description: 'Control is on its way out and leaves once every admitted run is settled.',
          on: {
            'authority.handedOff': {
              guard: and(['allSettled', not(isOpen)]),
              target: 'observe',
              actions: 'nextAuthority',
            },
            'authority.handoffAbandoned': { target: 'managed', actions: 'nextAuthority' },
          },
        },
      },
    },
  },
});

export type GenerationSnapshot = SnapshotFrom<typeof worktreeGenerationMachine>;

/** What stands between a generation and its seal; empty exactly when `seal.requested` would be accepted now (WT-04). */
export const sealBlockersOf = (snapshot: GenerationSnapshot): readonly SealBlocker[] =>
  sealBlockers(snapshot.context, snapshot.value satisfies GenerationStanding);

/** What a handoff still waits for; empty once it can be completed (PROMO-05). */
export function handoffBlockersOf({ context, value }: GenerationSnapshot): readonly SealBlocker[] {
  const { lifecycle } = value satisfies GenerationStanding;
  return handoffBlockers(context, lifecycle);
}

/** What keeps control from being taken over (INT-09). */
export const migrationBlockersOf = ({ context }: GenerationSnapshot): readonly SealBlocker[] =>
  migrationBlockers(context);

/** Who may write there: also of a generation that is sealed or left to others, and has heard of somebody since. */
export const writerBlockersOf = ({ context }: GenerationSnapshot): readonly SealBlocker[] => writerBlockers(context);

const isRetired = (snapshot: GenerationSnapshot): boolean => snapshot.matches({ lifecycle: 'retired' });

export const worktreeGenerationDefinition: ActorDefinition<GenerationSnapshot> = {
  kind: 'worktreeGeneration',
  plane: 'local',
  machine: worktreeGenerationMachine,
  version: 5,
  structuralHash: structuralHash(worktreeGenerationMachine),
  isSettled: isRetired,
  /** A sealed worktree still exists and its executor still reports to it, so only the receipt releases it (I-27). */
  isReleased: isRetired,
  inputOf: (event) => event as unknown as Payload<'generation.registered'>,
  links: ({ context: { repoId, goalId, fsIdentity } }) => linksOf({ repoId, goalId, place: placeKey(fsIdentity) }),
  upcasters: {
    1: (row) => ({ ...row, context: { ...row.context, quarantine: null } }),
    2: (row) => ({ ...row, context: { ...row.context, ...withoutRouting(row.context.fsIdentity) } }),
    3: (row) => ({ ...row, value: withoutForeignSeal(row.value) }),
    4: (row) => ({ ...row, context: { ...row.context, ...fromNamed(row.context.noted as never) } }),
  },
};

/** A directory is found by device and inode; whether it is the same one its birth time and git directory say. */
export const placeKey = ({ dev, ino }: { readonly dev: string; readonly ino: string }): string => `${dev}:${ino}`;

/** Version 3 kept the seal of a generation that was handed off, and nobody could vouch for it. */
const withoutForeignSeal = (value: unknown) => {
  const { lifecycle, authority } = value as GenerationStanding;
  return lifecycle === 'sealed' && authority === 'observe' ? { lifecycle: 'closing', authority } : value;
};

/** What version 2 did not keep: when the directory was born, to whom a handoff goes, and what control rests on. */
const withoutRouting = (fsIdentity: unknown) => ({
  fsIdentity: { ...(fsIdentity as object), born: null },
  handoff: null,
  evidence: [],
});
