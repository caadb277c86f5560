/**
 * Ends one scope (C.11-4): a launch that was not released is abandoned behind its gate; a guarded tree is ended by its
 * guardian, which alone can freeze, kill and wait for it; what a lost guardian left behind is signalled by verified
 * identity, which may end processes and never proves anything. Repeatable: a guardian that is draining already is joined,
 * so a daemon that leaves lets it go on, and its successor takes the order up again. The chart takes one order at a time;
 * whoever asks again with a shorter grace is heard by the guardian, where it only ever comes nearer. Orders for trees of
 * which one lies inside the other are carried out one after the other (treeLocks.ts).
 */
import { join } from 'node:path';
import type { EffectParams } from '../../machines/effects.ts';
import type { Payload } from '../../machines/events/catalogue.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { type ControlClient, controlClient } from '../../pty/launch/control.ts';
import { ControlError } from '../../pty/launch/controlError.ts';
import type { DrainEvent } from '../../pty/launch/controlMessages.ts';
import { committed, intact } from '../runtime/actorAccess.ts';
import { createSequence, type Runtime } from '../runtime/runtime.ts';
import { draft } from '../runtime/submission.ts';
import { endWitnesses, grace } from './endWitnesses.ts';
import { Graces } from './graces.ts';
import { livingRegistered } from './registered.ts';
import { TreeLocks } from './treeLocks.ts';

export interface DrainParts
  extends Pick<Runtime, 'host' | 'store' | 'adapter' | 'places' | 'guardian' | 'config' | 'log' | 'clock' | 'leaving'> {
  /** Reads the receipts of a scope now and commits what is authentic. */
  readonly receipts: { look(scopeId: string): Promise<unknown> };
  /** Closes the gate of a launch that was not released; a launch that is over already is left alone. */
  readonly launches: { abandon(scopeId: string, reason: string): Promise<void> };
}

type Order = EffectParams['drainScope'];
export type DrainBounds = Pick<Order, 'scopeId' | 'graceMs' | 'budgetMs'>;
type Fact = 'drain.quiesced' | 'drain.signalled' | 'drain.budgetExhausted' | 'drain.inspectionFailed';

const by = 'drain-executor';

export interface DrainExecutor {
  drain(order: Order): Promise<void>;
  /** Brings the end of a grace nearer that is being waited out; says nothing to the scope, and cannot prolong anything. */
  shorten(bounds: DrainBounds): Promise<void>;
}

export function createDrainExecutor(parts: DrainParts): DrainExecutor {
  const report = createReporter(parts);
  const means: Means = { parts, report, graces: new Graces(parts.clock), locks: new TreeLocks(), deferred: new Map() };
  return {
    drain: (order) => drain(order, means),
    async shorten(bounds) {
      const deferred = means.deferred.get(bounds.scopeId);
      if (deferred !== undefined) {
        // Nothing has begun: the guardian must not hear of it before its turn.
        means.deferred.set(bounds.scopeId, Math.min(deferred, bounds.graceMs));
        return;
      }
      means.graces.shorten(bounds.scopeId, bounds.graceMs);
      const scope = committed(parts.host, 'executionScope', bounds.scopeId);
      if (scope === undefined || isOver(scope) || scope.context.released === 'no') return;
      await shortenByGuardian(parts, bounds);
    },
  };
}

interface Means {
  readonly parts: DrainParts;
  readonly report: Reporter;
  readonly graces: Graces;
  readonly locks: TreeLocks;
  /** The grace of each order that waits for its turn. */
  readonly deferred: Map<string, number>;
}

async function drain(order: Order, means: Means): Promise<void> {
  const { parts, locks, deferred } = means;
  const { scopeId } = order;
  const scope = committed(parts.host, 'executionScope', scopeId);
  if (scope === undefined || isOver(scope)) return;
  if (scope.context.released === 'no' && scope.context.kind !== 'external' && !isUnverified(scope)) {
    // A tree that is held before its first instruction freezes nobody and is frozen by nobody.
    return parts.launches.abandon(scopeId, 'drain_requested');
  }
  deferred.set(scopeId, order.graceMs);
  try {
    await locks.during(outwards(parts, scope), parts.leaving, async () => {
      const graceMs = deferred.get(scopeId) ?? order.graceMs;
      deferred.delete(scopeId);
      await endTree({ ...order, graceMs }, means);
    });
  } finally {
    deferred.delete(scopeId);
  }
}

/** The scope and everything around it, as far as that is known. */
function outwards({ host }: DrainParts, scope: ScopeSnapshot): string[] {
  const path = [scope.context.scopeId];
  let { parentScopeId } = scope.context;
  while (parentScopeId !== null && !path.includes(parentScopeId)) {
    path.push(parentScopeId);
    const parent = intact(host, 'executionScope', parentScopeId);
    parentScopeId = parent === undefined || parent === 'corrupt' ? null : parent.context.parentScopeId;
  }
  return path;
}

async function endTree(order: Order, means: Means): Promise<void> {
  const { parts, report } = means;
  const scope = committed(parts.host, 'executionScope', order.scopeId);
  // The end of a tree around it may have taken it along while it waited.
  if (scope === undefined || isOver(scope)) return;
  if (scope.context.kind === 'external') return withoutGuardian(order, scope, means);
  try {
    await byGuardian(parts, order, report);
  } catch (error) {
    parts.leaving.throwIfAborted();
    if (!(error instanceof ControlError)) throw error;
    await withoutAnswer(order, error, means);
  }
}

/** Others have launched it: what is registered is ended, and no proof can come of that (SHUT-07). */
async function withoutGuardian({ scopeId, graceMs }: Order, scope: ScopeSnapshot, means: Means): Promise<void> {
  const { parts, report, graces } = means;
  const processes = livingRegistered(parts, scope);
  await graces.during(scopeId, graceMs, (untilMonoMs) => endWitnesses(parts, { scopeId, processes }, untilMonoMs));
  return report(scopeId, 'drain.inspectionFailed', { reasonCode: 'no_guardian', resumed: 0 });
}

const isUnverified = (scope: ScopeSnapshot): boolean => scope.matches({ coverage: 'unverified' });
const isOver = (scope: ScopeSnapshot): boolean => scope.hasTag('capacityReleased');

/** Commits one fact about the drain of a scope; each is a new one, also when the same happens again. */
type Reporter = <Type extends Fact>(scopeId: string, type: Type, payload: Payload<Type>) => Promise<void>;

function createReporter({ host, store }: DrainParts): Reporter {
  const nextId = createSequence(store);
  return async (scopeId, type, payload) => {
    await host.submit([
      draft(type, { to: ['executionScope', scopeId], payload, by, eventId: nextId(`${type}:${scopeId}`) }),
    ]);
  };
}

async function byGuardian(parts: DrainParts, { scopeId, graceMs, budgetMs }: Order, report: Reporter): Promise<void> {
  const { clock, leaving } = parts;
  const startedMonoMs = clock.monoMs();
  const client = await controlClient(join(parts.places.scopesDir, scopeId), {
    timeoutMs: parts.config.responseMs + 1_000,
  });
  // The next event may be a grace away.
  const leave = () => client.close();
  leaving.addEventListener('abort', leave);
  try {
    for await (const event of client.terminate({ graceMs, budgetMs })) {
      if (event.event === 'settled') await parts.receipts.look(scopeId);
      else await record(scopeId, event, { report, elapsedMs: Math.round(clock.monoMs() - startedMonoMs) });
      // Not before the guardian has been told: a drain that is asked for while the daemon leaves begins all the same.
      leaving.throwIfAborted();
    }
  } finally {
    leaving.removeEventListener('abort', leave);
    client.close();
  }
}

/** The drain itself is followed by whoever ordered it, and so is a guardian that gives no answer. */
async function shortenByGuardian({ places, config }: DrainParts, { scopeId, ...bounds }: DrainBounds): Promise<void> {
  let client: ControlClient | undefined;
  try {
    client = await controlClient(join(places.scopesDir, scopeId), { timeoutMs: config.responseMs + 1_000 });
    for await (const _accepted of client.terminate(bounds)) return;
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
  } finally {
    client?.close();
  }
}

type Progress = Exclude<DrainEvent, { event: 'settled' }>;

async function record(
  scopeId: string,
  event: Progress,
  { report, elapsedMs }: { report: Reporter; elapsedMs: number },
): Promise<void> {
  switch (event.event) {
    case 'accepted':
      return;
    case 'quiesced':
      return report(scopeId, 'drain.quiesced', {
        members: Object.fromEntries(event.members),
        total: event.total,
        scans: event.scans,
      });
    case 'signalled':
      return report(scopeId, 'drain.signalled', { signalled: event.total, skippedGuardians: event.skippedGuardians });
    case 'budgetExhausted':
      return report(scopeId, 'drain.budgetExhausted', {
        elapsedMs,
        survivors: event.survivors,
        ...(event.guardians.length > 0 && { guardians: Object.fromEntries(event.guardians) }),
      });
  }
}

/** The guardian gave no account of itself. Its receipts are asked first, then the kernel; silence is no answer. */
async function withoutAnswer(order: Order, error: ControlError, { parts, report, graces }: Means): Promise<void> {
  const { scopeId, graceMs } = order;
  await parts.receipts.look(scopeId);
  const scope = committed(parts.host, 'executionScope', scopeId);
  if (scope === undefined || isOver(scope)) return;
  if (await isGuardianGone(parts, scope, error)) {
    const { workload } = scope.context;
    const processes = workload === null ? [] : [workload];
    await graces.during(scopeId, graceMs, (untilMonoMs) => endWitnesses(parts, { scopeId, processes }, untilMonoMs));
    return report(scopeId, 'drain.inspectionFailed', { reasonCode: 'guardian_gone', resumed: 0 });
  }
  const reasonCode = error.code === 'unresponsive' ? 'guardian_unresponsive' : 'guardian_unreachable';
  parts.log.warn({ scopeId, reasonCode }, 'the guardian did not answer a drain');
  return report(scopeId, 'drain.inspectionFailed', { reasonCode, resumed: 0 });
}

/** A guardian that dies closes its socket first and is there for a moment longer. */
const dyingMs = 2_000;

async function isGuardianGone(parts: DrainParts, { context }: ScopeSnapshot, { code }: ControlError): Promise<boolean> {
  const { guardian } = context;
  // One that accepted the connection and says nothing is there, whichever of its two processes is left to be stopped.
  if (guardian === null || code === 'unresponsive') return false;
  const isGone = () => parts.adapter.observe(guardian).result === 'ended';
  const untilMonoMs = parts.clock.monoMs() + dyingMs;
  await grace(parts, () => untilMonoMs, isGone);
  return isGone();
}
