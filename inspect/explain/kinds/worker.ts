/** Why a scheduling worker is not at work, and what the fence that orders its replacement waits for. */
import { intact } from '../../../actors/runtime/actorAccess.ts';
import { standingInWords, standingOf } from '../scopes.ts';
import { descriptionsAt, statePaths } from '../states.ts';
import type { About, Subject } from '../subject.ts';
import { inWords } from '../words.ts';

type Worker = Subject<'workerIncarnation'>;

export function aboutWorker(worker: Worker): About {
  const { id, snapshot } = worker;
  return {
    what: `Worker ${id} schedules the checks of this installation, in scope ${snapshot.context.scopeId}.`,
    waitsFor: waits(worker),
    helps: isWorking(worker) ? ['worker.registered', 'scheduler.tick'] : ['scheduler.tick', 'scope.exitProved'],
    facts: facts(worker),
  };
}

const isWorking = ({ snapshot }: Worker): boolean =>
  snapshot.matches('launching') || snapshot.matches('starting') || snapshot.matches('healthy');

function waits(worker: Worker): readonly string[] {
  const { snapshot, source } = worker;
  const { scopeId, startupMs, silenceMs, tick } = snapshot.context;
  if (snapshot.matches('exited')) return [];
  const standing = standingOf(source, scopeId);
  const words = standing === undefined ? `scope ${scopeId} is not on record` : standingInWords(standing);
  if (snapshot.matches('launching')) return [`It waits for its own registration; ${words}.`];
  if (snapshot.matches('starting'))
    return [`It waits for its first exact tick for this target, within ${startupMs} ms.`];
  if (snapshot.matches('healthy'))
    return [
      `It works, and waits for nothing but its next tick (the last on record is number ${tick.seq}; silence of ${silenceMs} ms makes it suspect).`,
    ];
  if (snapshot.matches('suspect'))
    return ['It waits for a tick, which leads back, or for a recovery, which ends it; its silence proves nothing.'];
  const proof = `It waits for proof that nobody of it remains: ${words} (custody explain ${scopeId})`;
  return snapshot.matches('ownershipUnverified') ? [`${proof}. Nothing replaces it before that.`] : [`${proof}.`];
}

function facts({ snapshot, source }: Worker): readonly string[] {
  const { reason, runtimeId } = snapshot.context;
  const fence = intact(source.host, 'recoveryFence', runtimeId);
  const told: string[] = [];
  if (reason !== null) told.push(`Why it is no longer relied upon: ${inWords(reason)}.`);
  if (fence === 'corrupt')
    told.push(
      `The record of its fence ${runtimeId} cannot be trusted, so nobody can tell whether a replacement may be launched.`,
    );
  else if (fence !== undefined)
    told.push(
      `Its replacement is ordered by fence ${runtimeId}: ${descriptionsAt('recoveryFence', statePaths(fence)).join(' ')}`,
    );
  return told;
}
