/** The members of one scope, tied together by who is whose parent. */
import type { ProcessView, ScopeTree } from '../../server/contract.ts';
import { visible } from '../text/visible.ts';

export function ProcessTree({ scope }: { readonly scope: ScopeTree }) {
  const { members, membersTotal, guardianPid, workloadPid } = scope;
  if (scope.assessment.state === 'exited') return <p class="faint">No process of it is left.</p>;
  if (members === null) {
    return <p class="faint">Its guardian could not be asked for its processes.</p>;
  }
  const pids = new Set(members.map(({ pid }) => pid));
  const children = Map.groupBy(members, ({ ppid }) => ppid ?? 0);
  const roots = members.filter(({ ppid }) => ppid === undefined || !pids.has(ppid));
  const roles = new Map<number, string>();
  if (workloadPid !== null) roles.set(workloadPid, 'root');
  if (guardianPid !== null) roles.set(guardianPid, 'guardian');
  // The kernel hands a process whose parent has ended to the guardian, its subreaper (prctl(2)).
  for (const { pid } of roots) if (!roles.has(pid)) roles.set(pid, 'adopted by the guardian: its parent has ended');
  const hidden = (membersTotal ?? members.length) - members.length;
  return (
    <div class="process-tree">
      {guardianPid !== null && !pids.has(guardianPid) && (
        <p class="process">
          <span class="mono pid">{guardianPid}</span> guardian
          {scope.unresponsiveSince !== null && <span class="faint"> does not answer</span>}
        </p>
      )}
      <ul>
        {roots.map((process) => (
          <Process key={process.pid} process={process} byParent={children} roles={roles} />
        ))}
      </ul>
      {members.length === 0 && <p class="faint">The guardian sees no member.</p>}
      {hidden > 0 && <p class="faint">{`and ${hidden} more`}</p>}
    </div>
  );
}

/** The letters of proc_pid_stat(5). */
const stateWords: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'sleeping',
  D: 'waiting for a device',
  T: 'stopped',
  t: 'stopped by a tracer',
  Z: 'ended, not collected',
  X: 'dead',
  I: 'idle',
};

interface ProcessProps {
  readonly process: ProcessView;
  readonly byParent: ReadonlyMap<number, readonly ProcessView[]>;
  readonly roles: ReadonlyMap<number, string>;
}

function Process({ process, byParent, roles }: ProcessProps) {
  const inside = byParent.get(process.pid) ?? [];
  const role = roles.get(process.pid);
  return (
    <li>
      <p class="process" data-pid={process.pid}>
        <span class="mono pid">{process.pid}</span>
        <span class="mono">{visible(process.name ?? '?')}</span>
        {role !== undefined && <span class="chip">{role}</span>}
        <span class="faint">{visible(stateWords[process.state] ?? process.state)}</span>
      </p>
      {inside.length > 0 && (
        <ul>
          {inside.map((one) => (
            <Process key={one.pid} process={one} byParent={byParent} roles={roles} />
          ))}
        </ul>
      )}
    </li>
  );
}
