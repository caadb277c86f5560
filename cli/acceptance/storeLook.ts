/** What stands in the store of an observer when nobody has it: every run, and whether everything agrees with its digest. */
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import type { Host } from '../../actors/host/api.ts';
import { createHost } from '../../actors/host/host.ts';
import { everyActor, everyRow } from '../../actors/runtime/actorAccess.ts';
import { protocol } from '../../machines/protocol.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import type { Freshness } from '../../persistence/tables/freshness.ts';

export interface RunSeen {
  readonly runId: string;
  /** `reserved`, `bound`, `ended`. */
  readonly state: string;
  readonly pid: number | null;
  readonly endReason: string | null;
  readonly label: string | null;
  readonly gaps: readonly string[];
  readonly generationId: string | null;
  /** Its claimed exit status; null where none was told. */
  readonly exitCode: number | null;
  readonly freshness: Freshness | undefined;
}

export interface StoreSeen {
  readonly runs: readonly RunSeen[];
  /** Runs whose record cannot be trusted. */
  readonly corrupt: number;
  /** Pages, rows and references that do not agree (what `custody doctor` calls integrity). */
  readonly problems: number;
  readonly events: number;
}

/** Throws StoreError for a store that is refused. */
export async function lookIn(stateDir: string): Promise<StoreSeen> {
  const store = openStore({ stateDir, clock: calendarClock, create: false });
  try {
    const { problems, checked } = await store.check();
    const runs = await runsIn(store);
    const sound = runs.filter((run) => run !== 'corrupt');
    return { runs: sound, corrupt: runs.length - sound.length, problems: problems.length, events: checked.events };
  } finally {
    store.close();
  }
}

async function runsIn(store: Store): Promise<(RunSeen | 'corrupt')[]> {
  const host = createHost({ ...protocol, store, clock: calendarClock });
  try {
    return runsOf(host, store);
  } finally {
    await host.close();
  }
}

function runsOf(host: Host, store: Store): (RunSeen | 'corrupt')[] {
  const keys = new Map([...everyRow(host, 'run')].map(({ id, key }) => [id as string, key]));
  return [...everyActor(host, 'run')].map(({ id, snapshot }) => {
    if (snapshot === 'corrupt') return 'corrupt';
    const { identity, end, label, gaps, generationId, exitReport } = snapshot.context;
    const { lifecycle } = snapshot.value as { readonly lifecycle: string | Readonly<Record<string, string>> };
    return {
      runId: id,
      state: typeof lifecycle === 'string' ? lifecycle : Object.keys(lifecycle).join(),
      pid: identity?.pid ?? null,
      endReason: end?.reason ?? null,
      label,
      gaps,
      generationId,
      exitCode: exitReport?.exitCode ?? null,
      freshness: store.freshness.of(keys.get(id) ?? -1),
    };
  });
}
