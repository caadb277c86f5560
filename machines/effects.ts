/**
 * What a transition may ask the world to do (K4). A machine only names an effect; the host writes it into the outbox in
 * the same commit, and an executor acts afterwards. A once-only effect is attempted once and from then on resolved by
 * looking; a repeatable one is offered again until it reports success.
 */
import type { DrainCause } from './evidence.ts';
import type { ScopeId } from './ids.ts';

export interface EffectParams {
  /** Spawn a guardian with its gate closed. */
  readonly launchScope: { readonly scopeId: ScopeId };
  /** Send the gate byte of a release that is already committed (GRD-07). */
  readonly openGate: { readonly scopeId: ScopeId };
  /** Ask the guardian to end the scope; asking twice changes nothing. `attempt` counts drains of this scope from 1. */
  readonly drainScope: {
    readonly scopeId: ScopeId;
    readonly cause: DrainCause;
    readonly graceMs: number;
    readonly budgetMs: number;
    readonly attempt: number;
  };
}

export type EffectType = keyof EffectParams;
export type EffectPolicy = 'once' | 'repeatable';
export type Effect = {
  readonly [Type in EffectType]: { readonly type: Type; readonly params: EffectParams[Type] };
}[EffectType];

export const effectPolicies: { readonly [Type in EffectType]: EffectPolicy } = {
  launchScope: 'once',
  openGate: 'once',
  drainScope: 'repeatable',
};

export const isEffectType = (type: string): type is EffectType => Object.hasOwn(effectPolicies, type);
