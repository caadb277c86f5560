/** Who descends from whom, in one listing of processes. */

interface Listed {
  readonly pid: number;
  readonly ppid: number;
}

/** The pids of these processes and of everybody below them. */
export function descendantsOf(processes: readonly Listed[], roots: Iterable<number>): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const { pid, ppid } of processes) {
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [pid]);
    else siblings.push(pid);
  }
  // A set is walked in the order in which it grows.
  const found = new Set(roots);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return found;
}

/** Guardians let nobody but root look into them (PR_SET_DUMPABLE), and need not be: where they belong is known. */
export const missesOnly = (skipped: readonly number[], known: ReadonlySet<number>): boolean =>
  skipped.every((pid) => known.has(pid));
