import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';

export interface Recorded {
  readonly who: 'guardian' | 'workload' | 'witness';
  readonly identity: ProcessIdentity;
}

/** Every process that is on record as one of the scope: guardian and root, and whoever else was seen in the tree. */
export function recordedProcesses({ guardian, workload, witnesses }: ScopeSnapshot['context']): Recorded[] {
  const known: Recorded[] = [];
  if (guardian !== null) known.push({ who: 'guardian', identity: guardian });
  if (workload !== null) known.push({ who: 'workload', identity: workload });
  const like = guardian ?? workload;
  if (like === null) return known;
  const others = Object.entries(witnesses).filter(
    ([pid]) => !known.some(({ identity }) => String(identity.pid) === pid),
  );
  return [
    ...known,
    ...others.map(([pid, processToken]) => ({
      who: 'witness' as const,
      identity: { ...like, pid: Number(pid), processToken, adapterEvidence: '' },
    })),
  ];
}
