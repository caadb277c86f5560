/**
 * Context, guards and actions of the execution scope; the chart itself stands in executionScope.ts. Guards compare what
 * an event brings with what the launch recorded: the reader's word alone authenticates nothing.
 */
import { assertEvent, setup } from 'xstate';
import type { Delegator } from './delegators.ts';
import type { EffectParams } from './effects.ts';
import type { EventOf, EventType, Payload } from './events/catalogue.ts';
import type { FileIdentity, ReceiptProcess } from './events/fields.ts';
import type { Resident } from './events/scope.ts';
import {
  type DrainCause,
  type GapReason,
  type Proof,
  type ProofKind,
  resultOf,
  type WorkloadResult,
} from './evidence.ts';
import type { ProcessIdentity } from './identity.ts';

export interface Assumption {
  readonly by: string;
  readonly because: string;
  readonly atWallMs: number;
  /** The journal event, with what was seen then. */
  readonly eventId: string;
}

type Slot = FileIdentity & { readonly nonceHash: string };
type ReceiptKind = 'start' | 'status' | 'exit';

export interface ScopeContext extends Omit<Payload<'scope.requested'>, 'delegators' | 'residents' | 'controller'> {
  /** Somebody else who has launched it and whose it is to end; null for one of ours. */
  readonly controller: string | null;
  readonly delegators: readonly Delegator[];
  readonly residents: readonly Resident[];
  /** The root has ended, and its guardian has listed nobody but residents since. */
  readonly residentsOnly: boolean;
  /** Device and inode of each slot as it was created before the launch (ruling 8). */
  readonly slots: Readonly<Record<ReceiptKind, Slot>> | null;
  readonly guardian: ProcessIdentity | null;
  readonly workload: ProcessIdentity | null;
  readonly bootId: string | null;
  readonly guardianLast: { readonly result: 'alive' | 'absent' | 'unknown'; readonly reason: string } | null;
  /** pid → token; it only grows until there is a proof (I-28). */
  readonly witnesses: Readonly<Record<string, string>>;
  /** Pids that were once witnessed under another token (OWN-08). */
  readonly witnessConflicts: readonly string[];
  readonly gaps: readonly (GapReason | 'no_launch_scope')[];
  readonly status: WorkloadResult | null;
  readonly proof: Proof | null;
  readonly released: 'no' | 'committed' | 'uncertain';
  readonly drain: { readonly cause: DrainCause; readonly requestId: string; readonly attempts: number } | null;
  readonly openSideEffects: readonly string[];
  /** Who answers for it that nobody is left, where nothing can prove it; the first one stays until life is seen. */
  readonly assumed: Assumption | null;
}

type ScopeEventType = Extract<
  EventType,
  | 'witness.merged'
  | 'launch.prepared'
  | 'launch.notStarted'
  | 'launch.abandoned'
  | 'launch.releaseCommitted'
  | 'launch.releaseUncertain'
  | 'scope.registeredExternally'
  | 'guardian.attached'
  | 'guardian.observed'
  | 'guardian.exitReceipt'
  | 'workload.statusReceipt'
  | 'boot.epochEnded'
  | 'coverage.gap'
  | 'end.assumed'
  | 'enclosing.receiptAccepted'
  | 'residents.observed'
  | 'sideEffect.committed'
  | 'sideEffect.done'
  | 'drain.requested'
  | 'drain.quiesced'
  | 'drain.signalled'
  | 'drain.budgetExhausted'
  | 'drain.inspectionFailed'
>;
type ScopeEvent = EventOf<ScopeEventType>;

export const initialScopeContext = (input: Payload<'scope.requested'>): ScopeContext => ({
  scopeId: input.scopeId,
  runId: input.runId,
  generationId: input.generationId,
  parentScopeId: input.parentScopeId,
  kind: input.kind,
  goalId: input.goalId,
  occurrence: input.occurrence,
  nodeId: input.nodeId,
  recipeDigest: input.recipeDigest,
  onRootExit: input.onRootExit,
  graceMs: input.graceMs,
  budgetMs: input.budgetMs,
  purpose: input.purpose,
  controller: input.controller ?? null,
  delegators: input.delegators ?? [],
  residents: input.residents ?? [],
  residentsOnly: false,
  slots: null,
  guardian: null,
  workload: null,
  bootId: null,
  guardianLast: null,
  witnesses: {},
  witnessConflicts: [],
  gaps: [],
  status: null,
  proof: null,
  released: 'no',
  drain: null,
  openSideEffects: [],
  assumed: null,
});

/** Drains for these causes wait for a publication that has begun (OCC-05, I-18). */
const yieldsToPublication: ReadonlySet<DrainCause> = new Set<DrainCause>(['superseded', 'cancelled', 'reassigned']);

const isProcess = (recorded: ProcessIdentity | null, named: ReceiptProcess): boolean =>
  recorded !== null &&
  recorded.pid === named.pid &&
  recorded.processToken === named.start &&
  (recorded.adapterEvidence === '' || recorded.adapterEvidence === named.pidfs);

function isBoundTo(
  context: ScopeContext,
  slot: ReceiptKind,
  receipt: EventOf<'workload.statusReceipt'> | EventOf<'guardian.exitReceipt'>,
): boolean {
  const reserved = context.slots?.[slot];
  return (
    receipt.authentic &&
    reserved !== undefined &&
    reserved.dev === receipt.dev &&
    reserved.ino === receipt.ino &&
    receipt.bootId === context.bootId &&
    isProcess(context.guardian, receipt.guardian) &&
    isProcess(context.workload, receipt.workload)
  );
}

const proofKindOf: Partial<Record<ScopeEventType, ProofKind>> = {
  'guardian.exitReceipt': 'own_receipt',
  'enclosing.receiptAccepted': 'enclosing_receipt',
  'boot.epochEnded': 'boot_epoch',
};

const gapped = (context: ScopeContext, reason: ScopeContext['gaps'][number]) =>
  context.gaps.includes(reason) ? {} : { gaps: [...context.gaps, reason] };

/** The first token of a pid stays (I-28); another one for it is a conflict, noted once (OWN-08). */
function merged({ witnesses, witnessConflicts }: ScopeContext, found: ScopeContext['witnesses']) {
  const conflicts = Object.keys(found).filter((pid) => witnesses[pid] !== undefined && witnesses[pid] !== found[pid]);
  return {
    witnesses: { ...found, ...witnesses },
    witnessConflicts: [...new Set([...witnessConflicts, ...conflicts])],
  };
}

const base = setup({
  types: { context: {} as ScopeContext, events: {} as ScopeEvent, input: {} as Payload<'scope.requested'> },
  guards: {
    // What others have launched is theirs: nothing is done about it, and nobody here answers for it (INT-02, I-21).
    isOwn: ({ context }) => context.controller === null,
    hasResidents: ({ context }) => context.residents.length > 0,
    platformCovered: ({ context }) => context.kind !== 'external',
    // What others launched had no gate of ours, so that no release was committed says nothing about it (GRD-11).
    neverReleased: ({ context }) => context.released === 'no' && context.kind !== 'external',
    guardianGone: ({ context }) => context.guardianLast?.result === 'absent' || context.gaps.includes('guardian_gone'),
    receiptAuthentic: ({ context, event }) => {
      assertEvent(event, ['workload.statusReceipt', 'guardian.exitReceipt']);
      return isBoundTo(context, event.type === 'guardian.exitReceipt' ? 'exit' : 'status', event);
    },
    receiptComplete: ({ event }) => {
      assertEvent(event, 'guardian.exitReceipt');
      return event.complete;
    },
    epochUniform: ({ context, event }) => {
      assertEvent(event, 'boot.epochEnded');
      return event.uniform && context.bootId !== null && event.currentBootId !== context.bootId;
    },
    observedAlive: ({ event }) => {
      assertEvent(event, 'guardian.observed');
      return event.result === 'alive';
    },
    observedAbsent: ({ event }) => {
      assertEvent(event, 'guardian.observed');
      return event.result === 'absent';
    },
    notAssumed: ({ context }) => context.assumed === null,
    /** Its processes have numbers that mean others here: a restarted container, under the boot that it began with (ruling 16). */
    inForeignNamespace: ({ context }) =>
      context.guardianLast?.result === 'unknown' && context.guardianLast.reason === 'namespace_mismatch',
    noGap: ({ context }) => context.gaps.length === 0,
    enclosingContains: ({ event }) => {
      assertEvent(event, 'enclosing.receiptAccepted');
      const { enclosingComplete, enclosingOriginal, launcherRelation, isolatedLaunch, witnessesContained, inferred } =
        event.checks;
      return (
        enclosingComplete && enclosingOriginal && launcherRelation && isolatedLaunch && witnessesContained && !inferred
      );
    },
    noSurvivors: ({ event }) => {
      assertEvent(event, 'enclosing.receiptAccepted');
      return event.survivors === 0;
    },
    notCommitted: ({ context, event }) => {
      assertEvent(event, 'drain.requested');
      return context.openSideEffects.length === 0 || !yieldsToPublication.has(event.cause);
    },
  },
  actions: {
    launchScope: (_, _params: EffectParams['launchScope']) => {},
    openGate: (_, _params: EffectParams['openGate']) => {},
    drainScope: (_, _params: EffectParams['drainScope']) => {},
  },
});

export const scopeSetup = base.extend({
  actions: {
    requestLaunch: base.enqueueActions(({ context, enqueue }) => {
      if (context.kind !== 'external') enqueue({ type: 'launchScope', params: { scopeId: context.scopeId } });
    }),
    requestGate: base.enqueueActions(({ context, enqueue }) => {
      enqueue({ type: 'openGate', params: { scopeId: context.scopeId } });
    }),
    offerDrain: base.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'drain.requested');
      const { cause, graceMs = context.graceMs, budgetMs = context.budgetMs } = event;
      enqueue({
        type: 'drainScope',
        params: { scopeId: context.scopeId, cause, graceMs, budgetMs, attempt: context.drain?.attempts ?? 1 },
      });
    }),
    prepare: base.assign(({ event }) => {
      assertEvent(event, 'launch.prepared');
      return { slots: event.slots };
    }),
    attach: base.assign(({ context, event }) => {
      assertEvent(event, 'guardian.attached');
      const { guardian, workload, bootId } = event;
      return {
        guardian,
        workload,
        bootId,
        ...merged(context, { [guardian.pid]: guardian.processToken, [workload.pid]: workload.processToken }),
      };
    }),
    markReleased: base.assign({ released: 'committed' }),
    markUncertain: base.assign({ released: 'uncertain' }),
    recordNeverLaunched: base.assign(({ event }) => ({
      proof: { kind: 'never_launched' as const, eventId: event.eventId },
    })),
    // Whatever it was requested as, no gate of ours holds it; as `external` it can never count as never launched.
    recordExternal: base.assign(({ context }) => ({
      kind: 'external' as const,
      ...gapped(context, 'no_launch_scope'),
    })),
    recordGap: base.assign(({ context, event }) => {
      assertEvent(event, 'coverage.gap');
      return gapped(context, event.reason);
    }),
    recordGuardian: base.assign(({ event }) => {
      assertEvent(event, 'guardian.observed');
      return { guardianLast: { result: event.result, reason: event.reason } };
    }),
    recordGuardianGone: base.assign(({ context, event }) => {
      assertEvent(event, 'guardian.observed');
      return { guardianLast: { result: event.result, reason: event.reason }, ...gapped(context, 'guardian_gone') };
    }),
    recordAssumption: base.assign(({ event }) => {
      assertEvent(event, 'end.assumed');
      const { actor, because, atWallMs, eventId } = event;
      return { assumed: { by: actor, because, atWallMs, eventId } };
    }),
    // Refuted for good: were it kept, the next look that fails would make it count again. The journal still has it.
    withdrawAssumption: base.assign({ assumed: null }),
    prove: base.assign(({ event }) => ({
      proof: { kind: proofKindOf[event.type] ?? ('own_receipt' as const), eventId: event.eventId },
    })),
    recordStatus: base.assign(({ event }) => {
      assertEvent(event, ['workload.statusReceipt', 'guardian.exitReceipt']);
      return { status: resultOf(event) };
    }),
    recordResidents: base.assign(({ event }) => {
      assertEvent(event, 'residents.observed');
      return { residentsOnly: event.alone };
    }),
    mergeWitnesses: base.assign(({ context, event }) => {
      assertEvent(event, 'witness.merged');
      return merged(context, event.witnesses);
    }),
    commitSideEffect: base.assign(({ context, event }) => {
      assertEvent(event, 'sideEffect.committed');
      return { openSideEffects: [...new Set([...context.openSideEffects, event.effectId])] };
    }),
    finishSideEffect: base.assign(({ context, event }) => {
      assertEvent(event, 'sideEffect.done');
      return { openSideEffects: context.openSideEffects.filter((effectId) => effectId !== event.effectId) };
    }),
    requestDrain: base.assign(({ context, event }) => {
      assertEvent(event, 'drain.requested');
      return {
        drain: { cause: event.cause, requestId: event.requestId, attempts: (context.drain?.attempts ?? 0) + 1 },
      };
    }),
    noop: base.assign({}),
  },
});
