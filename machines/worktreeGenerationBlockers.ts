/**
 * What a generation knows of its runs, and what stands between it and its seal (WT-04). The guards of the chart and the
 * list that a person is shown come from this one computation, so that they cannot disagree.
 */
import type { DirectoryIdentity } from './directory.ts';
import type { EventType, Payload } from './events/catalogue.ts';
import { isAnyNoted, type NotedRuns, nobodyNoted, unnamedIn } from './notedRuns.ts';

/** Who controls a generation that this program controls; any other name is somebody else's. */
export const ownController = 'custody';

type RunState = 'active' | Payload<'run.settled'>['terminal'];

export interface AdmittedRun {
  /** Orders protocol messages and proves nothing about writers (BIND-03). */
  readonly epoch: number;
  readonly run: RunState;
  readonly scopes: Readonly<Record<string, 'pending' | 'proved'>>;
  /** Digest of the guardian that holds each scope; null where none is known, which no contract covers. */
  readonly guardians: Readonly<Record<string, string | null>>;
}

export type NoWritersContract = Readonly<Payload<'contract.verified'>>;

/** Which directory a generation is (WT-01), and where git keeps what belongs to it. */
export interface GenerationPlace extends DirectoryIdentity {
  readonly gitdir: string;
}

export interface GenerationContext extends Omit<Payload<'generation.registered'>, 'fsIdentity'>, NotedRuns {
  readonly fsIdentity: GenerationPlace;
  /** To whom control is on its way; null unless it is. */
  readonly handoff: { readonly to: string; readonly requestId: string } | null;
  /** What the present control rests on: references that whoever took it over brought along (PROMO-01). */
  readonly evidence: readonly string[];
  readonly authorityEpoch: number;
  /** Counts admissions for the whole life of the generation, across restarts and changes of authority (BIND-02). */
  readonly ownershipEpoch: number;
  /** 0 until sealed. */
  readonly sealEpoch: number;
  readonly admitted: Readonly<Record<string, AdmittedRun>>;
  /** How many gaps were ever recorded, and the ids of those that are still open. */
  readonly coverageGaps: { readonly recorded: number; readonly open: readonly string[] };
  /** The contract verified last on this host (PROMO-06). */
  readonly noWritersContract: NoWritersContract | null;
  /** Digests of all guardians that passed the battery: an upgrade does not uncover the scopes of the one before. */
  readonly coveredGuardians: readonly string[];
  readonly retirement: { readonly executor: string; readonly receiptDigest: string } | null;
  /** The last prediction made in observe mode (WT-06). */
  readonly hypothetical: Pick<Payload<'prediction.recorded'>, 'eligible' | 'blockers'> | null;
  readonly pathObservation: Payload<'path.observed'>['result'] | null;
  /** Where it was put, and for which scope. */
  readonly quarantine: Omit<Payload<'quarantine.recorded'>, 'requestId' | 'actor'> | null;
}

export const initialGenerationContext = (input: Payload<'generation.registered'>): GenerationContext => ({
  generationId: input.generationId,
  path: input.path,
  fsIdentity: { ...input.fsIdentity, born: input.fsIdentity.born ?? null },
  origin: input.origin,
  controller: input.controller,
  repoId: input.repoId,
  goalId: input.goalId,
  branch: input.branch,
  baseCommit: input.baseCommit,
  authorityEpoch: 1,
  ownershipEpoch: 0,
  sealEpoch: 0,
  admitted: {},
  ...nobodyNoted,
  coverageGaps: { recorded: 0, open: [] },
  noWritersContract: null,
  coveredGuardians: [],
  retirement: null,
  hypothetical: null,
  pathObservation: null,
  quarantine: null,
  handoff: null,
  evidence: [],
});

export type GenerationEventType = Extract<
  EventType,
  | 'run.admitted'
  | 'run.noted'
  | 'run.settled'
  | 'scope.opened'
  | 'scope.settled'
  | 'admission.closed'
  | 'seal.requested'
  | 'retirement.receiptVerified'
  | 'coverage.gapRecorded'
  | 'coverage.gapClosed'
  | 'prediction.recorded'
  | 'path.observed'
  | 'quarantine.recorded'
  | 'contract.verified'
  | 'authority.granted'
  | 'authority.migrated'
  | 'authority.handoffRequested'
  | 'authority.handedOff'
  | 'authority.handoffAbandoned'
>;

export interface SealBlocker {
  readonly code:
    | 'not_closed'
    | 'quarantined'
    | 'not_managed'
    | 'run_active'
    | 'scope_unproved'
    | 'scope_missing'
    | 'coverage_gap'
    | 'noted_run'
    | 'contract_unverified'
    | 'contract_covers_other_guardian';
  readonly runId?: string;
  readonly scopeId?: string;
  readonly gapId?: string;
  readonly detail: string;
}

/** Where the generation stands: the names of its lifecycle and authority states. */
export interface GenerationStanding {
  readonly lifecycle: string;
  readonly authority: string;
}

/** Every unmet premise of a seal, in a stable order; empty exactly when `seal.requested` is accepted. */
export function sealBlockers(context: GenerationContext, standing: GenerationStanding): readonly SealBlocker[] {
  const { lifecycle, authority } = standing;
  const blockers: SealBlocker[] = [];
  if (lifecycle === 'quarantined')
    blockers.push({ code: 'quarantined', detail: 'the generation is quarantined, for good: it is never sealed' });
  else if (lifecycle !== 'closing')
    blockers.push({ code: 'not_closed', detail: `the generation is ${lifecycle}; close its admission first` });
  if (authority !== 'managed')
    blockers.push({ code: 'not_managed', detail: `authority is ${authority}; ${context.controller} controls it` });
  return [...blockers, ...contextBlockers(context)];
}

const settlement: ReadonlySet<SealBlocker['code']> = new Set(['run_active', 'scope_missing', 'scope_unproved']);
const takeover: ReadonlySet<SealBlocker['code']> = new Set(['coverage_gap', 'noted_run', 'contract_unverified']);

/** What a handoff waits for: nobody new may come in, and everybody who was let in has to be settled (PROMO-05). */
export const handoffBlockers = (context: GenerationContext, lifecycle: string): readonly SealBlocker[] => [
  ...(lifecycle === 'open' ? [stillOpen] : []),
  ...contextBlockers(context).filter(({ code }) => settlement.has(code)),
];

const stillOpen: SealBlocker = { code: 'not_closed', detail: 'the generation is open; close its admission first' };

/** What others started and nobody saw end stays in the way, and so does a host without a contract (INT-09, PROMO-06). */
export const migrationBlockers = (context: GenerationContext): readonly SealBlocker[] =>
  contextBlockers(context).filter(({ code }) => takeover.has(code));

const writers: ReadonlySet<SealBlocker['code']> = new Set([...settlement, 'coverage_gap', 'noted_run']);

/** Who may write in the directory, wherever the generation stands. */
export const writerBlockers = (context: GenerationContext): readonly SealBlocker[] =>
  contextBlockers(context).filter(({ code }) => writers.has(code));

/** Custody made it, and nothing has happened in it yet (ruling 15, PROMO-04). */
export const isNewGeneration = (context: GenerationContext): boolean =>
  context.origin === 'native' &&
  Object.keys(context.admitted).length === 0 &&
  !isAnyNoted(context) &&
  context.coverageGaps.recorded === 0;

/** Whether none of these premises is unmet. */
export function isFreeOf(context: GenerationContext, codes: readonly SealBlocker['code'][]): boolean {
  return !contextBlockers(context).some(({ code }) => codes.includes(code));
}

function contextBlockers(context: GenerationContext): readonly SealBlocker[] {
  return [
    ...Object.entries(context.admitted).flatMap(([runId, admitted]) => runBlockers(runId, admitted)),
    ...context.coverageGaps.open.map(
      (gapId): SealBlocker => ({
        code: 'coverage_gap',
        gapId,
        detail: `${gapId} is open: what was lost may have been about this worktree; only a later boot closes it`,
      }),
    ),
    ...notedBlockers(context),
    ...contractBlockers(context),
  ];
}

function notedBlockers(context: GenerationContext): SealBlocker[] {
  const blockers = Object.keys(context.noted).map(
    (runId): SealBlocker => ({
      code: 'noted_run',
      runId,
      detail: `run ${runId} was started by somebody else and has not ended`,
    }),
  );
  const beyond = unnamedIn(context);
  if (beyond > 0)
    blockers.push({
      code: 'noted_run',
      detail: `${beyond} more runs that somebody else started have not ended`,
    });
  return blockers;
}

function runBlockers(runId: string, { run, scopes }: AdmittedRun): SealBlocker[] {
  const known = Object.entries(scopes);
  const blockers: SealBlocker[] = [];
  if (run === 'active') blockers.push({ code: 'run_active', runId, detail: `run ${runId} has not ended` });
  if (run !== 'cancelled' && known.length === 0)
    blockers.push({
      code: 'scope_missing',
      runId,
      detail: `run ${runId} has no registered scope that could be proved`,
    });
  for (const [scopeId, state] of known) {
    if (state === 'pending')
      blockers.push({
        code: 'scope_unproved',
        runId,
        scopeId,
        detail: `nothing proves that scope ${scopeId} is empty`,
      });
  }
  return blockers;
}

function contractBlockers({ admitted, noWritersContract, coveredGuardians }: GenerationContext): SealBlocker[] {
  if (noWritersContract === null) {
    return [
      { code: 'contract_unverified', detail: 'no containment contract is verified for this host; run the battery' },
    ];
  }
  return Object.entries(admitted).flatMap(([runId, { guardians }]) =>
    Object.entries(guardians)
      .filter(([, digest]) => digest === null || !coveredGuardians.includes(digest))
      .map(
        ([scopeId, digest]): SealBlocker => ({
          code: 'contract_covers_other_guardian',
          runId,
          scopeId,
          detail: `no verified contract covers the guardian of scope ${scopeId} (${digest?.slice(0, 12) ?? 'unknown'})`,
        }),
      ),
  );
}
