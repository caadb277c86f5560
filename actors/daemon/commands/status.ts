/** The installation at a glance, and every scope that is still owned. */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { ScopeView, StatusView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { healthOf } from '../health.ts';
import { slotsInUse } from '../launch/admission.ts';
import type { RecoveryCounts } from '../recovery.ts';
import { admissionOf, lifecycleOf } from '../root.ts';
import { scopeView, statePath } from '../views/scopeView.ts';
import { censusOf } from './census.ts';

export async function status(
  context: DaemonContext & { readonly recovered: RecoveryCounts },
): Promise<Answer<StatusView>> {
  const { host, store, config, clock } = context;
  const open = [...everyActor(host, 'executionScope', { released: false })];
  await askGuardians(
    context,
    open.flatMap(({ snapshot }) => (snapshot === 'corrupt' ? [] : [snapshot])),
  );
  const health = healthOf(context);
  const used = slotsInUse(context);
  const unverified = open.filter(({ snapshot }) => assessOwnership(snapshot).state === 'unverified').length;
  const runs = [...everyActor(host, 'run', { settled: false })];
  const data: StatusView = {
    health,
    worker: context.workers.view(),
    capacity: { used: used.length, limit: config.capacity, scopeIds: used.map(({ scopeId }) => scopeId) },
    admission: admissionOf(context.root),
    lifecycle: lifecycleOf(context.root),
    counts: {
      // What is over is counted by the index: an old installation has far more of it than anybody reads here.
      goals: {
        ...countBy(everyActor(host, 'goal', { settled: false }), (goal) => goal.context.status),
        ...overGoals(store),
      },
      runs: {
        active: runs.length,
        unresolved: runs.filter(
          ({ snapshot }) => snapshot !== 'corrupt' && snapshot.matches({ lifecycle: { reserved: 'unresolved' } }),
        ).length,
      },
      worktrees: countBy(everyActor(host, 'worktreeGeneration', { settled: false }), (generation) =>
        statePath(generation.value.lifecycle),
      ),
      scopes: { live: open.length - unverified, unverified },
    },
    coverageClass: coverageOf(context),
    daemon: {
      pid: process.pid,
      version: context.version,
      startNumber: store.startNumber,
      uptimeMs: Math.round(clock.monoMs() - context.startedMonoMs),
      adopted: context.recovered.adopted,
    },
  };
  return { data, exitCode: health.state === 'ownership_unverified' ? 5 : 0 };
}

/** Nobody has to tell of what somebody else starts; so it is guarded only where nobody else is known to be in control. */
function coverageOf({ host, store }: Pick<DaemonContext, 'host' | 'store'>): StatusView['coverageClass'] {
  if (store.coverageGaps.count().open > 0) return 'incomplete';
  const isWatched = (snapshot: GenerationSnapshot | 'corrupt') =>
    snapshot === 'corrupt' || snapshot.matches({ authority: 'observe' });
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', { released: false }))
    if (isWatched(snapshot)) return 'best_effort';
  return store.producers.list().length > 0 ? 'best_effort' : 'guarded';
}

function overGoals(store: DaemonContext['store']): Readonly<Record<string, number>> {
  const over = store.actors.count('goal', { settled: true });
  return over === 0 ? {} : { over };
}

function countBy<Snapshot>(
  actors: Iterable<{ readonly snapshot: Snapshot | 'corrupt' }>,
  word: (snapshot: Snapshot) => string,
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { snapshot } of actors) {
    const key = snapshot === 'corrupt' ? 'corrupt' : word(snapshot as Snapshot);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** Guardians asked at once; a machine with thousands of scopes is not flooded with connections. */
const askedAtOnce = 64;

async function askGuardians(
  context: DaemonContext,
  scopes: readonly ScopeSnapshot[],
): Promise<ReadonlyMap<string, Awaited<ReturnType<DaemonContext['guardians']['members']>>>> {
  const answers = new Map<string, Awaited<ReturnType<DaemonContext['guardians']['members']>>>();
  const guarded = scopes.filter(
    (scope) => scope.matches({ coverage: 'live' }) || scope.matches({ coverage: 'unverified' }),
  );
  for (let at = 0; at < guarded.length; at += askedAtOnce) {
    const batch = guarded.slice(at, at + askedAtOnce);
    const members = await Promise.all(batch.map(({ context: { scopeId } }) => context.guardians.members(scopeId)));
    for (const [index, scope] of batch.entries()) answers.set(scope.context.scopeId, members[index]);
  }
  return answers;
}

export async function processes(
  context: DaemonContext,
  args: ParsedArguments<'processes'>,
): Promise<Answer<CallResults['processes']>> {
  const listed = [...everyActor(context.host, 'executionScope', args.released ? {} : { released: false })];
  const intact = listed.flatMap(({ snapshot }) => (snapshot === 'corrupt' ? [] : [snapshot]));
  const members = await askGuardians(context, intact);
  const scopes = listed.map(({ id, snapshot }) =>
    snapshot === 'corrupt' ? corruptView(id) : scopeView(context, snapshot, members.get(id)),
  );
  const census = args.all ? censusOf(context) : null;
  return {
    data: { scopes, census },
    exitCode: scopes.some(({ assessment }) => assessment.state === 'unverified') ? 5 : 0,
  };
}

const corruptView = (scopeId: string): ScopeView => ({
  scopeId,
  kind: 'guardian',
  purpose: null,
  parentScopeId: null,
  runId: null,
  generationId: null,
  goalId: null,
  assessment: assessOwnership('corrupt'),
  coverage: 'unreadable',
  workload: 'unreadable',
  termination: 'unreadable',
  summary: 'its stored record cannot be used; it keeps its slot',
  holdsSlot: true,
  guardianPid: null,
  workloadPid: null,
  unresponsiveSince: null,
  delegators: [],
  members: null,
  membersTotal: null,
  receipts: { start: false, status: false, exit: false },
});
