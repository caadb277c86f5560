/** The machines under check: the shipped ones, or a mutant with one guard that always answers the same or one relay that is lost. */
import type { AnyStateMachine } from 'xstate';
import type { ActorDefinition } from '../../machines/definition.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { type ActorChange, type Relay, relaysOf } from '../../machines/relays.ts';

export interface GuardMutant {
  readonly kind: ActorKind;
  readonly guard: string;
  readonly answer: boolean;
}

/** `scope.settled` from a scope to a generation is never delivered. */
export interface RelayMutant {
  readonly from: ActorKind;
  readonly to: ActorKind;
  readonly type: string;
}

export type Mutant = GuardMutant | RelayMutant;

export const isGuardMutant = (mutant: Mutant): mutant is GuardMutant => 'guard' in mutant;

export const mutantName = (mutant: Mutant): string =>
  isGuardMutant(mutant)
    ? `${mutant.kind}.${mutant.guard} := ${mutant.answer}`
    : `${mutant.from} → ${mutant.to}: ${mutant.type} dropped`;

export interface Charts {
  readonly definitions: Readonly<Record<ActorKind, ActorDefinition>>;
  readonly relaysOf: (change: ActorChange) => readonly Relay[];
}

export const shippedCharts: Charts = { definitions, relaysOf };

export function mutated(mutant: Mutant): Charts {
  if (!isGuardMutant(mutant)) {
    const isLost = (change: ActorChange, relay: Relay) =>
      change.kind === mutant.from && relay.to.kind === mutant.to && relay.type === mutant.type;
    return { definitions, relaysOf: (change) => relaysOf(change).filter((relay) => !isLost(change, relay)) };
  }
  const { kind, guard, answer } = mutant;
  const shipped = definitions[kind];
  const machine = shipped.machine.provide({ guards: { [guard]: () => answer } }) as AnyStateMachine;
  return { definitions: { ...definitions, [kind]: { ...shipped, machine } }, relaysOf };
}

/** Another chart in the place of a shipped one, for tests of the checker itself. */
export const withMachine = (kind: ActorKind, machine: AnyStateMachine): Charts => ({
  definitions: { ...definitions, [kind]: { ...definitions[kind], machine } },
  relaysOf,
});
