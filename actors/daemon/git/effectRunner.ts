/**
 * Runs one of Custody's own short programs under a guardian, in a scope of kind `effect` (ruling 25): it holds no slot, has
 * the same proof of exit as any workload, and is drained like one if it leaves something behind.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type AnyMachineSnapshot, waitFor } from 'xstate';
import { assessOwnership } from '../../../machines/assessment.ts';
import type { WorkloadResult } from '../../../machines/evidence.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import { committed } from '../../runtime/actorAccess.ts';
import { lastResort } from '../../runtime/lastResort.ts';
import { daemonLeaving, OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import type { LaunchCoordinator } from '../launch/coordinator.ts';
import { effectScope, type OwnWork } from '../launch/effectScope.ts';
import { severityOf } from '../launch/launchStopped.ts';
import { isDraining, isEnding, type Root } from '../root.ts';

type Parts = Pick<Runtime, 'host' | 'config' | 'places' | 'leaving'> & {
  readonly launches: LaunchCoordinator;
  readonly root: Root;
};

export interface EffectResult {
  readonly result: WorkloadResult;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** More than any answer that is usually asked for; what is longer is cut. */
const usualOutputBytes = 1_048_576;

/**
 * Resolves when the scope is proved. Throws when the program could not be started, and `daemon_leaving` when the daemon
 * leaves first or is ending everything that it owns: a stop must not miss what begins behind its back (SHUT-10).
 */
export async function runEffect(
  parts: Parts,
  work: OwnWork,
  largestOutputBytes = usualOutputBytes,
): Promise<EffectResult> {
  const { host, places } = parts;
  const { scopeId, recipe } = work;
  if (isEnding(parts.root)) throw isDraining(parts.root) ? beingDrained() : daemonLeaving();
  const payload = effectScope(parts, work);
  const requested = draft('scope.requested', { to: ['executionScope', scopeId], payload, by: 'daemon' });
  const pending = await parts.launches.request({ scopeId, recipe, drafts: [requested], next: [] });
  const outcome = await pending.outcome;
  if (outcome.kind === 'refused') {
    const { code, message, next } = outcome;
    throw new OperatingError({ code, message, ...severityOf(code), next });
  }
  await over(parts, scopeId);
  const { status } = committed(host, 'executionScope', scopeId)!.context;
  const read = (stream: string) => readHead(join(places.scopesDir, scopeId, `${stream}.log`), largestOutputBytes);
  return {
    result: status ?? { how: 'notReleased', code: null, signal: null, errno: null, waitStatus: 0 },
    stdout: await read('stdout'),
    stderr: await read('stderr'),
  };
}

/** Throws `ownership_unverified` when the guardian was lost: there will be no proof, and nobody may wait for it. */
async function over({ host, leaving }: Parts, scopeId: ScopeId): Promise<void> {
  const isLost = (scope: ScopeSnapshot) => scope.matches({ coverage: { unverified: 'gap' } });
  const isOver = (snapshot: AnyMachineSnapshot) =>
    snapshot.hasTag('capacityReleased') || isLost(snapshot as ScopeSnapshot);
  await waitFor(host.actor('executionScope', scopeId), isOver, {
    timeout: Number.POSITIVE_INFINITY,
    signal: leaving,
  }).catch((error: unknown) => {
    leaving.throwIfAborted();
    throw error;
  });
  const scope = committed(host, 'executionScope', scopeId)!;
  if (!isLost(scope)) return;
  throw new OperatingError({
    code: 'ownership_unverified',
    message: `the guardian of scope ${scopeId} was lost: what it ran is not proved to be gone`,
    exitCode: 6,
    next: ['custody processes --all', 'custody doctor', ...lastResort(scopeId, assessOwnership(scope))],
    details: { scopeId },
  });
}

const beingDrained = (): OperatingError =>
  new OperatingError({
    code: 'admission_closed',
    message: 'everything is being drained; nothing is begun meanwhile',
    exitCode: 13,
    retryable: true,
    next: ['custody status', 'repeat the command'],
  });

async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(bytes, (await file.stat()).size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
