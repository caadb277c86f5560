/** The steps of one launch, each a function of what the launch recorded so far. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { identityDigest, type ProcessIdentity } from '../../../machines/identity.ts';
import type { RunId, ScopeId } from '../../../machines/ids.ts';
import type { EvidenceUnavailableError } from '../../../pty/launch/errors.ts';
import { type Launch, type LaunchRequest, launchGuardian } from '../../../pty/launch/launch.ts';
import type { ReservedSlots } from '../../../pty/launch/slots.ts';
import type { Draft } from '../../host/outcome.ts';
import { committed } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft, wasAccepted } from '../../runtime/submission.ts';
import { prepareUnrecorded, unrecordedSizes } from '../../runtime/unrecorded.ts';
import type { SessionService } from '../terminals/sessionService.ts';
import type { RemoteLaunches } from '../worker/remoteLaunches.ts';
import { LaunchStopped } from './launchStopped.ts';
import type { PendingLaunch } from './pendingLaunches.ts';
import type { TerminalRecipe } from './recipe.ts';
import { openStdio } from './stdio.ts';

export type StepParts = Pick<Runtime, 'host' | 'store' | 'adapter' | 'config' | 'places' | 'guardian' | 'workGroup'> & {
  readonly terminals: Pick<SessionService, 'launch'>;
  readonly workers: Pick<RemoteLaunches, 'launch'>;
};

/** The producer of every fact about a launch. */
export const coordinatorRole = 'launch-coordinator';
const by = coordinatorRole;

const scopeDirOf = ({ places }: StepParts, scopeId: string): string => join(places.scopesDir, scopeId);

/** The fact that marks the one attempt of this scope (ruling 8): which files its receipts will be. */
export function prepared(scopeId: string, { start, status, exit }: ReservedSlots): Draft {
  const slots = { start: withoutNonce(start), status: withoutNonce(status), exit: withoutNonce(exit) };
  return draft('launch.prepared', { to: ['executionScope', scopeId], payload: { slots }, by });
}

/** Evidence or no execution: a full disk refuses the launch here. */
export const evidenceUnavailable = (error: EvidenceUnavailableError): OperatingError =>
  new OperatingError(
    { code: error.code, message: error.message, exitCode: 10, retryable: true, next: error.next },
    error,
  );

const withoutNonce = ({ dev, ino, nonceHash }: { dev: string; ino: string; nonceHash: string }) => ({
  dev,
  ino,
  nonceHash,
});

export async function spawn(parts: StepParts, scopeId: string, pending: PendingLaunch): Promise<Launch> {
  const { terminal, stdin, startedBy } = pending.recipe;
  const request = requestOf(parts, scopeId, pending);
  if (startedBy === 'worker') return parts.workers.launch(request);
  const { directory } = parts.workGroup;
  // The guardian divides the group that it is in: what it ends has a part of it, and nobody else is there.
  const divided = directory === undefined ? {} : { cgroup: directory };
  // Below the PTY host it is in the group already.
  if (terminal !== undefined) return spawnInTerminal(parts, { ...request, ...divided }, terminal);
  const files = await openStdio(request.scopeDir, stdin);
  try {
    const own = directory === undefined ? {} : { groupDirectory: directory, ...divided };
    return await launchGuardian({ ...request, ...own, stdio: files.stdio });
  } finally {
    await files.close();
  }
}

type Request = Omit<LaunchRequest, 'stdio'>;

function requestOf(parts: StepParts, scopeId: string, { recipe, slots }: PendingLaunch): Request {
  const { graceMs, budgetMs } = committed(parts.host, 'executionScope', scopeId)!.context;
  return {
    guardianPath: parts.guardian.path,
    installationId: parts.store.installationId,
    scopeId,
    scopeDir: scopeDirOf(parts, scopeId),
    slots: slots!,
    argv: recipe.argv,
    env: recipe.env,
    cwd: recipe.cwd,
    umask: recipe.umask,
    handshakeMs: parts.config.handshakeMs,
    graceMs,
    budgetMs,
  };
}

/** The PTY host holds the gate then, and closes it when this daemon goes (ruling 6). */
function spawnInTerminal(parts: StepParts, launch: Request, terminal: TerminalRecipe): Promise<Launch> {
  const { places, terminals, config } = parts;
  const { sessionId, recorded } = terminal;
  // Somebody may have cleared away what earlier terminals said, and the directory with it.
  if (!existsSync(places.transcriptsDir)) mkdirSync(places.transcriptsDir, { mode: 0o700 });
  const transcript = recorded
    ? { dir: join(places.transcriptsDir, sessionId), maxBytes: config.transcriptMaxBytes }
    : { dir: prepareUnrecorded(places, sessionId), ...unrecordedSizes };
  return terminals.launch({ ...terminal, transcript, launch });
}

/** Our own look has to agree with what the guardian reports, or the identity is not verified (RUN-02). */
function verifiedIdentity({ adapter }: StepParts, reported: Launch['ready']['guardian']): ProcessIdentity {
  const captured = adapter.capture(reported.pid, reported.pidfs ?? '');
  if (captured.processToken !== reported.start) throw new LaunchStopped('abandoned', 'identity_conflict');
  return captured;
}

/**
 * Attachment, binding and the write-ahead of the gate in one commit (GRD-07): without it the byte is never sent, and with
 * it everything about the launch is known.
 */
export async function release(parts: StepParts, scopeId: string, { ready }: Launch): Promise<void> {
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
