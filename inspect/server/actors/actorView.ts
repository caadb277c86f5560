/** Everything about one actor: where it stands, what leads on, what it rests on, and who else has to do with it. */

import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { eventViews } from '../../../actors/daemon/views/eventView.ts';
import { intact } from '../../../actors/runtime/actorAccess.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import { explainInDaemon } from '../../explain/daemonExplainer.ts';
import { notHere, Refusal } from '../access/refusal.ts';
import type { ActorAnswer, Explanation, JournalAnswer } from '../contract.ts';
import { refusals } from '../contract.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { presentRow } from '../fleet/present.ts';
import { evidenceOf } from './evidence.ts';
import type { Histories } from './history.ts';
import { linksOf } from './links.ts';
import { reachOf, snapshotView } from './moment.ts';

export interface ActorParts {
  readonly daemon: InspectedDaemon;
  readonly fleet: Fleet;
  readonly histories: Histories;
}

export interface Address {
  readonly kind: ActorKind;
  readonly id: string;
}

const shownEvents = 100;

/** Throws a Refusal where there is none, and `record_corrupt` for a record that cannot be trusted. */
export async function actorAnswer(parts: ActorParts, address: Address): Promise<ActorAnswer> {
  const { daemon } = parts;
  const { host } = daemon;
  const { kind, id } = address;
  if (intact(host, kind, id) === 'corrupt') throw await distrusted(daemon, address);
  const { explanation, history } = await unchanged(parts, address);
  // From here on in one turn: nothing is committed between what is read.
  const snapshot = intact(host, kind, id);
  const row = presentRow(parts, kind, id);
  if (snapshot === 'corrupt') throw await distrusted(daemon, address);
  if (history === undefined || snapshot === undefined || row === undefined) throw notHere(`${kind} ${id}`);
  const { version, structuralHash, plane } = definitions[kind];
  const context = snapshot.context as unknown as Readonly<Record<string, unknown>>;
  return {
    ...snapshotView(kind, snapshot),
    kind,
    id,
    row,
    version: host.versionOf(kind, id) ?? 0,
    position: row.position,
    definition: { version, structuralHash, plane },
    explanation,
    links: linksOf(host, address, context),
    evidence: evidenceOf(kind, context),
    journal: journalOf(daemon, address, { limit: shownEvents }),
    reach: reachOf(history),
  };
}

/** Somebody is told of the actor again as soon as it was changed again. */
const mostTries = 3;

/** What takes turns to be found out, found out again where the actor was changed meanwhile. */
async function unchanged({ daemon, histories }: ActorParts, address: Address) {
  const { kind, id } = address;
  for (let tries = 1; ; tries += 1) {
    if (intact(daemon.host, kind, id) === undefined) throw notHere(`${kind} ${id}`);
    const version = daemon.host.versionOf(kind, id);
    const explanation = await explanationOf(daemon, address);
    const history = await histories.of(kind, id);
    if (daemon.host.versionOf(kind, id) === version || tries === mostTries) return { explanation, history };
  }
}

/** Why its record is not shown, and what can be done: it may be damaged, or of a newer program. */
async function distrusted(daemon: InspectedDaemon, address: Address): Promise<Refusal> {
  const { what, fault } = await explanationOf(daemon, address);
  const next = fault === 'definition_newer' ? ['start the newer program version'] : ['custody doctor'];
  return new Refusal(refusals.corrupt, what, next);
}

/** Throws a Refusal where there is no such actor. */
async function explanationOf(daemon: InspectedDaemon, address: Address): Promise<Explanation> {
  const explanation = await explainInDaemon(daemon, address);
  if (explanation === undefined) throw notHere(`${address.kind} ${address.id}`);
  return explanation;
}

/** Newest first. */
export function journalOf(
  { store }: Pick<InspectedDaemon, 'store'>,
  actor: Address,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): JournalAnswer {
  const after = before === undefined ? {} : { after: before };
  const events = eventViews(store.journal.page({ actor, newestFirst: true, limit, ...after }));
  return { events, before: events.length < limit ? null : (events.at(-1)?.position ?? null) };
}
