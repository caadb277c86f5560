/** One moment of an actor, and how far back it can be shown. */
import type { AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate';
import { sameJson } from '../../../machines/canonical.ts';
import { machineEvent } from '../../../machines/events/envelope.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import type { EventView, MomentAnswer, Reach, SnapshotView } from '../contract.ts';
import { activeIds, leafPaths } from '../fleet/paths.ts';
import type { Moment, Replay } from './replay.ts';

export function snapshotView(kind: ActorKind, snapshot: AnyMachineSnapshot): SnapshotView {
  const { value, status, context } = snapshot;
  return {
    value,
    active: activeIds(definitions[kind].machine, value),
    state: leafPaths(value),
    tags: [...snapshot.tags],
    status,
    context: context as Readonly<Record<string, unknown>>,
  };
}

export function reachOf({ moments, stopped, missing, isProved, head }: Replay): Reach {
  const from = moments.at(0)?.position ?? null;
  const to = moments.at(-1)?.position ?? null;
  const begins = from === null ? 'cut' : 'creation';
  if (stopped === undefined) {
    const sentence = isProved
      ? 'All of its life is in the journal, and replaying it ends in exactly what is stored.'
      : head === undefined
        ? 'All of its life is in the journal; its record cannot be read by this program, so whether replaying ends there is not known.'
        : 'All of its life is in the journal; replaying it does not end in what is stored, so another chart took part in it.';
    return { from, to, begins, missing, sentence };
  }
  const { position, reason } = stopped;
  const sentence =
    from === null
      ? `Nothing before its present state can be shown: ${reason}.`
      : `It can be shown from its creation up to position ${to}; from position ${position} on, ${head === undefined ? 'nothing' : 'only its present state'} is known: ${reason}.`;
  return { from, to, begins, missing, sentence };
}

/** The actor right after `position`: after the last of its events that is not behind it. */
export function momentAt(replay: Replay, position: number): MomentAnswer {
  const reach = reachOf(replay);
  const { moments, stopped, kind } = replay;
  const index = moments.findLastIndex((one) => one.position <= position);
  const moment = moments[index];
  if (moment === undefined) {
    const reason = reach.from === null ? reach.sentence : `it was created later, at position ${reach.from}`;
    return { known: false, position, reason, reach };
  }
  if (stopped !== undefined && position >= stopped.position)
    return { known: false, position, reason: stopped.reason, reach };
  return {
    known: true,
    event: eventOf(moment),
    position: moment.position,
    version: moment.version,
    previous: moments[index - 1]?.position ?? null,
    next: moments[index + 1]?.position ?? null,
    transitions: takenBy(kind, moment),
    changed: changedFields(moment),
    provedAtHead: replay.isProved,
    reach,
    ...snapshotView(kind, moment.snapshot),
  };
}

const eventOf = ({ position, version, outcome, envelope }: Moment): EventView => {
  const { eventId, type, actor, producer, at, payload } = envelope;
  return { position, eventId, type, actor, producer, outcome, version, wallMs: at.wallMs, payload };
};

function changedFields({ before, snapshot }: Moment): string[] {
  if (before === undefined) return Object.keys(snapshot.context);
  return Object.keys(snapshot.context).filter((field) => !sameJson(before.context[field], snapshot.context[field]));
}

const idOf = (source: AnyTransitionDefinition['source']): string => [source.machine.id, ...source.path].join('.');

/** Ids of the transitions that the event took, as charts number them: the choices of a state for an event, in order. */
export function takenBy(kind: ActorKind, { before, envelope }: Pick<Moment, 'before' | 'envelope'>): string[] {
  if (before === undefined) return [];
  const event = machineEvent(envelope as Parameters<typeof machineEvent>[0]);
  try {
    const taken = definitions[kind].machine.getTransitionData(before, event) ?? [];
    return taken.map((transition: AnyTransitionDefinition) => {
      const { source, eventType } = transition;
      const choices = source.transitions.get(eventType) ?? [];
      return `${idOf(source)}#${eventType}#${Math.max(0, choices.indexOf(transition))}`;
    });
  } catch {
    return [];
  }
}
