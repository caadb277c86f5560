/**
 * A restored store remembers less than the world holds: runs may be alive that it never heard of (ruling 29). So every
 * generation that it shows as unsealed gets an open coverage gap, which keeps it from being sealed until the machine has
 * been restarted, because then nobody of that time is left (WT-04). The mark of an unsettled restore is written together
 * with the first write of the start that noticed it, so that a crash in between loses nothing.
 */
import type { Store } from '../../persistence/store.ts';
import { everyActor } from '../runtime/actorAccess.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { draft } from '../runtime/submission.ts';

const unsettled = 'restored.unsettled';
const settled = 'restored.settled';
const gapPrefix = 'restored:';

const by = 'recovery';

/** To be called inside the first write transaction of a start, and harmless in any later one. */
export function markRestored(store: Pick<Store, 'meta' | 'restored' | 'epoch'>): void {
  if (store.restored === undefined || store.meta.get(settled) === String(store.epoch)) return;
  store.meta.set(unsettled, String(store.epoch));
}

/** Whether this start works with a store that was restored and not settled yet: its silence about a launch means nothing. */
export const isRestored = ({ meta }: Pick<Store, 'meta'>): boolean => meta.get(unsettled) !== undefined;

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log'>;

/** Closes the gaps of restores before the last boot and opens those of a new one. A repeat finds them recorded. */
export async function settleRestored(parts: Parts): Promise<void> {
  const { store, log } = parts;
  await closeGapsOfOtherBoots(parts);
  const epoch = store.meta.get(unsettled);
  if (epoch === undefined) return;
  const generations = await openGaps(parts, epoch);
  store.write(() => {
    store.meta.set(settled, epoch);
    store.meta.remove(unsettled);
  });
  log.warn({ generations }, 'this store was restored: its worktrees cannot be sealed before the machine is restarted');
}

async function openGaps({ host, clock }: Parts, epoch: string): Promise<number> {
  const gapId = `${gapPrefix}${epoch}:${clock.bootId()}`;
  const { wallMs } = clock.now();
  let opened = 0;
  for (const { id, snapshot } of [...everyActor(host, 'worktreeGeneration', { settled: false })]) {
    if (snapshot === 'corrupt' || snapshot.matches({ lifecycle: 'sealed' })) continue;
    const payload = { gapId, producer: by, kind: 'restored_store', window: { from: 0, to: wallMs }, count: 1 };
    await host.submit([draft('coverage.gapRecorded', { to: ['worktreeGeneration', id], payload, by })]);
    opened += 1;
  }
  return opened;
}

async function closeGapsOfOtherBoots({ host, clock }: Parts): Promise<void> {
  const bootId = clock.bootId();
  for (const { id, snapshot } of [...everyActor(host, 'worktreeGeneration', { settled: false })]) {
    if (snapshot === 'corrupt') continue;
    for (const gapId of snapshot.context.coverageGaps.open) {
      if (!gapId.startsWith(gapPrefix) || gapId.endsWith(`:${bootId}`)) continue;
      const payload = { gapId, evidence: 'boot_epoch' as const, evidenceRef: bootId };
      await host.submit([draft('coverage.gapClosed', { to: ['worktreeGeneration', id], payload, by })]);
    }
  }
}
