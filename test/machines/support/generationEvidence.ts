/** One imagined worktree and what can be said about it; every value satisfies the schemas. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { digestOf } from './evidence.ts';

/** Guardian builds: one that passed the battery in these stories, and one that is verified for somebody else's scopes. */
export const ourGuardian = digestOf('a');
export const otherGuardian = digestOf('b');

export const generationInput = (
  rest: Partial<Payload<'generation.registered'>> = {},
): Payload<'generation.registered'> =>
  ({
    generationId: 'W1',
    path: '/worktrees/one',
    fsIdentity: { dev: '8', ino: '77', gitdir: '/repository/.git/worktrees/one' },
    origin: 'native',
    controller: 'custody',
    repoId: 'P1',
    goalId: 'G1',
    branch: 'work',
    baseCommit: null,
    ...rest,
  }) as Payload<'generation.registered'>;

export const contractOf = (guardianDigest: string): Payload<'contract.verified'> => ({
  contract: 'scope-exit-proof/1',
  kernel: '6.1.0',
  guardianDigest,
  batteryVersion: 1,
  reportRef: 'report',
});

export const receiptOfExecutor = (sealEpoch: number, rest: object = {}) => ({
  executor: 'archiver',
  generationId: 'W1',
  sealEpoch,
  receiptDigest: digestOf('c'),
  verified: true,
  ...rest,
});

export const gapNamed = (gapId: string) => ({
  gapId,
  producer: 'adapter',
  kind: 'missed_run',
  window: { from: 1, to: 2 },
  count: 1,
});

export const asked = { requestId: 'q', actor: 'operator' } as const;

export const quarantined = {
  ...asked,
  scopeId: 'S1',
  from: '/worktrees/one',
  to: '/quarantine/one',
  gitMetadata: 'repaired',
  atWallMs: 1,
} as const;
