/**
 * The lane that looks at recorded processes: guardians of every scope that is not proved, and the process of a run whose
 * guardian cannot be counted on for a status. What it sees is committed against the version that it looked for (CONC-03);
 * what has not changed since is not written again (RET-01).
 */
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { Draft } from '../../host/outcome.ts';
import { guardianFacts } from '../../observe/facts.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import type { DueProcess, Observed } from '../../observe/streams/observations.ts';
import { type ObservedRuns, processDrafts } from '../../reconcile/observedRuns.ts';
import { everyActor, intact, type SnapshotOf } from '../../runtime/actorAccess.ts';
import { createSequence, type Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { retryPauses } from '../config.ts';
import type { Findings } from '../findings.ts';
import type { GuardianTalk } from '../guardianTalk.ts';
import type { ReceiptService } from './receiptService.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log' | 'config' | 'adapter'> & {
  readonly findings: Findings;
  readonly receipts: ReceiptService;
  readonly guardians: GuardianTalk;
  /** Runs that somebody else launched; they come after everything of ours. */
  readonly observed: Pick<ObservedRuns, 'due' | 'deliver'>;
};

export interface ObservationService {
  due(cursor: string | null, limit: number): readonly DueProcess[];
  deliver(observed: readonly Observed[]): Promise<void>;
}

/**
 * A guardian that is seen alive again and again is looked at less often, down to once in so many passes: what it has to
 * say comes as a receipt, which the kernel announces. Any change of its scope has it looked at in the next pass.
 */
const calmIntervals = 5;

/** Keys sort guardians before workloads, so that a pass knows the guardian before it asks about the root. */
const guardianKey = (scopeId: string): string => `a:${scopeId}`;
const workloadKey = (runId: string): string => `b:${runId}`;
const observedPrefix = 'c:';

export function createObservationService(parts: Parts): ObservationService {
  const { host, store, clock, config, adapter, findings, receipts, guardians, observed: elsewhere } = parts;
  const stalled = new Backoff(retryPauses(config));
  const nextId = createSequence(store);
  const calm = new Backoff({ firstMs: config.observeIntervalMs, longestMs: calmIntervals * config.observeIntervalMs });
  const watched = new WatchedScopes(host, {
    isDue: (scopeId) => calm.isDue(scopeId, clock.monoMs()),
    changed: (scopeId) => calm.reset(scopeId),
    left: ({ context: { guardian } }) => guardian && adapter.unpin(guardian),
  });

  async function deliver(observed: readonly Observed[]): Promise<void> {
    const drafts: Draft[] = [];
    const [theirs, ours] = divided(observed);
    if (theirs.length > 0) await elsewhere.deliver(theirs);
    for (const one of ours) {
      const id = one.key.slice(2);
      drafts.push(
        ...(one.key.startsWith('a:') ? await guardianDrafts(id, one) : processDrafts({ host, nextId }, id, one)),
      );
    }
    if (drafts.length > 0) await Promise.all(drafts.map((single) => host.submit([single])));
  }

  async function guardianDrafts(scopeId: string, { identity, sample }: Observed): Promise<Draft[]> {
    if (openScope(host, scopeId) === undefined) return [];
    noteResponsiveness(findings, scopeId, sample.result === 'alive' && sample.reason === 'stopped');
    // A guardian leaves right after its exit receipt: its absence is asked about there first.
    if (sample.result === 'ended') await receipts.look(scopeId);
    const scope = openScope(host, scopeId);
    if (scope === undefined) return [];
    // It will be looked at in every pass until its scope is over.
    if (sample.result === 'alive') adapter.pin(identity);
    const again = await drainAgain(scope, sample);
    const facts = guardianFacts(sample);
    if (isKnown(scope, facts)) {
      if (isCalm(scope, facts)) calm.later(scopeId, clock.monoMs());
      return again;
    }
    const to = ['executionScope', scopeId] as const;
    const eventId = nextId(`go:${scopeId}`);
    return [draft('guardian.observed', { to, payload: facts, by: 'reconciler', eventId }), ...again];
  }

  /**
   * An end that was asked for and stalled is asked for again while the guardian lives, with a growing pause (L-02). Of one
   * whose recorded process has gone the other one may be left (linux case 22), which only its answer shows.
   */
  async function drainAgain(scope: ScopeSnapshot, sample: Observed['sample']): Promise<Draft[]> {
    const { scopeId, drain } = scope.context;
    if (drain === null || !scope.matches({ termination: 'stalled' })) return [];
    const nowMonoMs = clock.monoMs();
    if (!isAbleToDrain(sample) && sample.result !== 'ended') return [];
    if (!stalled.isDue(scopeId, nowMonoMs)) return [];
    stalled.later(scopeId, nowMonoMs);
    if (sample.result === 'ended' && (await guardians.members(scopeId)) === undefined) return [];
    const payload = { cause: drain.cause, requestId: drain.requestId };
    const to = ['executionScope', scopeId] as const;
    return [draft('drain.requested', { to, payload, by: 'reconciler', eventId: nextId(`dr:${scopeId}`) })];
  }

  return { due: oursThenTheirs(watched, elsewhere), deliver };
}

/** Alive and silent are two facts; this one is shown and moves nothing (ruling 9, D3). */
function noteResponsiveness(findings: Findings, scopeId: string, isStopped: boolean): void {
  if (!isStopped) findings.clear(scopeId, 'guardian_stopped');
  else findings.add({ scopeId, code: 'guardian_stopped', detail: 'its guardian is alive and does not run (stopped)' });
}

/** Undefined also where the record is damaged: nothing can be observed for it, and everybody else is (OWN-10). */
function readable<Kind extends 'run' | 'executionScope'>(
  host: Parts['host'],
  kind: Kind,
  id: string,
): SnapshotOf[Kind] | undefined {
  const snapshot = intact(host, kind, id);
  return snapshot === 'corrupt' ? undefined : snapshot;
}

/** A scope that was proved while it was looked at needs no observation and no finding any more. */
function openScope(host: Parts['host'], scopeId: string): ScopeSnapshot | undefined {
  const scope = readable(host, 'executionScope', scopeId);
  return scope?.hasTag('capacityReleased') ? undefined : scope;
}

/** A guardian that was attached is taken to be running until something else is seen. */
const attached = { result: 'alive', reason: 'running' } as const;

const isAbleToDrain = ({ result, reason }: Observed['sample']): boolean => result === 'alive' && reason !== 'stopped';

function isKnown(scope: ScopeSnapshot, facts: { readonly result: string; readonly reason: string }): boolean {
  // In a gap nothing that is seen of the guardian changes anything.
  if (scope.matches({ coverage: { unverified: 'gap' } })) return true;
  const last = scope.context.guardianLast ?? attached;
  return last.result === facts.result && last.reason === facts.reason;
}

function oursThenTheirs(ours: WatchedScopes, theirs: Parts['observed']): ObservationService['due'] {
  return (cursor, limit) => {
    const isPast = cursor?.startsWith(observedPrefix) ?? false;
    const first = isPast ? [] : ours.due(cursor, limit);
    if (first.length === limit) return first;
    const after = isPast ? cursor!.slice(observedPrefix.length) : null;
    const rest = theirs.due(after, limit - first.length);
    return [...first, ...rest.map((one) => ({ ...one, key: observedPrefix + one.key }))];
  };
}

/** What belongs to runs that others launched, by the keys that those have; and the rest. */
function divided(observed: readonly Observed[]): readonly [readonly Observed[], readonly Observed[]] {
  const isTheirs = ({ key }: Observed) => key.startsWith(observedPrefix);
  const theirs = observed.filter(isTheirs).map((one) => ({ ...one, key: one.key.slice(observedPrefix.length) }));
  return [theirs, observed.filter((one) => !isTheirs(one))];
}

/** Runs, and nobody waits for anything of it. */
const isCalm = (scope: ScopeSnapshot, { reason }: { readonly reason: string }): boolean =>
  reason === attached.reason && scope.matches({ termination: 'idle' });

interface ScopeWatcher {
  isDue(scopeId: string): boolean;
  changed(scopeId: string): void;
  left(scope: ScopeSnapshot): void;
}

/** Unreleased scopes by key, kept from commits: a pass costs what is due and nothing for what is over (OBS-11). */
class WatchedScopes {
  readonly #host: Parts['host'];
  readonly #watcher: ScopeWatcher;
  readonly #scopes = new Set<string>();
  #keys: readonly string[] | undefined;

  constructor(host: Parts['host'], watcher: ScopeWatcher) {
    this.#host = host;
    this.#watcher = watcher;
    for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false })) {
      if (snapshot !== 'corrupt') this.#scopes.add(id);
    }
    host.onCommit((records) => {
      for (const { actor, after } of records) {
        if (actor.kind !== 'executionScope') continue;
        this.#keys = undefined;
        watcher.changed(actor.id);
        if (!after.hasTag('capacityReleased')) {
          this.#scopes.add(actor.id);
          continue;
        }
        this.#scopes.delete(actor.id);
        watcher.left(after as ScopeSnapshot);
      }
    });
  }

  due(cursor: string | null, limit: number): readonly DueProcess[] {
    this.#keys ??= [...this.#scopes].flatMap((scopeId) => this.#keysOf(scopeId)).sort();
    const due: DueProcess[] = [];
    for (
      let at = cursor === null ? 0 : firstAfter(this.#keys, cursor);
      at < this.#keys.length && due.length < limit;
      at += 1
    ) {
      due.push(...this.#dueOf(this.#keys[at]!));
    }
    return due;
  }

  #keysOf(scopeId: string): string[] {
    const runId = readable(this.#host, 'executionScope', scopeId)?.context.runId;
    return runId ? [guardianKey(scopeId), workloadKey(runId)] : [guardianKey(scopeId)];
  }

  #dueOf(key: string): DueProcess[] {
    const id = key.slice(2);
    if (key.startsWith('a:')) {
      if (!this.#watcher.isDue(id)) return [];
      const identity = readable(this.#host, 'executionScope', id)?.context.guardian;
      return identity ? [{ key, request: { identity } }] : [];
    }
    const run = readable(this.#host, 'run', id);
    const { identity = null, rootScopeId = null } = run?.context ?? {};
    const isOpen = run?.matches({ lifecycle: 'bound' }) ?? false;
    return isOpen && identity !== null && this.#isWithoutWitness(rootScopeId) ? [{ key, request: { identity } }] : [];
  }

  /** A guardian that runs will say more than procfs can: how the root ended, and not only that it did. */
  #isWithoutWitness(scopeId: string | null): boolean {
    const scope = scopeId === null ? undefined : readable(this.#host, 'executionScope', scopeId);
    if (scope === undefined) return true;
    const last = scope.context.guardianLast;
    return scope.matches({ coverage: 'unverified' }) || last?.result === 'absent' || last?.reason === 'stopped';
  }
}

function firstAfter(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
