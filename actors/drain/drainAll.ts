/**
 * Ends everything that is owned (SHUT-01): whatever the store has no proof for is ordered to end, and once those are
 * settled the store is looked at again, until a look finds nobody new (SHUT-10).
 */
export interface OwnedWork {
  /** Every scope that is not proved to be gone, at this moment. */
  owned(): readonly string[];
  /** Commits the order to end it. */
  order(scopeId: string): Promise<void>;
  /** Resolves when each is proved or its end has stalled, at the latest at the given time. */
  settled(scopeIds: readonly string[], untilMonoMs: number): Promise<void>;
  /** Told once the first look's scopes are settled. */
  onSettled?(): void;
}

export interface DrainedAll {
  readonly settled: readonly string[];
  /** Not proved, whether it was ordered to end or found too late for that. */
  readonly left: readonly string[];
}

export interface Until {
  readonly untilMonoMs: number;
  readonly clock: { monoMs(): number };
}

export async function drainAll(work: OwnedWork, { untilMonoMs, clock }: Until): Promise<DrainedAll> {
  const ordered = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const left = work.owned();
    const fresh = left.filter((scopeId) => !ordered.has(scopeId));
    if (!isFirst && (fresh.length === 0 || clock.monoMs() >= untilMonoMs)) {
      return { settled: [...ordered].filter((scopeId) => !left.includes(scopeId)), left };
    }
    for (const scopeId of fresh) ordered.add(scopeId);
    await Promise.all(fresh.map((scopeId) => work.order(scopeId)));
    await work.settled(fresh, untilMonoMs);
    if (isFirst) work.onSettled?.();
  }
}
