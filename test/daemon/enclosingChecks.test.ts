import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type EnclosingEvidence, enclosingChecks, refusalOf } from '../../actors/daemon/enclosing/checks.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';

const bootId = '3f1c8a1e-0b64-4c56-9f0e-6d1f2c3b4a5d';

const identity = (pid: number, token: string): ProcessIdentity => ({
  evidenceVersion: 1,
  installationId: 'I0000000001' as ProcessIdentity['installationId'],
  platform: 'linux',
  bootId,
  pid,
  processToken: token,
  uid: 0,
  namespace: 'pid:1,time:1',
  adapterEvidence: String(pid * 10),
});

const named = ({ pid, processToken, adapterEvidence }: ProcessIdentity) => ({
  pid,
  start: processToken,
  pidfs: adapterEvidence,
});

const outer = { guardian: identity(10, '100'), workload: identity(11, '101') };
const inner = { guardian: identity(20, '200'), workload: identity(21, '201') };
const stranger = identity(30, '300');

const binding = (scope: string, { guardian, workload }: typeof outer) => ({
  scope,
  nonce: '0'.repeat(32),
  installation: 'I0000000001',
  boot: bootId,
  pidns: '1',
  timens: '1',
  uid: 0,
  guardian: named(guardian),
  workload: named(workload),
});

const exitReceipt = (changes: Record<string, unknown> = {}) => ({
  v: 1,
  kind: 'exit',
  claim: 'no-descendants',
  ...binding('Souter', outer),
  enclosing: null,
  how: 'exited',
  code: 0,
  signal: null,
  errno: null,
  waitStatus: 0,
  proof: 'ECHILD',
  reaped: 3,
  adopted: 2,
  terminated: true,
  lostNested: 1,
  atNs: '5000',
  ...changes,
});

function kept(receipt: Record<string, unknown>) {
  const text = JSON.stringify(receipt);
  const bytes = Buffer.from(`${text.padEnd(4_095)}\n`);
  return { text, bytesDigest: createHash('sha256').update(bytes).digest('hex') };
}

const start = (changes: Record<string, unknown> = {}) => ({
  v: 1,
  kind: 'start',
  ...binding('Sinner', inner),
  enclosing: { scope: 'Souter', guardian: named(outer.guardian) },
  atNs: '1000',
  ...changes,
});

const contextOf = (scopeId: string, processes: typeof outer, changes: Record<string, unknown> = {}) => ({
  scopeId,
  parentScopeId: null,
  bootId,
  ...processes,
  witnesses: {
    [processes.guardian.pid]: processes.guardian.processToken,
    [processes.workload.pid]: processes.workload.processToken,
  },
  witnessConflicts: [],
  proof: null,
  ...changes,
});

const child = (changes: Record<string, unknown> = {}) =>
  contextOf('Sinner', inner, { parentScopeId: 'Souter', ...changes }) as unknown as EnclosingEvidence['child'];

const parent = (changes: Record<string, unknown> = {}, coverage = 'exitedProved') =>
  ({
    matches: (value: { readonly coverage: string }) => value.coverage === coverage,
    context: contextOf('Souter', outer, { proof: { kind: 'own_receipt', eventId: 'e' }, ...changes }),
  }) as unknown as EnclosingEvidence['parent'];

const launcher = (process: ProcessIdentity | null) => ({ process }) as EnclosingEvidence['launchers'][number];

const whole: EnclosingEvidence = {
  child: child(),
  parent: parent(),
  receipt: kept(exitReceipt()),
  start: start() as EnclosingEvidence['start'],
  launchers: [launcher(outer.workload)],
  sessions: 0,
  beganInOrder: true,
  survivors: 0,
};

/** One thing wrong with each. */
const faults: readonly (readonly [fault: string, reason: string, Partial<EnclosingEvidence>])[] = [
  ['the one around it is not proved', 'enclosing_unproved', { parent: parent({}, 'live') }],
  [
    'the one around it was inferred itself (REPL-05)',
    'enclosing_inferred',
    { parent: parent({ proof: { kind: 'enclosing_receipt', eventId: 'e' } }) },
  ],
  ['no receipt of it is kept', 'receipt_not_original', { receipt: undefined }],
  ['the kept receipt was changed', 'receipt_not_original', { receipt: { ...kept(exitReceipt()), text: '{}' } }],
  [
    'the receipt is of another guardian',
    'receipt_not_original',
    { receipt: kept(exitReceipt({ guardian: named(stranger) })) },
  ],
  ['the receipt is of another scope', 'receipt_not_original', { receipt: kept(exitReceipt({ scope: 'Sother' })) }],
  ['the receipt lost no nested guardian', 'nobody_was_lost', { receipt: kept(exitReceipt({ lostNested: 0 })) }],
  ['one of them has a terminal', 'terminal', { sessions: 1 }],
  ['its guardian is not on record', 'not_enrolled_there', { child: child({ guardian: null }) }],
  ['the root around it is not on record', 'receipt_not_original', { parent: parent({ workload: null }) }],
  ['its start receipt is gone', 'not_enrolled_there', { start: undefined }],
  [
    'it enrolled elsewhere',
    'not_enrolled_there',
    { start: start({ enclosing: { scope: 'Sother', guardian: named(outer.guardian) } }) as EnclosingEvidence['start'] },
  ],
  [
    'it enrolled with another guardian',
    'not_enrolled_there',
    { start: start({ enclosing: { scope: 'Souter', guardian: named(stranger) } }) as EnclosingEvidence['start'] },
  ],
  [
    'it enrolled with nobody',
    'not_enrolled_there',
    { start: start({ enclosing: null }) as EnclosingEvidence['start'] },
  ],
  [
    'two registrations claim its launcher (REPL-04)',
    'launcher_ambiguous',
    { launchers: [launcher(outer.workload), launcher(outer.workload)] },
  ],
  ['nobody is registered as its launcher', 'launcher_ambiguous', { launchers: [] }],
  ['its launcher is not the root around it', 'launcher_differs', { launchers: [launcher(stranger)] }],
  ['its launcher never registered', 'launcher_differs', { launchers: [launcher(null)] }],
  ['it is of another boot', 'other_boot', { child: child({ bootId: 'another' }) }],
  ['they did not begin in this order', 'out_of_order', { beganInOrder: false }],
  ['one of its pids was seen under two identities', 'witness_conflict', { child: child({ witnessConflicts: ['21'] }) }],
  [
    'somebody was seen in it who was not seen around it',
    'witness_outside',
    { child: child({ witnesses: { ...child().witnesses, 30: '300' } }) },
  ],
  ['one of its processes is there', 'survivor', { survivors: 1 }],
];

describe('REPL-02 the receipt of an enclosing scope', () => {
  it('proves the end of a nested one whose guardian was lost', () => {
    expect(refusalOf(whole)).toBeUndefined();
    const witnesses = { ...child().witnesses, 30: '300' };
    const seenAround = parent({ witnesses: { ...parent().context.witnesses, 30: '300' } });
    expect(refusalOf({ ...whole, child: child({ witnesses }), parent: seenAround })).toBeUndefined();
  });

  it.each(faults)('proves nothing where %s', (_, reason, fault) => {
    expect(refusalOf({ ...whole, ...fault })).toBe(reason);
  });

  it.each(enclosingChecks.map(({ reason }) => reason))(
    'would be believed in one of these cases without the check %s',
    (left) => {
      const others = enclosingChecks.filter(({ reason }) => reason !== left);
      const believed = faults.filter(([, , fault]) => others.every(({ holds }) => holds({ ...whole, ...fault })));
      expect(believed.map(([, reason]) => reason)).toContain(left);
    },
  );
});
