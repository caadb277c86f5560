/**
 * Carries out one effect (K4, I-36). A repeatable one is executed until that succeeds, also after a crash. A once-only
 * one is committed as attempted and executed once by the start that committed it; if that fails, or if it is found open at
 * a later start or in a restored store, nobody knows whether it happened: it goes to its resolver, which looks and never
 * repeats.
 */
import type { Store } from '../../persistence/store.ts';
import type { Batcher } from './batcher.ts';
import type { Fault } from './hostError.ts';
import type { OutboxEffect } from './outboxEffect.ts';

export interface Handlers {
  readonly executor: (effect: OutboxEffect) => Promise<void>;
  readonly resolver: ((effect: OutboxEffect) => Promise<void>) | undefined;
}

export interface AttemptParts {
  readonly store: Pick<Store, 'outbox' | 'epoch' | 'startNumber'>;
  readonly write: Batcher['write'];
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
  readonly onFault: (fault: Fault) => void;
  /** Called when an effect begins to wait for its next attempt: there is room for another one. */
  readonly paused: () => void;
}

export interface Attempts {
  /** Resolves when the effect is done, or was left open because everything is closing. Never rejects. */
  carryOut(effect: OutboxEffect, handlers: Handlers): Promise<void>;
  open(): void;
  /** Ends the pauses between attempts; running handlers go on. */
  close(): void;
  areOpen(): boolean;
  /** How many wait for their next attempt. */
  pausing(): number;
}

export function createAttempts(parts: AttemptParts): Attempts {
  const { outbox, epoch, startNumber } = parts.store;
  const pauses = new Set<() => void>();
  /** Once-only effects that this process has begun and not finished. */
  const attempted = new Set<string>();
  let isOpen = false;

  async function carryOut(effect: OutboxEffect, handlers: Handlers): Promise<void> {
    for (let failures = 0; failures === 0 || isOpen; failures += 1) {
      try {
        await act(effect, handlers);
        await parts.write(() => outbox.finish(effect.effectId, 'done'));
        attempted.delete(effect.effectId);
        return;
      } catch (error) {
        parts.onFault({ code: 'effect_failed', actor: effect.actor, type: effect.type, error });
        await parts.write(() => outbox.retry(effect.effectId, nameOf(error))).catch(() => {});
      }
      await pause(Math.min(parts.retryFirstMs * 2 ** Math.min(failures, 30), parts.retryLongestMs));
    }
  }

  async function act(effect: OutboxEffect, { executor, resolver }: Handlers): Promise<void> {
    if (effect.policy === 'repeatable') return executor(effect);
    const isOurs = effect.epoch === epoch && effect.startNumber === startNumber;
    if (!isOurs || attempted.has(effect.effectId)) return resolver?.(effect);
    attempted.add(effect.effectId);
    return executor(effect);
  }

  function pause(ms: number): Promise<void> {
    if (!isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      pauses.add(end);
      parts.paused();
    });
  }

  return {
    carryOut,
    areOpen: () => isOpen,
    pausing: () => pauses.size,
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      for (const end of [...pauses]) end();
    },
  };
}

/** Messages may hold anything, so only what kind of error it was is kept. */
function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? typeof error).slice(0, 100);
}
