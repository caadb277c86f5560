/**
 * Carries one launch from the request to the open gate (C.11-3, ruling 6) in two commits: receipt space, then everything
 * that the launch is recorded by; guardian and gated child, then both identities and the release; then the gate byte.
 * Whatever goes wrong before the second commit leaves an image that never ran.
 */
import { join } from 'node:path';
import { identityDigest, type ProcessIdentity } from '../../../machines/identity.ts';
import type { RunId, ScopeId } from '../../../machines/ids.ts';
import { assertNoTransaction } from '../../../persistence/transaction.ts';
import { EvidenceUnavailableError, GuardianLaunchError } from '../../../pty/launch/errors.ts';
import { type Launch, launchGuardian } from '../../../pty/launch/launch.ts';
import type { ReservedSlots } from '../../../pty/launch/slots.ts';
import type { Draft } from '../../host/outcome.ts';
import { committed } from '../actorAccess.ts';
import { OperatingError } from '../operatingError.ts';
import type { Recipe } from '../recipe.ts';
import type { Runtime } from '../runtime.ts';
import { assertAccepted, draft, wasAccepted } from '../submission.ts';
import type { LaunchOutcome, PendingLaunch, PendingLaunches } from './pendingLaunches.ts';
import type { SlotPool } from './slotPool.ts';
import { openStdio } from './stdio.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'adapter' | 'config' | 'places' | 'guardian' | 'log'> & {
  readonly slotPool: SlotPool;
};

const by = 'launch-coordinator';

/** Why a launch ended before its release; each becomes an outcome for the caller and a fact for the scope. */
class LaunchStopped extends Error {
  readonly fact: 'notStarted' | 'abandoned';
  readonly reason: string;

  constructor(fact: LaunchStopped['fact'], reason: string) {
    super(reason);
    this.fact = fact;
    this.reason = reason;
  }
}

export interface LaunchRequest {
  readonly scopeId: string;
  readonly recipe: Recipe;
  /** What the launch is recorded by, up to and including `scope.requested`. */
  readonly drafts: readonly Draft[];
  /** Commands that help where one of them is refused. */
  readonly next: readonly string[];
}

export interface LaunchCoordinator {
  /**
   * Reserves receipt space and commits the request; the effect of that commit carries the launch on. Throws what stands in
   * the way, and nothing is recorded then: no space, no request.
   */
  request(request: LaunchRequest): Promise<PendingLaunch>;
  /** Executor of `launchScope`. Reports by events and never throws for a launch that merely failed. */
  launch(scopeId: string): Promise<void>;
  /** Executor of `openGate`. */
  openGate(scopeId: string): Promise<void>;
  /** Ends a launch that has not been released; the gated child is gone when this resolves (ruling 4). */
  abandon(scopeId: string, reason: string): Promise<void>;
}

export function createLaunchCoordinator(parts: Parts, pendingLaunches: PendingLaunches): LaunchCoordinator {
  const { host, log, slotPool } = parts;

  async function request({ scopeId, recipe, drafts, next }: LaunchRequest): Promise<PendingLaunch> {
    const pending = pendingLaunches.add(scopeId, recipe);
    try {
      pending.slots = await pending.timed('slots', () => slotPool.take(scopeId));
      const all = [...drafts, prepared(scopeId, pending.slots)];
      await pending.timed('reserve commit', async () => assertAccepted(await host.submit(all), next));
      return pending;
    } catch (error) {
      pendingLaunches.drop(scopeId);
      await slotPool.giveBack(scopeId);
      throw error instanceof EvidenceUnavailableError ? evidenceUnavailable(error) : error;
    }
  }

  async function launch(scopeId: string): Promise<void> {
    const pending = pendingLaunches.get(scopeId);
    if (pending === undefined) return abandon(scopeId, 'recipe_lost');
    assertNoTransaction('launch');
    try {
      const started = await pending.timed('handshake', () => pending.start(() => spawn(parts, scopeId, pending)));
      if (started === undefined) throw new LaunchStopped('abandoned', 'drain_requested');
      await pending.timed('release commit', () => release(parts, scopeId, started));
    } catch (error) {
      await giveUp(scopeId, pending, error);
    }
  }

  async function giveUp(scopeId: string, pending: PendingLaunch, error: unknown): Promise<void> {
    await pending.abandon();
    const { fact, reason, code, message, next } = explain(error);
    log.warn({ scopeId, code, reason }, 'launch ended before its release');
    const to = ['executionScope', scopeId] as const;
    try {
      const stopped =
        fact === 'notStarted'
          ? draft('launch.notStarted', { to, payload: { errno: code, phase: reason }, by })
          : draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason }, by });
      await host.submit([stopped]);
    } finally {
      // The caller is answered even when the store takes nothing any more; the resolver then finds the open attempt.
      pending.settle({ kind: 'refused', code, message, next });
    }
  }

  async function openGate(scopeId: string): Promise<void> {
    const pending = pendingLaunches.get(scopeId);
    // Of a former daemon: its link broke, the guardian closed the gate, and the receipts say how it went.
    if (pending?.launch === undefined) return;
    try {
      const opened = await pending.timed('gate', () => pending.launch!.openGate());
      pending.settle('released' in opened ? { kind: 'released' } : { kind: 'execFailed', errno: opened.execFailed });
    } catch (error) {
      pending.settle(await unconfirmed(scopeId, error));
    } finally {
      pending.launch.unref();
      // Nobody waits now: the space of the next launch is prepared.
      void slotPool.fill();
    }
  }

  /** The guardian did not confirm. Either it had given up before the byte came, or nobody can tell (GRD-07). */
  async function unconfirmed(scopeId: string, error: unknown): Promise<LaunchOutcome> {
    const code = error instanceof GuardianLaunchError ? error.code : 'release_uncertain';
    log.warn({ scopeId, code }, 'the gate was not confirmed open');
    if (error instanceof GuardianLaunchError && code === 'not_released') {
      return { kind: 'refused', code, message: error.message, next: error.next };
    }
    const to = ['executionScope', scopeId] as const;
    await host.submit([draft('launch.releaseUncertain', { to, payload: { errno: code }, by })]);
    return { kind: 'released' };
  }

  async function abandon(scopeId: string, reason: string): Promise<void> {
    const pending = pendingLaunches.get(scopeId);
    await pending?.abandon();
    const to = ['executionScope', scopeId] as const;
    await host.submit([draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason }, by })]);
    pending?.settle({
      kind: 'refused',
      code: 'launch_abandoned',
      message: `the launch was abandoned: ${reason}`,
      next: [],
    });
  }

  return { request, launch, openGate, abandon };
}

const scopeDirOf = ({ places }: Parts, scopeId: string): string => join(places.scopesDir, scopeId);

/** The fact that marks the one attempt of this scope (ruling 8): which files its receipts will be. */
function prepared(scopeId: string, { start, status, exit }: ReservedSlots): Draft {
  const slots = { start: withoutNonce(start), status: withoutNonce(status), exit: withoutNonce(exit) };
  return draft('launch.prepared', { to: ['executionScope', scopeId], payload: { slots }, by });
}

/** Evidence or no execution: a full disk refuses the launch here. */
const evidenceUnavailable = (error: EvidenceUnavailableError): OperatingError =>
  new OperatingError(
    { code: error.code, message: error.message, exitCode: 10, retryable: true, next: error.next },
    error,
  );

const withoutNonce = ({ dev, ino, nonceHash }: { dev: string; ino: string; nonceHash: string }) => ({
  dev,
  ino,
  nonceHash,
});

async function spawn(parts: Parts, scopeId: string, pending: PendingLaunch): Promise<Launch> {
  const scopeDir = scopeDirOf(parts, scopeId);
  const scope = committed(parts.host, 'executionScope', scopeId)!.context;
  const files = await openStdio(scopeDir, pending.recipe.stdin);
  try {
    return await launchGuardian({
      guardianPath: parts.guardian.path,
      installationId: parts.store.installationId,
      scopeId,
      scopeDir,
      slots: pending.slots!,
      argv: pending.recipe.argv,
      env: pending.recipe.env,
      cwd: pending.recipe.cwd,
      umask: pending.recipe.umask,
      stdio: files.stdio,
      handshakeMs: parts.config.handshakeMs,
      graceMs: scope.graceMs,
      budgetMs: scope.budgetMs,
    });
  } finally {
    await files.close();
  }
}

/** Our own look has to agree with what the guardian reports, or the identity is not verified (RUN-02). */
function verifiedIdentity({ adapter }: Parts, reported: Launch['ready']['guardian']): ProcessIdentity {
  const captured = adapter.capture(reported.pid, reported.pidfs ?? '');
  if (captured.processToken !== reported.start) throw new LaunchStopped('abandoned', 'identity_conflict');
  return captured;
}

/**
 * Attachment, binding and the write-ahead of the gate in one commit (GRD-07): without it the byte is never sent, and with
 * it everything about the launch is known.
 */
async function release(parts: Parts, scopeId: string, { ready }: Launch): Promise<void> {
  const guardian = verifiedIdentity(parts, ready.guardian);
  const workload = verifiedIdentity(parts, ready.workload);
  const to = ['executionScope', scopeId] as const;
  const { runId, scopeId: id } = committed(parts.host, 'executionScope', scopeId)!.context;
  const drafts = [draft('guardian.attached', { to, payload: { guardian, workload, bootId: ready.bootId }, by })];
  if (runId !== null) drafts.push(binding(runId, id, workload));
  drafts.push(draft('launch.releaseCommitted', { to, payload: {}, by }));
  const outcomes = await parts.host.submit(drafts);
  if (!outcomes.every(wasAccepted)) throw new LaunchStopped('abandoned', 'drain_requested');
}

function binding(runId: RunId, scopeId: ScopeId, identity: ProcessIdentity): Draft {
  const payload = {
    identity,
    identityDigest: identityDigest(identity),
    verified: true,
    source: 'entrypoint' as const,
    scopeId,
  };
  return draft('identity.bound', { to: ['run', runId], payload, by });
}

function explain(error: unknown): {
  readonly fact: 'notStarted' | 'abandoned';
  readonly reason: string;
  readonly code: string;
  readonly message: string;
  readonly next: readonly string[];
} {
  if (error instanceof EvidenceUnavailableError) {
    return { fact: 'notStarted', reason: 'capture_space', code: error.code, message: error.message, next: error.next };
  }
  if (error instanceof GuardianLaunchError) {
    const fact = error.phase === 'spawn' ? 'notStarted' : 'abandoned';
    return { fact, reason: error.phase, code: error.code, message: error.message, next: error.next };
  }
  if (error instanceof LaunchStopped) {
    const message = `the launch was abandoned: ${error.reason}`;
    return { fact: error.fact, reason: error.reason, code: 'launch_abandoned', message, next: [] };
  }
  const code = (error as { code?: unknown } | null)?.code;
  const known = typeof code === 'string' && /^[A-Za-z_]{1,64}$/.test(code) ? code : 'internal_error';
  return {
    fact: 'abandoned',
    reason: 'internal_error',
    code: known,
    message: `the launch failed: ${known}`,
    next: ['custody doctor'],
  };
}
