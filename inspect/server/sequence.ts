/** Who said what to whom, out of the journal: over a range of positions, for everybody, one actor, or all of a Goal. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import type { HostedEnvelope } from '../../actors/host/outcome.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';
import type { Address } from './actors/actorView.ts';
import type { Message, Party, SequenceAnswer } from './contract.ts';
import { type Fleet, keyOf } from './fleet/fleet.ts';
import { rowsOfGoal } from './fleet/present.ts';
import { messageOf, Positions } from './updates/messages.ts';

export interface SequenceRange {
  /** Behind this position; without it, and without `before`, the newest. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly actor?: Address | undefined;
  readonly goalId?: string | undefined;
}

interface Parts {
  readonly daemon: Pick<InspectedDaemon, 'store' | 'host'>;
  readonly fleet: Fleet;
}

/** Actors of one Goal that are read together. */
const mostActors = 500;
/** Each brings up to a page, some milliseconds. */
const actorsOfATurn = 4;

export async function sequenceOf(parts: Parts, range: SequenceRange): Promise<SequenceAnswer> {
  const found = await entriesOf(parts, range);
  const isForward = range.after !== undefined;
  // One more than was asked for tells whether there is more on that side.
  const more = found.length > range.limit;
  const entries = more ? (isForward ? found.slice(0, range.limit) : found.slice(1)) : found;
  const [from, to] = [entries.at(0)?.position ?? range.after ?? 0, entries.at(-1)?.position ?? range.after ?? 0];
  const messages = messagesOf(parts, entries);
  return {
    parties: partiesOf(parts, messages),
    messages,
    from,
    to,
    moreBefore: isForward ? (range.after as number) > 0 : more,
    moreAfter: isForward ? more : range.before !== undefined,
  };
}

/** Oldest first, at most one more than the limit. */
async function entriesOf(parts: Parts, range: SequenceRange): Promise<readonly JournalEntry[]> {
  const { goalId, after, before } = range;
  const limit = range.limit + 1;
  const found = goalId === undefined ? pageOf(parts, range, range.actor) : await entriesOfGoal(parts, range, goalId);
  const shown = after === undefined ? found.slice(-limit) : found.slice(0, limit);
  return after !== undefined && before !== undefined ? shown.filter(({ position }) => position < before) : shown;
}

/** Of one actor, or of everybody. */
function pageOf(
  { daemon: { store } }: Parts,
  range: SequenceRange,
  actor: Address | undefined,
): readonly JournalEntry[] {
  const { after, before } = range;
  const filter = { limit: range.limit + 1, ...(actor === undefined ? {} : { actor }) };
  if (after !== undefined) return store.journal.page({ ...filter, after });
  const from = before === undefined ? {} : { after: before };
  return store.journal.page({ ...filter, newestFirst: true, ...from }).toReversed();
}

/**
 * One actor after the other, with turns for everybody else between. What is committed meanwhile is left out for all of them
 * alike: of those that were read first it would be missing.
 */
async function entriesOfGoal(parts: Parts, range: SequenceRange, goalId: string): Promise<readonly JournalEntry[]> {
  const { after, before = Number.POSITIVE_INFINITY } = range;
  const limit = range.limit + 1;
  const end = Math.min(before, parts.daemon.store.journal.lastPosition() + 1);
  const newestFirst = rowsOfGoal(parts, goalId).toSorted((one, other) => other.position - one.position);
  let found: readonly JournalEntry[] = [];
  for (const [index, row] of newestFirst.slice(0, mostActors).entries()) {
    if (index > 0 && index % actorsOfATurn === 0) await nextTurn();
    // All that follow were changed before everything that is shown.
    if (after === undefined && found.length === limit && row.position < (found[0] as JournalEntry).position) break;
    const page = pageOf(parts, after === undefined ? { ...range, before: end } : range, row);
    const all = [...found, ...page.filter(({ position }) => position < end)];
    all.sort((one, other) => one.position - other.position);
    found = after === undefined ? all.slice(-limit) : all.slice(0, limit);
  }
  return found;
}

function messagesOf({ daemon: { host } }: Parts, entries: readonly JournalEntry[]): Message[] {
  const positions = new Positions(Number.POSITIVE_INFINITY);
  const positionOf = (eventId: string, actor: string | undefined): number | undefined =>
    positions.of(eventId, actor) ??
    host.applied(eventId).find((one) => actor === undefined || keyOf(one.actor) === actor)?.position;
  return entries.flatMap((entry) => {
    if (!entry.intact) return [];
    positions.note(entry.eventId, keyOf(entry.actor), entry.position);
    const { position, outcome } = entry;
    return [messageOf({ position, outcome, envelope: entry.envelope as HostedEnvelope, state: null }, positionOf)];
  });
}

function partiesOf({ fleet }: Parts, messages: readonly Message[]): Party[] {
  const keys = new Set(messages.flatMap(({ from, to }) => [from, to]));
  return [...keys].map((key) => {
    const actor = !key.startsWith('producer:');
    const [kind = '', ...rest] = key.replace(/^producer:/, '').split('/');
    const id = rest.join('/');
    return { key, kind, id, actor, label: actor ? (fleet.row(kind, id)?.label ?? null) : null };
  });
}
