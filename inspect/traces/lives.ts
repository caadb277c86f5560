/**
 * Spans of lives that a commit has brought to their end, out of the journal: nothing is kept open in memory, so a life that
 * outlasts its daemon is told whole by the next one. A span holds ids, kinds, states, reasons of the program and times,
 * and no text that anybody chose.
 */
import { type Attributes, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { CommitRecord, HostedEnvelope } from '../../actors/host/outcome.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { GoalSnapshot } from '../../machines/goal.ts';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { JournalEntry, JournaledOutcome, JournalTable } from '../../persistence/tables/journal.ts';
import { contextOf, type Life } from './identity.ts';

export interface Ended {
  readonly life: Life;
  readonly name: string;
  readonly actor: ActorAddress;
  /** Where in the journal it begins; the newest of this type. Undefined: with the actor. */
  readonly from: string | undefined;
  readonly until: number;
  readonly attributes: Attributes;
  readonly failed: string | undefined;
}

/** What has come to its end with this record; usually nothing. */
export function endedBy({ actor, before, after, position }: CommitRecord): readonly Ended[] {
  if (actor.kind === 'goal') {
    const isOver = after.hasTag('terminal') && !before?.hasTag('terminal');
    return isOver ? [goalEnded(actor, after as GoalSnapshot, position)] : [];
  }
  if (actor.kind !== 'executionScope') return [];
  const [was, is] = [before as ScopeSnapshot | undefined, after as ScopeSnapshot];
  const ended: Ended[] = [];
  if (was !== undefined && isDraining(was) && !isDraining(is)) ended.push(drainEnded(actor, is, position));
  if (is.hasTag('capacityReleased') && !was?.hasTag('capacityReleased')) ended.push(launchEnded(actor, is, position));
  return ended;
}

const isDraining = (scope: ScopeSnapshot): boolean =>
  ['quiescing', 'signalling', 'awaitingProof'].includes(scope.value.termination);

function goalEnded(actor: ActorAddress, { context }: GoalSnapshot, until: number): Ended {
  const { status, occurrence, round, revision, nodeId, repoId } = context;
  const attributes = {
    'custody.goal.id': actor.id,
    'custody.goal.outcome': status,
    'custody.goal.occurrence': occurrence.n,
    'custody.goal.round': round,
    'custody.goal.revision': revision,
    'custody.node.id': nodeId,
    ...(repoId === null ? {} : { 'custody.repository.id': repoId }),
  };
  return {
    ...{ life: { kind: 'goal', id: actor.id }, name: 'goal', actor, from: undefined },
    until,
    attributes,
    failed: undefined,
  };
}

/** Work for a Goal is in the Goal's trace, below it. */
const launchOf = (id: string, { context: { goalId } }: ScopeSnapshot): Life =>
  goalId === null ? { kind: 'launch', id } : { kind: 'launch', id, parent: { kind: 'goal', id: goalId } };

function scopeAttributes(id: string, { context }: ScopeSnapshot): Attributes {
  const { kind, runId, goalId, generationId, parentScopeId } = context;
  const links = { run: runId, goal: goalId, worktree: generationId, 'scope.parent': parentScopeId };
  const known = Object.entries(links).filter(
    (link): link is [string, string & NonNullable<(typeof link)[1]>] => link[1] !== null,
  );
  return {
    'custody.scope.id': id,
    'custody.scope.kind': kind,
    ...Object.fromEntries(known.map(([name, value]) => [`custody.${name}.id`, value])),
  };
}

function launchEnded(actor: ActorAddress, scope: ScopeSnapshot, until: number): Ended {
  const { proof, status, released } = scope.context;
  const attributes = {
    ...scopeAttributes(actor.id, scope),
    'custody.scope.released': released,
    'custody.scope.proof': proof?.kind ?? 'none',
    ...(status === null ? {} : { 'custody.root.how': status.how }),
    ...(status?.code == null ? {} : { 'custody.root.code': status.code }),
    ...(status?.signal == null ? {} : { 'custody.root.signal': status.signal }),
  };
  const failed = proof?.kind === 'never_launched' ? 'never_launched' : undefined;
  return { life: launchOf(actor.id, scope), name: 'launch', actor, from: undefined, until, attributes, failed };
}

function drainEnded(actor: ActorAddress, scope: ScopeSnapshot, until: number): Ended {
  const { drain } = scope.context;
  const { termination } = scope.value;
  const attributes = {
    ...scopeAttributes(actor.id, scope),
    'custody.drain.outcome': termination,
    'custody.drain.cause': drain?.cause ?? 'unknown',
    'custody.drain.attempt': drain?.attempts ?? 0,
  };
  const life: Life = { kind: 'drain', id: `${actor.id} ${drain?.attempts ?? 0}`, parent: launchOf(actor.id, scope) };
  const failed = termination === 'stalled' ? 'stalled' : undefined;
  return { life, name: 'drain', actor, from: 'drain.requested', until, attributes, failed };
}

/** Span events per span, and rows per look: as many as SDKs keep of them. */
const eventsAtMost = 128;

type Journal = Pick<JournalTable, 'page'>;

/** Where and when something was journaled; a damaged row says neither. */
interface Told {
  readonly type: string;
  readonly outcome: JournaledOutcome;
  readonly position: number;
  readonly wallMs: number;
}

export function tell(
  { life, name, actor, from, until, attributes, failed }: Ended,
  tracer: Tracer,
  journal: Journal,
): void {
  const upToEnd = { actor, newestFirst: true, after: until + 1, limit: eventsAtMost };
  const beginning = from === undefined ? firstOf(journal, actor) : lastChange(journal.page({ ...upToEnd, type: from }));
  const lived = intact(journal.page(upToEnd))
    .filter(({ position }) => position >= (beginning?.position ?? 0))
    .reverse();
  const first = (beginning ?? lived[0])?.wallMs;
  const last = lived.at(-1)?.wallMs;
  if (first === undefined || last === undefined) return;
  const span = tracer.startSpan(`custody.${name}`, { startTime: first, attributes }, contextOf(life));
  for (const { type, wallMs, position, outcome } of lived)
    span.addEvent(type, { 'custody.position': position, 'custody.outcome': outcome }, wallMs);
  if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failed });
  span.end(Math.max(first, last));
}

const intact = (entries: readonly JournalEntry[]): readonly Told[] =>
  entries.flatMap((entry) =>
    entry.intact ? [{ ...entry, wallMs: (entry.envelope as HostedEnvelope).at.wallMs }] : [],
  );

/** A checkpoint of the journal leaves the first event of every actor (RET-02). */
const firstOf = (journal: Journal, actor: ActorAddress): Told | undefined =>
  intact(journal.page({ actor, limit: 1 }))[0];

/** Of entries that stand newest first: a repeat changes nothing, and so begins nothing. */
const lastChange = (entries: readonly JournalEntry[]): Told | undefined =>
  intact(entries).find(({ outcome }) => outcome === 'changed');
