/** Every mutant that the checker has to notice: read from the charts themselves, so that a new guard is in the list at once. */
import type { AnyStateNode } from 'xstate';
import { type ActorKind, actorKinds } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import { type CompositeGuard, combinatorOf } from '../../machines/structuralHash.ts';
import type { GuardMutant, Mutant, RelayMutant } from './charts.ts';

/** Names of guards that a chart asks under a `not`. */
function negatedGuards(node: AnyStateNode): string[] {
  const here = [...node.transitions.values()].flat().flatMap(({ guard }) => negatedIn(guard, false));
  return [...here, ...Object.values(node.states).flatMap(negatedGuards)];
}

function negatedIn(guard: unknown, isNegated: boolean): string[] {
  if (guard === undefined || guard === null) return [];
  const combinator = combinatorOf(guard);
  if (combinator === undefined) return isNegated && typeof guard === 'string' ? [guard] : [];
  const { guards = [] } = guard as CompositeGuard;
  return guards.flatMap((part) => negatedIn(part, combinator === 'not' ? !isNegated : isNegated));
}

/** Each guard answers yes always; one that is asked under a `not` also answers no always. */
function guardMutantsOf(kind: ActorKind): readonly GuardMutant[] {
  const { machine } = definitions[kind];
  const negated = new Set(negatedGuards(machine.root));
  return Object.keys(machine.implementations.guards).flatMap((guard) =>
    (negated.has(guard) ? [true, false] : [true]).map((answer) => ({ kind, guard, answer })),
  );
}

const relay = (from: ActorKind, to: ActorKind, ...types: readonly string[]): readonly RelayMutant[] =>
  types.map((type) => ({ from, to, type }));

/** What one kind tells another (machines/relays.ts). A test holds this list against the relays that explorations meet. */
export const relayMutants: readonly RelayMutant[] = [
  ...relay('goal', 'executionScope', 'drain.requested'),
  ...relay('run', 'worktreeGeneration', 'run.settled'),
  ...relay('worktreeGeneration', 'worktreeGeneration', 'authority.handedOff'),
  ...relay('executionScope', 'executionScope', 'drain.requested'),
  ...relay('executionScope', 'run', 'workload.statusReceipt', 'admission.cancelled', 'scope.exitProved'),
  ...relay('executionScope', 'worktreeGeneration', 'scope.settled'),
  ...relay('executionScope', 'ptySession', 'launch.releaseCommitted', 'launch.failed', 'workload.statusReceipt'),
  ...relay('executionScope', 'ptySession', 'workload.endedWithoutStatus', 'scope.exitProved', 'scope.unverified'),
  ...relay('executionScope', 'ptySession', 'stop.requested'),
  ...relay('ptySession', 'executionScope', 'drain.requested'),
  ...relay('executionScope', 'workerIncarnation', 'scope.exitProved', 'scope.unverified'),
  ...relay('workerIncarnation', 'recoveryFence', 'scheduler.tick', 'worker.scopeSettled'),
];

export const mutants: readonly Mutant[] = [...actorKinds.flatMap(guardMutantsOf), ...relayMutants];
