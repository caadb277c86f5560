/** Tells a worktree generation what happens to it. */
import fc from 'fast-check';
import type { EventType } from '../../../machines/events/catalogue.ts';
import { whyRejected } from '../../../machines/rejection.ts';
import { start, step } from '../../../machines/step.ts';
import { type GenerationSnapshot, worktreeGenerationMachine } from '../../../machines/worktreeGeneration.ts';
import type { GenerationContext } from '../../../machines/worktreeGenerationBlockers.ts';
import {
  asked,
  contractOf,
  gapNamed,
  generationInput,
  otherGuardian,
  ourGuardian,
  quarantined,
  receiptOfExecutor,
} from './generationEvidence.ts';

export const newGeneration = (rest: Parameters<typeof generationInput>[0] = {}): GenerationSnapshot =>
  start(worktreeGenerationMachine, generationInput(rest)).snapshot as GenerationSnapshot;

export interface Told {
  readonly snapshot: GenerationSnapshot;
  readonly change: 'changed' | 'noop' | 'unmatched';
  readonly guards: readonly string[];
  readonly effects: readonly unknown[];
}

let sequence = 0;

export function offer(before: GenerationSnapshot, type: EventType, payload: object): Told {
  sequence += 1;
  const event = { ...payload, type, eventId: `e${sequence}` };
  const { snapshot, change, effects } = step(worktreeGenerationMachine, before, event);
  const guards = change === 'unmatched' ? whyRejected(worktreeGenerationMachine, before, event).guards : [];
  return { snapshot: snapshot as GenerationSnapshot, change, guards, effects };
}

/** Each event has to be accepted for the test to make sense. */
export function tell(
  before: GenerationSnapshot,
  ...events: readonly (readonly [EventType, object])[]
): GenerationSnapshot {
  let snapshot = before;
  for (const [type, payload] of events) {
    const told = offer(snapshot, type, payload);
    if (told.change === 'unmatched') throw new Error(`${type} was refused: ${told.guards.join(', ')}`);
    snapshot = told.snapshot;
  }
  return snapshot;
}

export const granted = ['authority.granted', { ...asked, gateReport: null }] as const;
export const closed = ['admission.closed', asked] as const;
export const sealed = ['seal.requested', asked] as const;
export const verified = ['contract.verified', contractOf(ourGuardian)] as const;
export const admitted = (runId: string) => ['run.admitted', { runId }] as const;
export const noted = (runId: string) => ['run.noted', { runId, origin: 'observed' }] as const;
export const opened = (runId: string, scopeId: string, guardianDigest: string | null = ourGuardian) =>
  ['scope.opened', { runId, scopeId, guardianDigest }] as const;
export const proved = (runId: string, scopeId: string) =>
  ['scope.settled', { runId, scopeId, proofKind: 'own_receipt' }] as const;
export const ended = (runId: string, terminal: 'ended' | 'cancelled' = 'ended') =>
  ['run.settled', { runId, terminal, endEventId: 'e' }] as const;

export const migrated = [
  'authority.migrated',
  { ...asked, migrationVerified: true, evidenceRefs: ['gate report'] },
] as const;
export const closedGap = (gapId: string) =>
  ['coverage.gapClosed', { gapId, evidence: 'boot_epoch', evidenceRef: 'e' }] as const;
export const receipt = (isVerified: boolean) =>
  [
    'retirement.receiptVerified',
    ({ sealEpoch }: GenerationContext) => receiptOfExecutor(sealEpoch, { verified: isVerified }),
  ] as const;

/** Managed, one run with one proved scope, admission closed: everything is there for a seal. */
export const readyToSeal = (): GenerationSnapshot =>
  tell(newGeneration(), granted, verified, admitted('R1'), opened('R1', 'S1'), ended('R1'), proved('R1', 'S1'), closed);

type Move = readonly [EventType, object | ((context: GenerationContext) => object)];

const run = fc.constantFrom('R1', 'R2');
const scope = fc.constantFrom('S1', 'S2', 'S3');
const guardian = fc.constantFrom(ourGuardian, otherGuardian, null);

const event: fc.Arbitrary<Move> = fc.oneof(
  run.map(admitted),
  run.map(noted),
  fc.tuple(run, scope, guardian).map((of) => opened(...of)),
  fc.tuple(run, scope).map((of) => proved(...of)),
  fc.tuple(run, fc.constantFrom('ended' as const, 'cancelled' as const)).map((of) => ended(...of)),
  fc.boolean().map(receipt),
  fc.constantFrom<Move>(
    granted,
    migrated,
    verified,
    closed,
    sealed,
    closedGap('gap'),
    ['quarantine.recorded', quarantined],
    ['contract.verified', contractOf(otherGuardian)],
    ['coverage.gapRecorded', gapNamed('gap')],
    ['authority.handoffRequested', { ...asked, to: 'others' }],
    ['authority.handedOff', { requestId: 'q', controller: 'others' }],
    ['authority.handoffAbandoned', { requestId: 'q' }],
    ['path.observed', { result: 'missing' }],
    ['prediction.recorded', { eligible: true, blockers: [] }],
  ),
);

export type Plot = readonly (Move | 'progress')[];

/** Stories that mostly move on and now and then meet any event, fitting or not. */
export const plots: fc.Arbitrary<Plot> = fc.array(
  fc.oneof({ weight: 1, arbitrary: fc.constant('progress' as const) }, { weight: 1, arbitrary: event }),
  { minLength: 10, maxLength: 50, size: 'max' },
);

/** The event that brings this generation nearer to its end. */
function nextOf({ value, context }: GenerationSnapshot): Move {
  const [running] = Object.keys(context.noted);
  const [gapId] = context.coverageGaps.open;
  if (running !== undefined) return ended(running);
  if (gapId !== undefined) return closedGap(gapId);
  if (value.authority === 'observe') return context.authorityEpoch === 1 ? granted : migrated;
  if (value.authority === 'quiescing') return ['authority.handoffAbandoned', { requestId: 'q' }];
  if (context.noWritersContract === null) return verified;
  if (value.lifecycle === 'sealed') return receipt(true);
  return settling(context) ?? (value.lifecycle === 'closing' ? sealed : lastAdmission(context));
}

const lastAdmission = ({ admitted: runs, noted: others }: GenerationContext): Move =>
  runs.R1 || others.R1 ? closed : admitted('R1');

function settling({ admitted: runs, coveredGuardians }: GenerationContext): Move | undefined {
  const taken = Object.values(runs).flatMap(({ scopes }) => Object.keys(scopes));
  for (const [runId, one] of Object.entries(runs)) {
    const uncovered = Object.values(one.guardians).find((digest) => digest && !coveredGuardians.includes(digest));
    const pending = Object.keys(one.scopes).find((scopeId) => one.scopes[scopeId] === 'pending');
    if (uncovered) return ['contract.verified', contractOf(uncovered)];
    if (Object.keys(one.scopes).length === 0 && one.run !== 'cancelled') return opened(runId, `S${taken.length + 4}`);
    if (one.run === 'active') return ended(runId);
    if (pending !== undefined) return proved(runId, pending);
  }
  return undefined;
}

export interface Offered extends Told {
  readonly before: GenerationSnapshot;
  readonly type: EventType;
  readonly payload: Readonly<Record<string, unknown>>;
}

export function play(plot: Plot, onto: (offered: Offered) => void): GenerationSnapshot {
  let before = newGeneration();
  for (const move of plot) {
    const [type, payloadOf] = move === 'progress' ? nextOf(before) : move;
    const payload = typeof payloadOf === 'function' ? payloadOf(before.context) : payloadOf;
    const told = offer(before, type, payload);
    onto({ ...told, before, type, payload: payload as Readonly<Record<string, unknown>> });
    before = told.snapshot;
  }
  return before;
}
