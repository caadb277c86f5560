/** Says in sentences what an actor is, what it waits for, what stands in the way, who can help, and what came last. */
import type { AnyTransitionDefinition } from 'xstate';
import { HostError } from '../../actors/host/hostError.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { definitions } from '../../machines/registry.ts';
import type { Explanation, GuardAnswer } from './explanation.ts';
import { type Way, waysOn } from './guards.ts';
import type { ExplainSource } from './source.ts';
import { descriptionsOf, statePaths } from './states.ts';

/** Undefined where there is no such actor. A record that cannot be trusted is explained as that, and concludes nothing. */
export function explain(source: ExplainSource, kind: ActorKind, id: string): Explanation | undefined {
  const { machine } = definitions[kind];
  try {
    const snapshot = source.snapshotOf(kind, id);
    if (snapshot === undefined) return undefined;
    const what = descriptionsOf(snapshot).join(' ');
    return {
      kind,
      id,
      version: source.versionOf(kind, id) ?? 0,
      state: statePaths(snapshot),
      what,
      waitsFor: [],
      next: waysOn(machine, snapshot).map(answerOf),
      unblocks: [],
      last: null,
      sentences: [what],
      fault: null,
    };
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    const what = `The record of ${kind} ${id} cannot be trusted (${thrown.code}), so nothing is concluded from it.`;
    return {
      ...{ kind, id, version: 0, state: [], what, waitsFor: [], next: [], unblocks: [], last: null },
      sentences: [what],
      fault: thrown.code,
    };
  }
}

function answerOf({ event, guard, answer, reads, refused, transition }: Way): GuardAnswer {
  return { event, guard, answer, sentence: guard, target: targetOf(transition), reads, refused };
}

const targetOf = ({ target }: AnyTransitionDefinition): string | null => target?.[0]?.id ?? null;
