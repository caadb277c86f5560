/**
 * Offers the effects of committed events to whoever executes them (K4, JRN-11). The outbox is the queue: memory holds
 * what is running, and what does not fit is found there again. Effects run concurrently, also those of one actor: a
 * drain must not wait for the launch that it ends.
 */
import { type EffectType, effectPolicies } from '../../machines/effects.ts';
import type { EffectCursor, EffectRow, OutboxTable } from '../../persistence/tables/outbox.ts';
import { type AttemptParts, createAttempts, type Handlers } from './effectAttempts.ts';
import type { Failpoint } from './failpoint.ts';
import { type EffectHandler, effectOf, type OutboxEffect } from './outboxEffect.ts';
import type { CommittedEffect } from './workingSet.ts';

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

export interface EffectParts extends Omit<AttemptParts, 'paused'> {
  /** Effects that may run at the same time. */
  readonly running: number;
  readonly failpoint: (point: Failpoint) => void;
}

export interface FedEffects extends Effects {
  /** Told after the commit and the acknowledgement of their events. */
  committed(effects: readonly CommittedEffect[]): void;
}

const pageRows = 256;

export function createEffects(parts: EffectParts): FedEffects {
  const { failpoint } = parts;
  const { outbox } = parts.store;
  const handlers = new Map<string, Handlers>();
  const taken = new Map<string, Promise<void>>();
  const attempts = createAttempts({ ...parts, paused: refill });
  /** Something is open in the outbox that did not fit. */
  let isLeft = false;

  function offer(effect: OutboxEffect): void {
    const known = handlers.get(effect.type);
    if (!attempts.areOpen() || known === undefined || taken.has(effect.effectId)) return;
    if (taken.size - attempts.pausing() < parts.running) take(effect.effectId, attempts.carryOut(effect, known));
    else isLeft = true;
  }

  function take(effectId: string, run: Promise<void>): void {
    const end = () => {
      taken.delete(effectId);
      refill();
    };
    taken.set(effectId, run.then(end, end));
  }

  /** Half empty before it is filled again, so that a long outbox is not read once per effect. */
  function refill(): void {
    if (isLeft && attempts.areOpen() && taken.size - attempts.pausing() <= parts.running / 2) scan();
  }

  /** Offers everything that the outbox has open, in commit order. */
  function scan(): void {
    isLeft = false;
    for (const row of openRows(outbox)) {
      if (row.intact) offer(effectOf(row));
      else if (!taken.has(row.effectId)) take(row.effectId, refuseDamaged(parts, row));
      if (isLeft) return;
    }
  }

  return {
    register(type, executor, resolver) {
      if (effectPolicies[type] === 'once' && resolver === undefined) {
        throw new TypeError(`${type} is done once and needs a resolver`);
      }
      handlers.set(type, { executor, resolver } as Handlers);
      if (attempts.areOpen()) scan();
    },
    start() {
      if (attempts.areOpen()) return;
      attempts.open();
      scan();
    },
    async stop() {
      attempts.close();
      await Promise.all(taken.values());
    },
    committed(effects) {
      if (effects.length === 0) return;
      // After the acknowledgement: the caller's continuation runs before the first effect does.
      setImmediate(() => {
        failpoint('before_effect');
        for (const effect of effects) offer(effectOf(effect));
      });
    },
  };
}

/** What it would do cannot be known, so it is not done. */
function refuseDamaged({ store, onFault, write }: EffectParts, { effectId, actor, type }: EffectRow): Promise<void> {
  const error = new Error('the stored effect is damaged: its digest does not match');
  onFault({ code: 'effect_corrupt', actor, type, error });
  return write(() => store.outbox.finish(effectId, 'failed', 'effect_corrupt'));
}

function* openRows(outbox: OutboxTable): Iterable<EffectRow> {
  let after: EffectCursor | undefined = { position: 0, ordinal: -1 };
  while (after !== undefined) {
    const rows: readonly EffectRow[] = outbox.open(after, pageRows);
    yield* rows;
    after = rows.at(-1);
  }
}
