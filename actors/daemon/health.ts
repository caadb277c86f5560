/** The one health value (REC-08): status, processes, doctor and recover show views of this and compute nothing of their own. */
import { assessOwnership } from '../../machines/assessment.ts';
import { canonicalDigest } from '../../machines/canonical.ts';
import type { StoreError } from '../../persistence/errors.ts';
import type { HostedEnvelope } from '../host/outcome.ts';
import { everyActor, intact } from '../runtime/actorAccess.ts';
import { lastResort, nestedResort } from '../runtime/lastResort.ts';
import type { FindingView, HealthView, WorkerView } from './api/views.ts';
import type { DaemonContext } from './context.ts';
import { silence } from './guardianTalk.ts';
import { shutdownFailureOf } from './root.ts';

type Parts = Pick<DaemonContext, 'host' | 'store' | 'findings' | 'storeFailure' | 'workers' | 'root'>;

const silentCodes: ReadonlySet<string> = new Set([silence, 'guardian_stopped']);

export function healthOf({ host, store, findings, storeFailure, workers, root }: Parts): HealthView {
  const unverified: FindingView[] = [];
  const assumed: FindingView[] = [];
  for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false })) {
    const assessment = assessOwnership(snapshot);
    if (assessment.state !== 'unverified') continue;
    const context = snapshot === 'corrupt' ? undefined : snapshot.context;
    const isAssumed = assessment.assumed !== undefined;
    (isAssumed ? assumed : unverified).push({
      code: isAssumed ? 'ownership_assumed' : 'ownership_unverified',
      scopeId: id,
      ...(context?.runId ? { runId: context.runId } : {}),
      ...(context?.workload ? { pid: context.workload.pid } : {}),
      ...sinceWhen(store, id),
      detail: isAssumed
        ? `assumed to be gone and not proved: ${assessment.assumed.because}`
        : `not proved to be gone (${assessment.certainty}): ${assessment.reason.replaceAll('_', ' ')}`,
      // Nothing is left to be done about what somebody answers for; it stays listed for good.
      next: isAssumed
        ? []
        : [
            ...nestedResort(context?.parentScopeId, assessment),
            'custody processes --all',
            'custody doctor',
            ...lastResort(id, assessment),
          ],
    });
  }
  const worker = workers.view();
  const others = [
    ...stopReasons(root),
    ...storeReasons(storeFailure()),
    ...findings.list(),
    ...workerReasons(worker),
    ...doorReasons(worker),
    ...heldReasons(worker),
  ];
  // What came of the work says nothing about the health of this installation; people look for it here all the same.
  const reasons = [...unverified, ...others, ...assumed, ...failedGoals({ host, store })];
  const isSilent = others.some(({ code }) => silentCodes.has(code));
  const state =
    unverified.length > 0 ? 'ownership_unverified' : isSilent ? 'unresponsive' : others.length > 0 ? 'degraded' : 'ok';
  return { state, digest: digestOf(state, reasons), reasons, next: [...new Set(reasons.flatMap(({ next }) => next))] };
}

/** Without what is worded by the clock: how long something has lasted, or will. */
function digestOf(state: HealthView['state'], reasons: readonly FindingView[]): string {
  return canonicalDigest({ state, reasons: reasons.map(({ since: _since, detail: _detail, ...reason }) => reason) });
}

/** What takes a scope out of sight; the newest of them is since when it is (REC-05). */
const losses = ['guardian.observed', 'coverage.gap', 'scope.registeredExternally'] as const;

function sinceWhen({ journal }: Parts['store'], id: string): { readonly since?: number } {
  const actor = { kind: 'executionScope', id };
  const newest = losses.flatMap((type) => journal.page({ actor, type, limit: 1, newestFirst: true }));
  const times = newest.flatMap((entry) => (entry.intact ? [(entry.envelope as HostedEnvelope).at.wallMs] : []));
  return times.length === 0 ? {} : { since: Math.max(...times) };
}

/** Why a worker that is wanted does not work, with the commands that say more (REC-05). */
function workerReasons({ wanted, state, pid, recovery }: WorkerView): readonly FindingView[] {
  const next = ['custody recover --explain', 'custody processes', 'custody doctor'];
  const { phase, evidence, retryInMs } = recovery;
  const trouble = evidence.at(-1);
  if (phase === 'refused' && trouble !== undefined) {
    const [scopeId] = trouble.scopeIds;
    const when = retryInMs === null ? '' : `; the next attempt is due in ${retryInMs} ms`;
    const detail = `the scheduling worker is not replaced: ${trouble.reason} in ${trouble.phase}${when}`;
    return [
      { code: 'recovery_refused', ...(scopeId ? { scopeId } : {}), detail, next: ['custody recover --now', ...next] },
    ];
  }
  if (phase === 'unreadable') {
    const detail = 'the record of how the scheduling worker is replaced is damaged; none is launched';
    return [{ code: 'recovery_unreadable', detail, next: ['custody doctor', 'restore the last `custody backup`'] }];
  }
  if (!wanted || state !== 'stalled') return [];
  const detail = 'the scheduling worker is silent; it is ended and replaced once that is proved';
  return [{ code: 'worker_stalled', ...(pid === null ? {} : { pid }), detail, next }];
}

const doorReasons = ({ doorTrouble }: WorkerView): readonly FindingView[] =>
  doorTrouble === null
    ? []
    : [
        {
          code: 'worker_unreachable',
          detail: `the scheduling worker cannot reach the daemon: its socket cannot be made (${doorTrouble})`,
          next: ['custody doctor', 'custody recover --explain'],
        },
      ];

const heldReasons = ({ heldBack }: WorkerView): readonly FindingView[] =>
  heldBack.map(({ goalId, reason, retryInMs }) => ({
    code: 'check_held_back',
    detail: `the check of Goal ${goalId} could not be begun: ${reason}; the next attempt is due in ${retryInMs} ms`,
    next: [`custody goals show ${goalId}`, 'custody events'],
  }));

/** Looked at for it, the newest: health is asked for often, and a record has to be read for its status. */
const goalsLookedAt = 256;

/** Those that have failed and that nobody has given up; the newest, and how many more there are. */
function failedGoals({ host, store }: Pick<Parts, 'host' | 'store'>): readonly FindingView[] {
  const looked = store.actors.list('goal', { settled: false, newestFirst: true, limit: goalsLookedAt });
  const failed = looked.filter(({ id }) => {
    const goal = intact(host, 'goal', id);
    return goal !== undefined && goal !== 'corrupt' && goal.context.status === 'failed';
  });
  const named = failed.slice(0, namedAtMost).map(({ id }) => ({
    code: 'goal_failed',
    detail: `Goal ${id} has failed and stays so until it is given up`,
    next: [`custody explain ${id}`],
  }));
  const more = failed.length - named.length;
  if (more === 0) return named;
  const detail = `${looked.length === goalsLookedAt ? 'at least ' : ''}${more} older Goals have failed as well`;
  return [...named, { code: 'goal_failed', detail, next: ['custody goals list --status failed'] }];
}

const storeReasons = (failure: StoreError | undefined): readonly FindingView[] =>
  failure === undefined ? [] : [{ code: failure.code, detail: failure.message, next: failure.next }];

const namedAtMost = 8;

/** A stop that came to nothing: the daemon is up, launches nothing, and waits for a person (SHUT-06). */
function stopReasons(root: Parts['root']): readonly FindingView[] {
  const failure = shutdownFailureOf(root);
  if (failure === null) return [];
  const { reason, scopeIds } = failure;
  const [first] = scopeIds;
  const named = scopeIds.slice(0, namedAtMost).join(', ');
  const more = scopeIds.length > namedAtMost ? ` and ${scopeIds.length - namedAtMost} more` : '';
  const what = scopeIds.length === 0 ? reason : `${reason}: ${named}${more}`;
  return [
    {
      code: 'drain_blocked',
      ...(first === undefined ? {} : { scopeId: first }),
      detail: `the daemon was told to stop and stays (${what}); nothing is launched meanwhile`,
      next: ['custody daemon stop', 'custody resume'],
    },
  ];
}
