/** How a scheduling worker is launched: as a guarded scope of Custody's own, which holds no slot (ruling 25). */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { IncarnationId, RegistrationId, RuntimeId, ScopeId } from '../../../machines/ids.ts';
import type { Draft } from '../../host/outcome.ts';
import { everyRow } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { type WorkerContext, workerProtocol } from '../../worker/messages.ts';
import { requestKey } from '../commands/requestIds.ts';
import { effectScope } from '../launch/effectScope.ts';
import type { Recipe } from '../launch/recipe.ts';
import { isOutOfTheWay, rescan, rescanPayload } from './ownedByWorkers.ts';

export type WorkerLaunchParts = Pick<Runtime, 'host' | 'store' | 'config' | 'places' | 'clock' | 'guardian' | 'worker'>;

export interface WorkerLaunch {
  readonly scopeId: ScopeId;
  readonly incarnationId: IncarnationId;
  readonly recipe: Recipe;
  readonly drafts: readonly Draft[];
}

/** One per installation: a state directory has one worker at a time, whichever daemon serves it. */
export const runtimeIdOf = ({ installationId }: Pick<Runtime['store'], 'installationId'>): RuntimeId =>
  requestKey(installationId, 'runtime', 'runtime').idOf<RuntimeId>('X');

export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Everything that a replacement is recorded by. What is known of its predecessors is asked for here once more, in the turn
 * of the commit (C.11-6). `isEnabled` says whether a worker is wanted at all.
 */
export function workerLaunch(parts: WorkerLaunchParts, targetId: string, isEnabled: () => boolean): WorkerLaunch {
  const { host, store, config, clock, places, guardian } = parts;
  const key = requestKey(store.installationId, 'worker', undefined);
  const scopeId = key.idOf<ScopeId>('S');
  const incarnationId = key.idOf<IncarnationId>('K');
  const runtimeId = runtimeIdOf(store);
  const registrationId = key.idOf<RegistrationId>('K', 'registration');
  const token = randomBytes(32).toString('hex');
  const context: WorkerContext = {
    protocol: workerProtocol,
    incarnationId,
    runtimeId,
    registrationId,
    token,
    socket: places.workerSocket,
    scopeId,
    scopeDir: join(places.scopesDir, scopeId),
    guardianPath: guardian.path,
    installationId: store.installationId,
    nodeId: store.nodeId,
    targetId,
    tickIntervalMs: config.tickIntervalMs,
    retryMs: config.tickIntervalMs,
  };
  const recipe = recipeOf(parts, context);
  const { monoMs, bootId } = clock.now();
  const requestedAt = { monoMs, bootId };
  const { startupMs, silenceMs } = config;
  const identity = { incarnationId, runtimeId, registrationId, launchTokenHash: tokenHash(token), scopeId };
  const by = 'recovery';
  const drafts = [
    draft('worker.requested', {
      to: ['workerIncarnation', incarnationId],
      payload: { ...identity, targetId, nodeId: store.nodeId as never, startupMs, silenceMs, requestedAt },
      by,
    }),
    draft('scope.requested', {
      to: ['executionScope', scopeId],
      payload: effectScope(parts, { scopeId, purpose: 'scheduling worker', recipe }),
      by,
    }),
    draft('replacement.launched', {
      to: ['recoveryFence', runtimeId],
      payload: { ...rescanPayload(rescan({ host, store })), incarnationId, scopeId, workerEnabled: isEnabled() },
      by,
    }),
  ];
  return { scopeId, incarnationId, recipe, drafts };
}

function recipeOf({ worker, places }: WorkerLaunchParts, context: WorkerContext): Recipe {
  return {
    argv: [process.execPath, worker.program],
    env: worker.environment,
    cwd: places.stateDir,
    umask: 0o077,
    stdin: Buffer.from(JSON.stringify(context)),
  };
}

interface LivingWorker {
  readonly incarnationId: IncarnationId;
  readonly scopeId: ScopeId;
}

/** Incarnations that are not proved to be gone, and for which nobody answers; oldest first. */
export function livingWorkers({ host, store }: Pick<Runtime, 'host' | 'store'>): readonly LivingWorker[] {
  const unreleased = Array.from(everyRow(host, 'workerIncarnation', { released: false }), ({ id, key }) => ({
    incarnationId: id as IncarnationId,
    // From its link: a record that cannot be read is a worker that may live.
    scopeId: store.links.of(key).scopeId as ScopeId,
  }));
  return unreleased.filter(({ scopeId }) => !isOutOfTheWay({ host }, scopeId));
}
