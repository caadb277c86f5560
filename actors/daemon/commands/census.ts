/**
 * A look at this machine for whoever asks: what serves this installation, and what looks like work of a scope and is in the
 * tree of none. Such a process proves nothing, and that none is found proves nothing either: an environment can be changed
 * and a directory left. It is made for the moment and kept nowhere.
 */
import { realpathSync } from 'node:fs';
import { descendantsOf, missesOnly } from '../../observe/lineage.ts';
import type { Survey } from '../../observe/linux/census.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import type { CensusView, EscapeeView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { presenceOf, recordedIdentity } from '../terminals/hostProcess.ts';

/** What every workload is started with (the launch puts it there). */
const scopeVariable = 'CUSTODY_SCOPE';

/** Named in one answer; the total is exact. */
const mostNamed = 256;

export function censusOf(context: DaemonContext): CensusView {
  const { escapees, ...census } = lookAround(context);
  return { ...census, escapees: escapees.slice(0, mostNamed), escapeesTotal: escapees.length };
}

/** The same with everybody who was found. */
export function lookAround(context: DaemonContext): Omit<CensusView, 'escapeesTotal'> {
  const infrastructure = infrastructureOf(context);
  const worktrees = worktreesOf(context);
  const survey = context.adapter.survey({
    uid: process.getuid!(),
    variable: scopeVariable,
    directories: [...worktrees.keys()],
  });
  const ours = descendantsOf(survey.processes, [...infrastructure.map(({ pid }) => pid), ...guardiansOf(context)]);
  return {
    infrastructure,
    escapees: escapeesIn(context, survey, { ours, worktrees }),
    looked: survey.looked,
    complete: missesOnly(survey.skipped, ours),
  };
}

function infrastructureOf(context: DaemonContext): CensusView['infrastructure'] {
  const terminals = presenceOf(context) === 'living' ? recordedIdentity(context)?.pid : undefined;
  const { pid: worker } = context.workers.view();
  return [
    { what: 'daemon', pid: process.pid },
    ...(terminals === undefined ? [] : [{ what: 'terminals' as const, pid: terminals }]),
    ...(worker === null ? [] : [{ what: 'worker' as const, pid: worker }]),
  ];
}

/** By the path under which a process that stands there sees it. */
function worktreesOf({ host }: DaemonContext): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot !== 'corrupt') found.set(realPath(snapshot.context.path), id);
  }
  return found;
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it is gone, and whoever stands in it still sees its last name
  }
}

interface Known {
  /** What serves, every guardian, and all that descends from them. */
  readonly ours: ReadonlySet<number>;
  readonly worktrees: ReadonlyMap<string, string>;
}

function escapeesIn(context: DaemonContext, survey: Survey, { ours, worktrees }: Known): EscapeeView[] {
  const { host, adapter } = context;
  return survey.traces.flatMap(({ process: { pid, ppid }, value, directory }) => {
    // Another installation of the same user has scopes of its own.
    const isOurs = value !== undefined && intact(host, 'executionScope', value) !== undefined;
    const generationId = directory === undefined ? null : (worktrees.get(directory) ?? null);
    if (ours.has(pid) || (!isOurs && generationId === null)) return [];
    const name = adapter.nameOf(pid);
    return [{ pid, ppid, ...(name === undefined ? {} : { name }), scopeId: isOurs ? value : null, generationId }];
  });
}

/** Also those that are known from the record alone: a pid that was reused leads at worst to one name too few. */
function* guardiansOf({ host }: DaemonContext): Generator<number> {
  for (const { snapshot } of everyActor(host, 'executionScope', { released: false })) {
    if (snapshot !== 'corrupt' && snapshot.context.guardian !== null) yield snapshot.context.guardian.pid;
  }
}
