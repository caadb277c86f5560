/**
 * Carries one launch from the committed request to the open gate (C.11-3, ruling 6): receipt space, guardian, both
 * identities, then identity and release in one commit, then the gate byte. Whatever goes wrong before that commit leaves
 * an image that never ran.
 */
import { join } from 'node:path';
import { identityDigest, type ProcessIdentity } from '../../../machines/identity.ts';
import { assertNoTransaction } from '../../../persistence/transaction.ts';
import { EvidenceUnavailableError, GuardianLaunchError } from '../../../pty/launch/errors.ts';
import { type Launch, launchGuardian } from '../../../pty/launch/launch.ts';
import { type ReservedSlots, reserveSlots } from '../../../pty/launch/slots.ts';
import { committed } from '../actorAccess.ts';
import type { Runtime } from '../runtime.ts';
import { draft, wasAccepted } from '../submission.ts';
import type { LaunchOutcome, PendingLaunch, PendingLaunches } from './pendingLaunches.ts';
import { openStdio } from './stdio.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'adapter' | 'config' | 'places' | 'guardian' | 'log'>;

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

export interface LaunchCoordinator {
  /** Executor of `launchScope`. Reports by events and never throws for a launch that merely failed. */
  launch(scopeId: string): Promise<void>;
  /** Executor of `openGate`. */
  openGate(scopeId: string): Promise<void>;
  /** Ends a launch that has not been released; the gated child is gone when this resolves (ruling 4). */
  abandon(scopeId: string, reason: string): Promise<void>;
}

export function createLaunchCoordinator(parts: Parts, pendingLaunches: PendingLaunches): LaunchCoordinator {
  const { host, log } = parts;

  async function launch(scopeId: string): Promise<void> {
    const pending = pendingLaunches.get(scopeId);
    if (pending === undefined) return abandon(scopeId, 'recipe_lost');
    assertNoTransaction('launch');
    try {
      pending.slots = await pending.timed('slots', () => reserveSlots(scopeDirOf(parts, scopeId)));
      await pending.timed('prepare commit', () => prepare(parts, scopeId, pending.slots!));
      pending.launch = await pending.timed('handshake', () => spawn(parts, scopeId, pending));
      await pending.timed('attach commit', () => attach(parts, scopeId, pending.launch!));
      await pending.timed('release commit', () => release(parts, scopeId));
    } catch (error) {
      await giveUp(scopeId, pending, error);
    }
  }

  async function giveUp(scopeId: string, pending: PendingLaunch, error: unknown): Promise<void> {
    await pending.launch?.abandon();
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
    await pending?.launch?.abandon();
    const to = ['executionScope', scopeId] as const;
    await host.submit([draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason }, by })]);
    pending?.settle({
      kind: 'refused',
      code: 'launch_abandoned',
      message: `the launch was abandoned: ${reason}`,
      next: [],
    });
  }

  return { launch, openGate, abandon };
}

const scopeDirOf = ({ places }: Parts, scopeId: string): string => join(places.scopesDir, scopeId);

/** Evidence or no execution: without the three slots on the disk, a launch does not get here. */
async function prepare({ host }: Parts, scopeId: string, { start, status, exit }: ReservedSlots): Promise<void> {
  const recorded = { start: withoutNonce(start), status: withoutNonce(status), exit: withoutNonce(exit) };
  const [outcome] = await host.submit([
    draft('launch.prepared', { to: ['executionScope', scopeId], payload: { slots: recorded }, by }),
  ]);
  if (!wasAccepted(outcome!)) throw new LaunchStopped('abandoned', 'drain_requested');
}

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

async function attach(parts: Parts, scopeId: string, launch: Launch): Promise<void> {
  const guardian = verifiedIdentity(parts, launch.ready.guardian);
  const workload = verifiedIdentity(parts, launch.ready.workload);
  const payload = { guardian, workload, bootId: launch.ready.bootId };
  const [outcome] = await parts.host.submit([
    draft('guardian.attached', { to: ['executionScope', scopeId], payload, by }),
  ]);
  if (!wasAccepted(outcome!)) throw new LaunchStopped('abandoned', 'drain_requested');
}

/** The write-ahead of the gate (GRD-07): without this commit the byte is never sent. */
async function release({ host }: Parts, scopeId: string): Promise<void> {
  const { runId, workload } = committed(host, 'executionScope', scopeId)!.context;
  const drafts = [draft('launch.releaseCommitted', { to: ['executionScope', scopeId], payload: {}, by })];
  if (runId !== null && workload !== null) {
    const payload = {
      identity: workload,
      identityDigest: identityDigest(workload),
      verified: true,
      source: 'entrypoint' as const,
      scopeId: committed(host, 'executionScope', scopeId)!.context.scopeId,
    };
    drafts.unshift(draft('identity.bound', { to: ['run', runId], payload, by }));
  }
  const outcomes = await host.submit(drafts);
  if (!outcomes.every(wasAccepted)) throw new LaunchStopped('abandoned', 'drain_requested');
}

function explain(error: unknown): {
  readonly fact: 'notStarted' | 'abandoned';
  readonly reason: string;
  readonly code: string;
  readonly message: string;
  readonly next: readonly string[];
} {
  if (error instanceof EvidenceUnavailableError) {
    return { fact: 'notStarted', reason: 'receipt_space', code: error.code, message: error.message, next: error.next };
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
