/** Lines of actors that somebody asks for by name, whether the fleet has them (yet) or not: the host knows them all. */
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { intact } from '../../../actors/runtime/actorAccess.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { largestLimit } from '../../../persistence/paging.ts';
import type { ActorRow } from '../contract.ts';
import type { Fleet } from './fleet.ts';

interface Parts {
  readonly daemon: Pick<InspectedDaemon, 'host' | 'store'>;
  readonly fleet: Fleet;
}

/** Undefined where there is none, or its record cannot be trusted and the fleet has not said so yet. */
export function presentRow(
  { daemon: { host, store }, fleet }: Parts,
  kind: ActorKind,
  id: string,
): ActorRow | undefined {
  const known = fleet.row(kind, id);
  const after = intact(host, kind, id);
  if (after === undefined || after === 'corrupt') return known?.status === 'corrupt' ? known : undefined;
  const [key, version] = [store.actors.keyOf({ kind, id }), host.versionOf(kind, id)];
  // The fleet is told of commits together: what was committed a moment ago is not in it yet.
  if (known !== undefined && (known.status === 'corrupt' || known.version === version)) return known;
  if (key === undefined || version === undefined) return undefined;
  return fleet.line({ actor: { kind, id }, position: store.journal.newestOf(key, 1), version, after });
}

/** The newest thousand of each kind: what names a Goal, and the sessions, which name a run of it; the Goal itself first. */
export function rowsOfGoal(parts: Parts, goalId: string): readonly ActorRow[] {
  const { host } = parts.daemon;
  const found = new Map<string, ActorRow>();
  const add = (kind: ActorKind, id: string) => {
    const row = presentRow(parts, kind, id);
    if (row !== undefined) found.set(`${kind}/${id}`, row);
  };
  add('goal', goalId);
  // A list that is longer than one answer ends with what came last, which is what people look for.
  const newest = { link: { name: 'goalId', value: goalId }, newestFirst: true, limit: largestLimit };
  for (const kind of ['worktreeGeneration', 'executionScope', 'run'] as const)
    for (const { id } of host.list(kind, newest)) {
      add(kind, id);
      if (kind === 'run') for (const session of host.linked('ptySession', 'runId', id)) add('ptySession', session);
    }
  return [...found.values()];
}
