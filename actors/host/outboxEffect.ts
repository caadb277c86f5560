/** An effect as its handlers see it. */
import type { EffectParams, EffectType } from '../../machines/effects.ts';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { EffectPolicy, EffectRow } from '../../persistence/tables/outbox.ts';
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

export function effectOf(row: CommittedEffect | EffectRow): OutboxEffect {
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
