/** Who has a lane, and which lanes a message goes between. */
import type { Message, Party } from '../../server/contract.ts';
import { isKind, kindOrder, kinds } from '../text/kinds.ts';

export interface Lane {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  /** Whose lane it is, where it is the lane of one actor. */
  readonly actor: { readonly kind: string; readonly id: string } | null;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  readonly indexOf: (party: string) => number;
}

/** One lane for each party that says or hears something, in the order in which they first do; outsiders before actors. */
export function lanesOfParties(parties: readonly Party[], messages: readonly Message[]): Lanes {
  const order = new Map<string, number>();
  for (const { from, to } of messages) for (const key of [from, to]) if (!order.has(key)) order.set(key, order.size);
  const shown = parties
    .filter(({ key }) => order.has(key))
    .sort((a, b) => Number(a.actor) - Number(b.actor) || order.get(a.key)! - order.get(b.key)!);
  const places = new Map(shown.map(({ key }, index) => [key, index]));
  return {
    lanes: shown.map(({ key, kind, id, actor, label }) => ({
      key,
      label: label ?? id,
      detail: isKind(kind) ? kinds[kind].one : kind,
      actor: actor ? { kind, id } : null,
    })),
    indexOf: (party) => places.get(party) ?? 0,
  };
}

/** One lane for each kind: how the parts of the program talk, whoever they are. */
export function lanesOfKinds(parties: readonly Party[]): Lanes {
  const kindOf = new Map(parties.map((party) => [party.key, laneKind(party)]));
  const present = new Set(kindOf.values());
  const outside = [...present].filter((kind) => !isKind(kind)).sort();
  const order = [...outside, ...kindOrder.filter((kind) => present.has(kind))];
  return {
    lanes: order.map((kind) => ({
      key: kind,
      label: isKind(kind) ? kinds[kind].many : kind,
      detail: '',
      actor: null,
    })),
    indexOf: (party) => Math.max(0, order.indexOf(kindOf.get(party) ?? '')),
  };
}

const laneKind = ({ kind }: Party): string => kind;
