/**
 * Executes what committed events asked for (K4, JRN-11, I-36). Repeatable effects are executed until they succeed, also
 * after a crash. A once-only effect is marked as attempted in a commit of its own and then executed; if that fails, or if
 * it is found open at a later start or in a restored store, nobody knows whether it happened: it goes to its resolver,
 * which looks and never repeats. Effects run concurrently, also those of one actor: a drain must not wait for a launch.
 */
import { type EffectParams, type EffectType, effectPolicies } from '../../machines/effects.ts';
import type { Store } from '../../persistence/store.ts';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { EffectCursor, EffectPolicy, EffectRow } from '../../persistence/tables/outbox.ts';
import type { Failpoint } from './api.ts';
import type { Batcher } from './batcher.ts';
import type { Fault } from './hostError.ts';
import type { CommittedEffect } from './workingSet.ts';

export interface OutboxEffect<Type extends EffectType = EffectType> {
  readonly effectId: string;
  readonly type: Type;
  readonly policy: EffectPolicy;
  readonly params: EffectParams[Type];
  readonly actor: ActorAddress;
  /** Journal position of the event that asked for it. */
  readonly position: number;
  readonly epoch: number;
  readonly startNumber: number;
}

export type EffectHandler<Type extends EffectType> = (effect: OutboxEffect<Type>) => Promise<void>;

/** One type of effect, known at run time only. */
type AnyHandler = (effect: OutboxEffect) => Promise<void>;

export interface Effects {
  /**
   * Says who executes effects of a type. Once-only types need a resolver; for others it is not called. Handlers report
   * what came of it by submitting events; what they throw leaves the effect open, to be taken up again with back-off.
   */
  register<Type extends EffectType>(type: Type, executor: EffectHandler<Type>, resolver?: EffectHandler<Type>): void;
  /** Takes up what earlier starts left open, then executes what is committed from now on. */
  start(): void;
  /** Takes up nothing new and resolves when the handlers that are running have ended. */
  stop(): Promise<void>;
}

export interface EffectParts {
  readonly store: Store;
  readonly write: Batcher['write'];
  readonly running: number;
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
  readonly onFault: (fault: Fault) => void;
  readonly failpoint: (point: Failpoint) => void;
}

export interface FedEffects extends Effects {
  /** Told after the commit and the acknowledgement of their events. */
  committed(effects: readonly CommittedEffect[]): void;
}

type Handlers = { readonly executor: AnyHandler; readonly resolver: AnyHandler | undefined };

const pageRows = 256;

export function createEffects(parts: EffectParts): FedEffects {
  const handlers = new Map<string, Handlers>();
  const taken = new Map<string, Promise<void>>();
  const pauses = new Set<() => void>();
  let started = false;
  let left = false;

  function offer(effect: OutboxEffect): void {
    const known = handlers.get(effect.type);
    if (!started || known === undefined || taken.has(effect.effectId)) return;
    if (taken.size >= parts.running) {
      // The outbox keeps it; whoever ends next looks there.
      left = true;
      return;
    }
    const run = carryOut(effect, known, 0).finally(() => {
      taken.delete(effect.effectId);
      if (left && started) scan();
    });
    taken.set(effect.effectId, run);
  }

  /** Offers everything that the outbox has open, in commit order. */
  function scan(): void {
    left = false;
    for (let after: EffectCursor = { position: 0, ordinal: -1 }; ; ) {
      const rows = parts.store.outbox.open(after, pageRows);
      for (const row of rows) {
        if (row.intact) offer(effectOf(row));
        else if (!taken.has(row.effectId)) refuseDamaged(row);
      }
      const last = rows.at(-1);
      if (last === undefined || left) return;
      after = last;
    }
  }

  /** What it would do cannot be known, so it is not done. */
  function refuseDamaged(row: EffectRow): void {
    const error = new Error('the stored effect is damaged: its digest does not match');
    parts.onFault({ code: 'effect_corrupt', actor: row.actor, type: row.type, error });
    const run = parts.write(() => parts.store.outbox.finish(row.effectId, 'failed', 'effect_corrupt'));
    taken.set(
      row.effectId,
      run.catch(() => {}).finally(() => taken.delete(row.effectId)),
    );
  }

  async function carryOut(effect: OutboxEffect, known: Handlers, failures: number): Promise<void> {
    const { outbox } = parts.store;
    try {
      await act(effect, known, failures);
      await parts.write(() => outbox.finish(effect.effectId, 'done'));
    } catch (error) {
      parts.onFault({ code: 'effect_failed', actor: effect.actor, type: effect.type, error });
      await parts.write(() => outbox.retry(effect.effectId, nameOf(error))).catch(() => {});
      if (!(await waited(backoff(parts, failures)))) return;
      await carryOut(effect, known, failures + 1);
    }
  }

  async function act(effect: OutboxEffect, { executor, resolver }: Handlers, failures: number): Promise<void> {
    if (effect.policy === 'repeatable') return executor(effect);
    const { epoch, startNumber } = parts.store;
    const ours = effect.epoch === epoch && effect.startNumber === startNumber && failures === 0;
    if (!ours || !(await marked(effect))) return (resolver as AnyHandler)(effect);
    return executor(effect);
  }

  /** The attempt is on the disk before it is made; whoever finds it there later knows that it may have happened. */
  async function marked(effect: OutboxEffect): Promise<boolean> {
    let fresh = false;
    await parts.write(() => {
      fresh = parts.store.outbox.attempt(effect.effectId);
    });
    return fresh;
  }

  /** False when the effects were stopped meanwhile. */
  function waited(ms: number): Promise<boolean> {
    if (!started) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        pauses.delete(end);
        resolve(started);
      };
      const timer = setTimeout(end, ms);
      pauses.add(end);
    });
  }

  return {
    register(type, executor, resolver) {
      if (effectPolicies[type] === 'once' && resolver === undefined)
        throw new TypeError(`${type} is done once and needs a resolver`);
      handlers.set(type, { executor: executor as AnyHandler, resolver: resolver as AnyHandler | undefined });
      if (started) scan();
    },
    start() {
      if (started) return;
      started = true;
      scan();
    },
    async stop() {
      started = false;
      for (const end of pauses) end();
      await Promise.allSettled(taken.values());
    },
    committed(effects) {
      if (effects.length === 0) return;
      // After the acknowledgement: the caller's continuation runs before the first effect does.
      setImmediate(() => {
        parts.failpoint('before_effect');
        for (const effect of effects) offer(effectOf(effect));
      });
    },
  };
}

function effectOf(row: CommittedEffect | EffectRow): OutboxEffect {
  const { effectId, type, policy, params, actor, position, epoch, startNumber } = row;
  return {
    effectId,
    type: type as EffectType,
    policy,
    params: JSON.parse(params),
    actor,
    position,
    epoch,
    startNumber,
  };
}

const backoff = ({ retryFirstMs, retryLongestMs }: EffectParts, failures: number): number =>
  Math.min(retryFirstMs * 2 ** Math.min(failures, 30), retryLongestMs);

/** Messages may hold anything, so only what kind of error it was is kept. */
function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? typeof error).slice(0, 100);
}
