/** Identities, slots and receipts of one imagined launch, and ways to bend them. Every value satisfies the schemas. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';

export const boot = 'boot-a';
export const laterBoot = 'boot-b';
export const digestOf = (letter: string): string => letter.repeat(64);

export function processOf(pid: number, token: string, rest: Partial<ProcessIdentity> = {}): ProcessIdentity {
  return {
    evidenceVersion: 1,
    installationId: 'I1' as ProcessIdentity['installationId'],
    platform: 'linux',
    bootId: boot,
    pid,
    processToken: token,
    uid: 1000,
    namespace: 'pid:4026531836,time:4026531834',
    adapterEvidence: `${pid}77`,
    ...rest,
  };
}

export const guardian = processOf(100, '5000');
export const workload = processOf(101, '5001');
export const stranger = processOf(999, '1');

export const slots: Payload<'launch.prepared'>['slots'] = {
  start: { dev: '8', ino: '11', nonceHash: digestOf('1') },
  status: { dev: '8', ino: '12', nonceHash: digestOf('2') },
  exit: { dev: '8', ino: '13', nonceHash: digestOf('3') },
};

export const named = ({ pid, processToken, adapterEvidence }: ProcessIdentity) => ({
  pid,
  start: processToken,
  pidfs: adapterEvidence === '' ? null : adapterEvidence,
});

const exited = { how: 'exited', code: 0, signal: null, errno: null, waitStatus: 0 } as const;
/** The gated child was killed and reaped unrun. */
export const notReleased = { how: 'notReleased', code: null, signal: null, errno: null, waitStatus: 9 } as const;

const bound = {
  guardian: named(guardian),
  workload: named(workload),
  bootId: boot,
  receiptText: '{}',
  authentic: true,
};

type Status = Payload<'workload.statusReceipt'>;
type Exit = Payload<'guardian.exitReceipt'>;

export function statusReceipt(scopeId: string, rest: Partial<Status> = {}): Status {
  const { dev, ino } = slots.status;
  return {
    scopeId: scopeId as Status['scopeId'],
    dev,
    ino,
    ...bound,
    bytesDigest: digestOf('4'),
    ...exited,
    ...rest,
  };
}

export function exitReceipt(rest: Partial<Exit> = {}): Exit {
  const { dev, ino } = slots.exit;
  const counts = { complete: true, reaped: 3, adopted: 2, terminated: false, lostNested: 0 };
  return { dev, ino, ...bound, bytesDigest: digestOf('5'), ...counts, ...exited, ...rest };
}

/** One forgery per thing that a receipt is bound to (GRD-05); each differs from the genuine one in that alone. */
export const forgeries: Readonly<Record<string, Partial<Status & Exit>>> = {
  'not authentic': { authentic: false },
  'another device': { dev: '9' },
  'another inode': { ino: '99' },
  'another boot': { bootId: laterBoot },
  'another guardian': { guardian: named(stranger) },
  'another guardian start': { guardian: { ...named(guardian), start: '5009' } },
  'another guardian pidfs inode': { guardian: { ...named(guardian), pidfs: '10078' } },
  'another workload': { workload: named(stranger) },
  'another workload start': { workload: { ...named(workload), start: '5009' } },
  'another workload pidfs inode': { workload: { ...named(workload), pidfs: null } },
};

export const sampledAt = { monoMs: 1_000, bootId: boot };
