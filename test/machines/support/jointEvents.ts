/**
 * What can be said to a scope and its run at any moment. Truthful senders speak only when it is so (`when`); everything
 * else may arrive at any time, as often as it likes and in any order: forgeries, stale samples, claims, clocks.
 */
import type { Payload } from '../../../machines/events/catalogue.ts';
import {
  boot,
  exitReceipt,
  laterBoot,
  notReleased,
  processOf,
  sampledAt,
  statusReceipt,
  stranger,
  workload,
} from './evidence.ts';
import type { Told } from './play.ts';
import * as told from './play.ts';
import { enclosingChecks } from './scopeSamples.ts';
import { isTreeAlive, type World } from './world.ts';

export interface JointEvent {
  readonly name: string;
  /** One call of the host: all of its events or none. */
  readonly call: ReadonlyArray<{ readonly to: 'executionScope' | 'run' | 'ptySession'; readonly told: Told }>;
  readonly when: (world: World) => boolean;
}

const always = (): boolean => true;
/** A report that was true may arrive late. */
const isSpawned = ({ guardian }: World): boolean => guardian !== 'none';
const toScope = (name: string, one: Told, when: JointEvent['when'] = always): JointEvent => ({
  name,
  call: [{ to: 'executionScope', told: one }],
  when,
});
const toRun = (name: string, one: Told, when: JointEvent['when'] = always): JointEvent => ({
  name,
  call: [{ to: 'run', told: one }],
  when,
});

const observed = (result: 'alive' | 'ended' | 'unknown', rest: Partial<Payload<'process.observed'>> = {}): Told => [
  'process.observed',
  { result, reason: result, stable: true, identity: workload, basisVersion: 1, sampledAt, contextDigest: '', ...rest },
];

const launchEvents: readonly JointEvent[] = [
  toScope('prepared', told.prepared),
  toScope(
    'not started',
    ['launch.notStarted', { errno: 'EAGAIN', phase: 'spawn' }],
    ({ guardian }) => guardian === 'none',
  ),
  toScope('abandoned', told.abandoned),
  toScope('attached', told.attached, isSpawned),
  {
    name: 'bound and released',
    call: [
      { to: 'run', told: told.bound },
      { to: 'executionScope', told: told.released },
    ],
    when: always,
  },
  toScope('release uncertain', ['launch.releaseUncertain', { errno: 'EPIPE' }]),
];

const howItEnded = (world: World) => (world.ran ? {} : notReleased);

const evidenceEvents: readonly JointEvent[] = [
  ...[true, false].flatMap((ran) => {
    const how = howItEnded({ ran } as World);
    return [
      toScope(`status receipt, ran ${ran}`, ['workload.statusReceipt', statusReceipt('S1', how)], (world) => {
        return world.statusReceipt && world.ran === ran;
      }),
      toScope(`exit receipt, ran ${ran}`, ['guardian.exitReceipt', exitReceipt(how)], (world) => {
        return world.exitReceipt && world.ran === ran;
      }),
    ];
  }),
  toScope('forged status receipt', ['workload.statusReceipt', statusReceipt('S1', { ino: '99' })]),
  toScope('forged exit receipt', ['guardian.exitReceipt', exitReceipt({ ino: '99' })]),
  toScope('partial exit receipt', ['guardian.exitReceipt', exitReceipt({ complete: false })]),
  toScope('another boot', told.rebooted, ({ rebooted }) => rebooted),
  toScope('mixed boots', ['boot.epochEnded', { currentBootId: laterBoot, uniform: false }]),
  toScope('the same boot', ['boot.epochEnded', { currentBootId: boot, uniform: true }]),
  toScope('enclosing receipt', told.enclosed, (world) => world.guardian === 'dead' && !isTreeAlive(world)),
  // Containment of a tree whose own guardian is there to speak for itself says nothing.
  toScope('enclosing receipt, guardian alive', told.enclosed, ({ guardian }) => guardian === 'alive'),
  ...(['launcherRelation', 'inferred'] as const).map((check) => {
    const [type, payload] = told.enclosed as ['enclosing.receiptAccepted', Payload<'enclosing.receiptAccepted'>];
    const checks = { ...enclosingChecks, [check]: !enclosingChecks[check] };
    return toScope(`enclosing receipt without ${check}`, [type, { ...payload, checks }]);
  }),
  toScope('enclosing receipt with survivors', [
    'enclosing.receiptAccepted',
    { ...(told.enclosed[1] as Payload<'enclosing.receiptAccepted'>), survivors: 1 },
  ]),
];

const observationEvents: readonly JointEvent[] = [
  toScope('guardian seen alive', told.seen('alive'), isSpawned),
  toScope('guardian seen absent', told.seen('absent'), ({ guardian }) => guardian === 'dead'),
  toScope('guardian unseen', told.seen('unknown')),
  toScope('guardian of another namespace', told.seen('unknown', 'namespace_mismatch')),
  toScope('gap: guardian gone', told.gap('guardian_gone'), ({ guardian }) => guardian === 'dead'),
  toScope('gap: record lost', told.gap('record_lost')),
  ...['says one', 'says another'].map((because) => toScope(`assumed gone, ${because}`, told.assumedGone(because))),
  toScope('witness', told.witnesses({ 300: '9000' })),
  toScope('conflicting witness', told.witnesses({ 101: 'other' })),
  toRun('process seen alive', observed('alive'), ({ ran }) => ran),
  toRun('process seen ended', observed('ended'), ({ root }) => root === 'dead'),
  toRun('process unseen', observed('unknown')),
  toRun('stale sample: ended', observed('ended', { basisVersion: 0 })),
  toRun('unstable sample: ended', observed('ended', { stable: false })),
  toRun('another process seen ended', observed('ended', { identity: stranger })),
];

const claimEvents: readonly JointEvent[] = [
  toRun('exit reported', ['exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }]),
  toRun('admission uncertain', ['admission.uncertain', { reason: 'launcher_lost' }]),
  // Binding and release are one commit (ruling 6), so an identity on its own can only come when there is one already.
  toRun(
    'another process bound',
    ['identity.bound', { ...boundPayload(), identity: processOf(201, '7001') }],
    ({ ran }) => ran,
  ),
  toRun('status of another scope', ['workload.statusReceipt', statusReceipt('S2')]),
  toRun('gate of another scope', [
    'admission.cancelled',
    { gate: 'never_opened', scopeId: 'S2' as Payload<'admission.cancelled'>['scopeId'], proofEventId: 'e' },
  ]),
  toRun('unverified process bound', ['identity.bound', { ...boundPayload(), identity: stranger, verified: false }]),
  toRun('another scope proved', [
    'scope.exitProved',
    { scopeId: 'S2' as Payload<'scope.exitProved'>['scopeId'], proofKind: 'own_receipt', proofEventId: 'e' },
  ]),
];

function boundPayload() {
  return told.bound[1] as Payload<'identity.bound'>;
}

/** Names of the events that only say that time has passed (TIME-02, I-14). */
export const timeEvents: readonly JointEvent[] = [
  toScope('drain budget exhausted', ['drain.budgetExhausted', { elapsedMs: 5_000, survivors: 1 }]),
  toScope('deadline reached', ['deadline.reached', { deadlineId: 'd' }] as unknown as Told),
  toRun('deadline reached for the run', ['deadline.reached', { deadlineId: 'd' }] as unknown as Told),
];

const drainEvents: readonly JointEvent[] = [
  toScope('drain: stop', told.drain('stop')),
  toScope('drain: superseded', told.drain('superseded')),
  toScope('drain quiesced', ['drain.quiesced', { members: {}, total: 0, scans: 2 }]),
  toScope('drain signalled', ['drain.signalled', { signalled: 1, skippedGuardians: 0 }]),
  toScope('drain inspection failed', ['drain.inspectionFailed', { reasonCode: 'proc_hidden', resumed: 1 }]),
  toScope('publication begun', ['sideEffect.committed', { effectId: 'push' }]),
  toScope('publication over', ['sideEffect.done', { effectId: 'push' }]),
];

/** For a scope that others launched. */
export const externalEvents: readonly JointEvent[] = [
  toScope('registered externally', ['scope.registeredExternally', { reason: 'legacy' }]),
];

export const jointEvents: readonly JointEvent[] = [
  ...launchEvents,
  ...evidenceEvents,
  ...observationEvents,
  ...claimEvents,
  ...timeEvents,
  ...drainEvents,
];
