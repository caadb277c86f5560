/** How the tree of a run ended: what became of its root, whether somebody asked for the end and why, and where its output is. */
import type { HostedEnvelope } from '../../actors/host/outcome.ts';
import { intact } from '../../actors/runtime/actorAccess.ts';
import { assessOwnership } from '../../machines/assessment.ts';
import type { DrainCause, WorkloadResult } from '../../machines/evidence.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { resultInWords } from '../../machines/resultWords.ts';
import type { Ending } from './explanation.ts';
import { timeOf } from './last.ts';
import type { ExplainSource } from './source.ts';

const reasons: Readonly<Record<DrainCause, string>> = {
  completed: 'what it was there for was done',
  natural: 'its root had ended, and nothing was to be left behind',
  capture_fault: 'its output could not be captured any more',
  deadline: 'its time was over',
  stop: 'somebody stopped it',
  superseded: 'a later decision on its Goal took its place',
  cancelled: 'its Goal was given up, or had moved on without it',
  reassigned: 'its Goal went to another node',
  recovery: 'the scheduling worker that it belongs to was replaced',
  shutdown: 'all work was ended (custody drain, custody daemon stop)',
};

/** Null while its root runs and nobody has asked for its end. */
export function endingOf(source: ExplainSource, scope: ScopeSnapshot): Ending | null {
  const { status, drain, scopeId, proof } = scope.context;
  if (status === null && drain === null && proof === null) return null;
  return {
    result:
      status === null ? null : { how: status.how, exitCode: status.code, signal: status.signal, errno: status.errno },
    drain: drain === null ? null : { cause: drain.cause, ...askedBy(source, scopeId) },
  };
}

/** Who gave the newest order, as the journal has it; a checkpoint may have taken that. */
function askedBy(source: ExplainSource, scopeId: string): { readonly by: string | null; readonly at: string | null } {
  const actor = { kind: 'executionScope', id: scopeId };
  const [entry] = source.journal.page({ actor, type: 'drain.requested', newestFirst: true, limit: 1 });
  if (entry?.intact !== true) return { by: null, at: null };
  const { producer, at } = entry.envelope as HostedEnvelope;
  return { by: producer.kind, at: timeOf(at.wallMs) };
}

/** `endingOf` the scope in sentences; none while its root runs and nobody has asked for its end. */
export function endingInWords(scope: ScopeSnapshot, ending: Ending | null): readonly string[] {
  if (ending === null) return [];
  const { status, drain } = scope.context;
  const assessment = assessOwnership(scope);
  const isOver = assessment.state === 'exited';
  if (isOver && assessment.proof === 'never_launched') return ['It never ran.', ...order(ending)];
  const how =
    status === null ? (isOver ? ['How its root ended is not known: nobody recorded it.'] : []) : [root(status)];
  if (drain === null) return [...how, ...(status === null ? [] : ['Nobody has asked for its end.'])];
  return [...how, ...order(ending)];
}

const root = (status: WorkloadResult): string => `Its root ended: ${resultInWords(status)}.`;

function order({ drain }: Ending): readonly string[] {
  if (drain === null) return [];
  if (drain.cause === 'natural')
    return ['Nobody stopped it: its root ended by itself, and whatever that left behind was to end then.'];
  const by = drain.by === null ? '' : `, by order of ${drain.by}`;
  const at = drain.at === null ? '' : `, at ${drain.at}`;
  return [`Its end was asked for because ${reasons[drain.cause]} (${drain.cause.replaceAll('_', ' ')})${by}${at}.`];
}

/** Where what it wrote can be read; nothing for a run that somebody else captures. */
export function outputOf({ host }: ExplainSource, runId: string): string {
  const [sessionId] = host.linked('ptySession', 'runId', runId);
  return sessionId === undefined ? `custody runs logs ${runId}` : `custody sessions tail ${sessionId}`;
}

/** `run R1 (exit 1; custody runs logs R1 shows its output)`. */
export function runInWords(source: ExplainSource, runId: string): string {
  const run = intact(source.host, 'run', runId);
  const scopeId = run === undefined || run === 'corrupt' ? null : run.context.rootScopeId;
  const scope = scopeId === null ? undefined : intact(source.host, 'executionScope', scopeId);
  const status = scope === undefined || scope === 'corrupt' ? null : scope.context.status;
  const how = status === null ? '' : `${resultInWords(status)}; `;
  return `run ${runId} (${how}${outputOf(source, runId)} shows its output)`;
}
