/** What can be said of a launch, true and bent. Every payload satisfies the schema of its event. */
import type { Payload } from '../../machines/events/catalogue.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';

export const boot = 'boot-a';
export const laterBoot = 'boot-b';
export const digestOf = (letter: string): string => letter.repeat(64);
export const commitOf = (letter: string): string => letter.repeat(40);
export const sampledAt = { monoMs: 1_000, bootId: boot };

export const processOf = (pid: number, rest: Partial<ProcessIdentity> = {}): ProcessIdentity => ({
  evidenceVersion: 1,
  installationId: 'I1' as ProcessIdentity['installationId'],
  platform: 'linux',
  bootId: boot,
  pid,
  processToken: `${pid}0`,
  uid: 1000,
  namespace: 'pid:1,time:1',
  adapterEvidence: `${pid}7`,
  ...rest,
});

export const stranger = processOf(999);

/** One launch: its scope, its processes, and the numbers of its receipt files. */
export interface Launch {
  readonly scopeId: string;
  readonly guardian: ProcessIdentity;
  readonly workload: ProcessIdentity;
  readonly slots: Payload<'launch.prepared'>['slots'];
}

export function launchOf(scopeId: string, number: number): Launch {
  const slot = (kind: number) => ({ dev: '8', ino: String(number * 10 + kind), nonceHash: digestOf(String(kind)) });
  return {
    scopeId,
    guardian: processOf(number * 100),
    workload: processOf(number * 100 + 1),
    slots: { start: slot(1), status: slot(2), exit: slot(3) },
  };
}

const named = ({ pid, processToken, adapterEvidence }: ProcessIdentity) => ({
  pid,
  start: processToken,
  pidfs: adapterEvidence,
});

export const exited = { how: 'exited', code: 0, signal: null, errno: null, waitStatus: 0 } as const;
/** The gated child was killed and reaped unrun. */
export const notReleased = { how: 'notReleased', code: null, signal: null, errno: null, waitStatus: 9 } as const;

const bindingOf = ({ guardian, workload }: Launch) => ({
  guardian: named(guardian),
  workload: named(workload),
  bootId: boot,
  receiptText: '{}',
  authentic: true,
});

export function statusReceipt(launch: Launch, rest: object = {}) {
  const { dev, ino } = launch.slots.status;
  return { scopeId: launch.scopeId, dev, ino, ...bindingOf(launch), bytesDigest: digestOf('4'), ...exited, ...rest };
}

const counts = { complete: true, reaped: 3, adopted: 2, terminated: false, lostNested: 0 };

export function exitReceipt(launch: Launch, rest: object = {}) {
  const { dev, ino } = launch.slots.exit;
  return { dev, ino, ...bindingOf(launch), bytesDigest: digestOf('5'), ...counts, ...exited, ...rest };
}

/** One forgery for each thing that a receipt is bound to (GRD-05). */
export const forgeries = {
  'not authentic': { authentic: false },
  'of another file': { ino: '99' },
  'of another boot': { bootId: laterBoot },
  'of another guardian': { guardian: named(stranger) },
  'of another workload': { workload: named(stranger) },
} as const;

export const enclosingChecks = {
  enclosingComplete: true,
  enclosingOriginal: true,
  launcherRelation: true,
  isolatedLaunch: true,
  witnessesContained: true,
  inferred: false,
};

export const enclosedBy = (enclosingScopeId: string, rest: object = {}) => ({
  enclosingScopeId,
  receiptDigest: digestOf('d'),
  checks: enclosingChecks,
  survivors: 0,
  ...rest,
});

export const scopeRequested = (scopeId: string, rest: object = {}) => ({
  scopeId,
  runId: null,
  generationId: null,
  parentScopeId: null,
  kind: 'guardian',
  goalId: null,
  occurrence: null,
  nodeId: 'N1',
  recipeDigest: digestOf('e'),
  onRootExit: 'terminate',
  graceMs: 1_000,
  budgetMs: 5_000,
  purpose: null,
  ...rest,
});

export const runReserved = (runId: string, rest: object = {}) => ({
  runId,
  generationId: null,
  goalRef: null,
  mode: 'managed',
  rootScopeId: null,
  label: null,
  retryOf: null,
  origin: 'native',
  gaps: [],
  ...rest,
});

export const identityBound = (identity: ProcessIdentity, rest: object = {}) => ({
  identity,
  identityDigest: digestOf('a'),
  verified: true,
  source: 'entrypoint',
  scopeId: null,
  ...rest,
});

export const processObserved = (
  identity: ProcessIdentity,
  result: 'alive' | 'ended' | 'unknown',
  rest: object = {},
) => ({
  result,
  reason: result,
  stable: true,
  identity,
  basisVersion: 1,
  sampledAt,
  contextDigest: '',
  ...rest,
});
