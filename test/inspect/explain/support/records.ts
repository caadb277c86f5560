/** What an explanation is made from, given snapshot by snapshot: what is not given is not on record. */
import type { AnyMachineSnapshot } from 'xstate';
import { HostError } from '../../../../actors/host/hostError.ts';
import type { HostedEnvelope } from '../../../../actors/host/outcome.ts';
import type { ExplainSource, Members } from '../../../../inspect/explain/source.ts';
import type { ActorKind } from '../../../../machines/ids.ts';
import { definitions } from '../../../../machines/registry.ts';
import type { JournalEntry, JournalFilter } from '../../../../persistence/tables/journal.ts';

export interface Records {
  readonly actors: ReadonlyArray<readonly [kind: ActorKind, id: string, snapshot: AnyMachineSnapshot | 'corrupt']>;
  readonly nodeId?: string;
  readonly members?: Readonly<Record<string, Members | 'unanswered'>>;
  /** Whether a check is configured for every repository; `unknown` where nobody can say. */
  readonly checks?: boolean | 'unknown';
  /** Events of scopes, oldest first. */
  readonly told?: readonly HostedEnvelope[];

  readonly inFlight?: readonly string[];
}

/** Reads as a host does: by links that the charts themselves derive. The journal holds what was `told`. */
export function sourceOf({
  actors,
  nodeId = 'N1',
  members = {},
  inFlight = [],
  told = [],
  checks = true,
}: Records): ExplainSource {
  const rows = actors.map(([kind, id, snapshot], index) => ({ key: index + 1, kind, id, snapshot }));
  const list: ExplainSource['host']['list'] = (kind, { link, settled, released, after = 0 } = {}) =>
    rows
      .filter((row) => row.kind === kind && row.key > after)
      .map((row) => ({ ...row, version: 1, ...traits(row.kind, row.snapshot) }))
      .filter((row) => link === undefined || row.links[link.name] === link.value)
      .filter((row) => settled === undefined || row.settled === settled)
      .filter((row) => released === undefined || row.released === released);
  return {
    host: {
      snapshotOf(kind, id) {
        const found = rows.find((row) => row.kind === kind && row.id === id)?.snapshot;
        if (found === 'corrupt') throw new HostError('actor_corrupt', `${kind} ${id} is damaged`);
        return found;
      },
      versionOf: () => 1,
      linked: (kind, name, value) => list(kind, { link: { name, value } }).map(({ id }) => id),
      list,
    },
    journal: { page: (query) => pageOf(told, query) },
    nodeId,
    hasCheck: () => (checks === 'unknown' ? undefined : checks),
    isLaunchedHere: (scopeId) => inFlight.includes(scopeId),
    membersOf: (scopeId) => members[scopeId],
  };
}

function pageOf(told: readonly HostedEnvelope[], query: JournalFilter = {}): readonly JournalEntry[] {
  const { actor, type, newestFirst = false, limit = told.length } = query;
  const found = told
    .map((envelope, index) => ({ ...envelope, envelope, position: index + 1, intact: true, outcome: 'changed' }))
    .filter(
      (entry) => (actor === undefined || entry.actor.id === actor.id) && (type === undefined || entry.type === type),
    );
  return (newestFirst ? found.toReversed() : found).slice(0, limit) as unknown as readonly JournalEntry[];
}

/** Of a damaged row the index still knows what it knew: here, that it may belong to anybody. */
function traits(kind: ActorKind, snapshot: AnyMachineSnapshot | 'corrupt') {
  if (snapshot === 'corrupt')
    return { settled: false, released: false, links: { goalId: 'G1' } as Record<string, string> };
  const { isSettled, isReleased, links } = definitions[kind];
  return {
    settled: isSettled(snapshot),
    released: isReleased(snapshot),
    links: links(snapshot) as Record<string, string>,
  };
}
