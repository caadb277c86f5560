import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { SamplingContext } from './context.ts';
import { type Eyes, lookAtStat, lookAtUid } from './look.ts';
import { isDefunct, isVanishing } from './stat.ts';
import { absence, alive, ended, unknown, type Verdict } from './verdict.ts';

/** Why one attempt settled nothing; a second attempt follows, a third never. */
type Again = 'changed' | 'vanishing' | 'unseen';

function isAgain(outcome: Verdict | Again): outcome is Again {
  return typeof outcome === 'string';
}

/** Another process has the pid. Believed when two looks in a row show the same stranger. */
function stranger(eyes: Eyes, pid: number, start: string): Verdict | Again {
  const second = lookAtStat(eyes, pid);
  if (second === 'gone') return 'changed';
  if (typeof second === 'string') return unknown(second);
  return second.start === start && !isVanishing(second) ? ended('replaced') : 'changed';
}

/** A zombie without threads. Believed when the second look shows it too; one that was reaped meanwhile is looked for anew. */
function corpse(eyes: Eyes, identity: ProcessIdentity): Verdict | Again {
  const second = lookAtStat(eyes, identity.pid);
  if (second === 'gone') return 'changed';
  if (typeof second === 'string') return unknown(second);
  return second.start === identity.processToken && isDefunct(second) ? ended('defunct') : 'changed';
}

/** stat → uid → stat (OBS-02), three reads at most: what both looks at stat agree on was true in between. */
function attempt(eyes: Eyes, identity: ProcessIdentity, context: SamplingContext): Verdict | Again {
  const { pid, processToken } = identity;
  const before = lookAtStat(eyes, pid);
  if (before === 'gone') return absence(eyes, identity, context);
  if (typeof before === 'string') return unknown(before);
  if (before.start !== processToken) return stranger(eyes, pid, before.start);
  if (isVanishing(before)) return 'vanishing';
  if (isDefunct(before)) return corpse(eyes, identity);

  const uid = lookAtUid(eyes, pid);
  if (uid === 'gone') return 'changed';
  if (typeof uid === 'string') return unknown(uid);

  const after = lookAtStat(eyes, pid);
  if (after === 'gone') return 'changed';
  if (typeof after === 'string') return unknown(after);
  if (after.start !== processToken || isDefunct(after) || isVanishing(after)) return 'changed';
  return alive(identity, { stat: after, uid, strength: 'ticks' }, context);
}

/**
 * One process by its path: at most six reads. An attempt that saw the process change under it is repeated once; when that
 * settles nothing either, the answer is unknown and the caller asks again later.
 */
export function sampleByPath(eyes: Eyes, identity: ProcessIdentity, context: SamplingContext): Verdict {
  const first = attempt(eyes, identity, context);
  if (!isAgain(first)) return first;
  const second = attempt(eyes, identity, context);
  if (!isAgain(second)) return second;
  if (first === 'unseen' && second === 'unseen') return unknown('proc_hidden');
  // State X lasts for an instant; whoever shows it at two looks is dead and only its release is late (OBS-06).
  if (first === 'vanishing' && second === 'vanishing') return ended('defunct');
  return unknown('race');
}
