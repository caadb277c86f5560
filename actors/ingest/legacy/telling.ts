/**
 * What a record of another tool means for the actors (INT-07, INT-08): a pure decision. It admits nothing and binds nothing.
 * A run begins as unresolved, with what is not known of it in its gaps, and whatever it has started as a scope that nobody
 * can account for (GRD-11).
 */
import type { RunId, ScopeId } from '../../../machines/ids.ts';
import type { ClaimedProcess } from '../../../machines/legacyRecord.ts';
import { placeMissing } from '../../../machines/run.ts';
import type { Draft } from '../../host/outcome.ts';
import type { EvidenceContext, GuardianEvidence } from '../../observe/linux/identity.ts';
import { draft } from '../../runtime/submission.ts';
import type { RecordOf } from './decision.ts';

export const by = 'legacy-import';

/** Nobody who saw it being launched has told us of it. */
export const launchMissing = 'launch_missing';
/** Its tool names no process, or not enough of one to tell it from another (ID-06). */
export const processMissing = 'process_missing';
export const processIncomplete = 'process_incomplete';

/** Why an imported run is unresolved, as long as nobody has looked for its process. */
export const onlyRecorded = 'legacy_record';

export interface RunNames {
  readonly runId: RunId;
  readonly scopeId: ScopeId;
  readonly retryOf: RunId | null;
  /** Who launched it. */
  readonly tool: string;
}

export interface Claim {
  readonly context: Omit<EvidenceContext, 'installationId'>;
  readonly process: GuardianEvidence;
}

/** Undefined where the claim could mean more than one process: then nobody ever looks for it. */
export function claimOf(process: ClaimedProcess | null): Claim | undefined {
  if (process === null) return undefined;
  const { pid, startTicks, bootId, uid, pidNamespace, timeNamespace } = process;
  const isWhole =
    startTicks !== undefined &&
    bootId !== undefined &&
    uid !== undefined &&
    pidNamespace !== undefined &&
    timeNamespace !== undefined;
  if (!isWhole) return undefined;
  return {
    context: { bootId, uid, pidns: pidNamespace, timens: timeNamespace },
    process: { pid, start: startTicks, pidfs: null },
  };
}

export function gapsOf({ process }: RecordOf<'run'>): readonly string[] {
  if (process === null) return [launchMissing, placeMissing, processMissing];
  return [launchMissing, placeMissing, ...(claimOf(process) === undefined ? [processIncomplete] : [])];
}

export function runDrafts(record: RecordOf<'run'>, { runId, scopeId, retryOf, tool }: RunNames): Draft[] {
  const run = ['run', runId] as const;
  const reserved = {
    runId,
    generationId: null,
    goalRef: null,
    mode: 'observe',
    rootScopeId: scopeId,
    // Never a text of the tool's: it could be a prompt or a command line (PRIV-01).
    label: `${tool}:${record.name}`.slice(0, 200),
    retryOf,
    origin: 'legacy',
  } as const;
  return [
    draft('run.reserved', { to: run, payload: { ...reserved, gaps: [...gapsOf(record)] }, by }),
    draft('admission.uncertain', { to: run, payload: { reason: onlyRecorded }, by }),
    ...scopeDrafts({ runId, scopeId, tool }),
    ...exitDrafts(record, runId, tool),
  ];
}

/** Nothing is known of its launch, so nothing can ever show a receipt of it to be authentic. */
const unknownRecipe = '0'.repeat(64);

function scopeDrafts({ runId, scopeId, tool }: Omit<RunNames, 'retryOf'>): Draft[] {
  const to = ['executionScope', scopeId] as const;
  const requested = {
    scopeId,
    runId,
    generationId: null,
    parentScopeId: null,
    kind: 'external',
    goalId: null,
    occurrence: null,
    nodeId: null,
    recipeDigest: unknownRecipe,
    onRootExit: 'wait',
    graceMs: 0,
    budgetMs: 0,
    purpose: null,
    controller: tool,
  } as const;
  return [
    draft('scope.requested', { to, payload: requested, by }),
    draft('scope.registeredExternally', { to, payload: { reason: 'legacy' }, by }),
  ];
}

/** A claim of the tool, which ends nothing (RUN-07). */
function exitDrafts({ exit }: RecordOf<'run'>, runId: RunId, tool: string): Draft[] {
  if (exit === null) return [];
  const payload = { exitCode: exit.code, signal: exit.signal, reporter: tool };
  return [draft('exit.reported', { to: ['run', runId], payload, by })];
}
