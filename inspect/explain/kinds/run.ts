/** Why a run does not move: what is known of its process, and what was never told. */
import { intact } from '../../../actors/runtime/actorAccess.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { RunContext } from '../../../machines/run.ts';
import { endingInWords, endingOf, outputOf } from '../endings.ts';
import { standingInWords, standingOf } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { inWords, listed, proofInWords, quoted } from '../words.ts';

type Run = Subject<'run'>;

export function aboutRun(run: Run): About {
  const { mode, label, goalRef, generationId } = run.snapshot.context;
  const named = label === null ? '' : `, ${quoted(label)},`;
  const serves = [
    goalRef === null ? undefined : `for Goal ${goalRef.goalId}`,
    generationId === null ? undefined : `in worktree ${generationId}`,
  ].filter((part) => part !== undefined);
  const where = serves.length === 0 ? '' : ` ${serves.join(' ')}`;
  const whose =
    mode === 'managed' ? 'was launched by this program' : 'was launched by somebody else and is only observed';
  const scope = rootScopeOf(run);
  const ending = scope === undefined ? null : endingOf(run.source, scope);
  return {
    what: `Run ${run.id}${named} ${whose}${where}.`,
    waitsFor: run.snapshot.hasTag('terminal') ? [] : waits(run),
    ending,
    helps: [
      'identity.bound',
      'workload.statusReceipt',
      'scope.exitProved',
      'process.observed',
      'admission.cancelled',
      ...untold(run.snapshot.context),
    ],
    notes: untold(run.snapshot.context),
    wants: run.snapshot.hasTag('terminal') ? [] : ['identity.bound', 'admission.cancelled'],
    facts: [...(scope === undefined ? [] : endingInWords(scope, ending)), ...facts(run)],
  };
}

/** What only its launcher can still tell, of a run that somebody else has launched. */
function untold({ mode, generationId }: RunContext): readonly ('reservation.reported' | 'run.placed')[] {
  if (mode === 'managed') return [];
  return generationId === null ? ['reservation.reported', 'run.placed'] : ['reservation.reported'];
}

function rootScopeOf({ source, snapshot }: Run): ScopeSnapshot | undefined {
  const { rootScopeId } = snapshot.context;
  const scope = rootScopeId === null ? undefined : intact(source.host, 'executionScope', rootScopeId);
  return scope === 'corrupt' ? undefined : scope;
}

function waits(run: Run): readonly string[] {
  const { snapshot } = run;
  const { context } = snapshot;
  if (snapshot.matches({ lifecycle: 'bound' })) return [ofProcess(context)];
  const who = context.mode === 'managed' ? 'its entry point' : 'its launcher';
  if (snapshot.matches({ lifecycle: { reserved: 'unresolved' } }))
    return [
      `It is unresolved (${inWords(context.unresolvedReason ?? 'unknown')}): nobody can say whether it began. It waits for the identity of its process, from ${who}${context.mode === 'managed' ? ', or for proof that its gate never opened' : ''}; time alone decides nothing.`,
    ];
  return [`It is reserved and waits for the verified identity of its process, from ${who}.`];
}

function ofProcess({ identity, mode, lastObservation, lastConfirmed }: RunContext): string {
  const pid = identity === null ? 'its process' : `the process with pid ${identity.pid}`;
  const by =
    mode === 'managed'
      ? 'its status receipt, the proof of its scope, or a stable look that finds it gone'
      : 'a stable look that finds it gone, since no guardian of this program holds it';
  return `It waits for the end of ${pid}: ${by}. ${lookInWords(lastObservation, lastConfirmed)}`;
}

function lookInWords(last: RunContext['lastObservation'], confirmed: RunContext['lastConfirmed']): string {
  if (last === null) return 'Nobody has looked at it yet.';
  if (last.result !== 'unknown') return `The last look found it ${last.result} (${inWords(last.reason)}).`;
  const before =
    confirmed === null ? 'and no look was certain so far' : `the last certain one found it ${confirmed.result}`;
  return `The last look could not tell (${inWords(last.reason)}), ${before}; an unknown moves nothing.`;
}

function facts(run: Run): readonly string[] {
  const { source, snapshot } = run;
  const { gaps, exitReport, end, rootScopeId } = snapshot.context;
  const told: string[] = [];
  if (
    snapshot.context.mode === 'managed' &&
    !snapshot.matches({ lifecycle: 'reserved' }) &&
    !snapshot.matches({ lifecycle: 'cancelled' })
  )
    told.push(`What it wrote: ${outputOf(source, run.id)}.`);
  if (gaps.length > 0) told.push(`Never told of it: ${listed(gaps.map(inWords))}; nobody fills that in.`);
  if (end !== null)
    told.push(
      `By what it is known to have ended: ${inWords(end.evidence)} (${end.evidence === 'scope_proof' ? proofInWords(end.reason) : inWords(end.reason)}).`,
    );
  if (exitReport !== null) {
    const how = exitReport.signal === null ? `exit ${exitReport.exitCode ?? 'unknown'}` : `signal ${exitReport.signal}`;
    told.push(`Its launcher claims that it ended (${how}); a claim moves nothing else.`);
  }
  const standing = rootScopeId === null ? undefined : standingOf(source, rootScopeId);
  if (standing !== undefined)
    told.push(
      `What it leaves behind is the affair of its scope: ${standingInWords(standing)} (custody explain ${standing.scopeId}).`,
    );
  return told;
}
