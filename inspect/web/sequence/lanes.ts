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

/** People and programs outside have lanes of their own; what the daemon is made of shares one. */
const outside = new Set(['operator', 'agent', 'launcher', 'importer', 'worker']);
const runtime = 'runtime';

const laneOf = ({ key, kind, actor }: Party): string => (actor || outside.has(kind) ? key : runtime);

/** One lane for each actor that says or hears something, in the order in which they first do; the others before them. */
export function lanesOfParties(parties: readonly Party[], messages: readonly Message[]): Lanes {
  const known = new Map(parties.map((party) => [party.key, party]));
  const lanes = new Map<string, Lane & { readonly isActor: boolean }>();
  for (const { from, to } of messages) {
    for (const party of [known.get(from), known.get(to)]) {
      if (party === undefined || lanes.has(laneOf(party))) continue;
      lanes.set(laneOf(party), { ...laneFor(party), isActor: party.actor });
    }
  }
  const shown = [...lanes.values()].sort((a, b) => Number(a.isActor) - Number(b.isActor));
  const places = new Map(shown.map(({ key }, index) => [key, index]));
  const lanesOf = new Map(parties.map((party) => [party.key, places.get(laneOf(party)) ?? 0]));
  return { lanes: shown, indexOf: (party) => lanesOf.get(party) ?? 0 };
}

function laneFor(party: Party): Lane {
  const { kind, id, actor, label } = party;
  const key = laneOf(party);
  if (key === runtime) return runtimeLane;
  const detail = isKind(kind) ? kinds[kind].one : kind;
  return {
    key,
    label: label?.split('/').at(-1) || id,
    detail: detail === id ? '' : detail,
    actor: actor ? { kind, id } : null,
  };
}

const runtimeLane: Lane = { key: runtime, label: 'Runtime', detail: 'parts of the daemon', actor: null };

/** One lane for each kind: how the parts of the program talk, whoever they are. */
export function lanesOfKinds(parties: readonly Party[], messages: readonly Message[]): Lanes {
  const kindOf = new Map(parties.map((party) => [party.key, party.actor ? party.kind : laneKind(party)]));
  const present = new Set(messages.flatMap(({ from, to }) => [kindOf.get(from) ?? '', kindOf.get(to) ?? '']));
  present.delete('');
  const others = [...present].filter((kind) => !isKind(kind) && kind !== runtime).sort();
  const order = [
    ...others,
    ...(present.has(runtime) ? [runtime] : []),
    ...kindOrder.filter((kind) => present.has(kind)),
  ];
  return {
    lanes: order.map((kind) => {
      if (kind === runtime) return runtimeLane;
      return { key: kind, label: isKind(kind) ? kinds[kind].many : kind, detail: '', actor: null };
    }),
    indexOf: (party) => Math.max(0, order.indexOf(kindOf.get(party) ?? '')),
  };
}

const laneKind = ({ kind }: Party): string => (outside.has(kind) ? kind : runtime);
