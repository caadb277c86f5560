/** The containment contract of this host: one row, told to every generation that is not sealed (ruling 15). */
import type { GenerationId } from '../../../machines/ids.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { Store } from '../../../persistence/store.ts';
import type { Draft } from '../../host/outcome.ts';
import { everyActor, required } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import type { Subset } from './battery.ts';

export const contractName = 'scope-exit-proof/1';

/** Where the report lies that a contract rests on; it says as well how much of the battery was run. */
export const reportRefOf = (subset: Subset, wallMs: number): string =>
  `self_checks/containment${subset === 'full' ? '' : `.${subset}`}/${wallMs}`;

export const subsetOf = (reportRef: string): Subset =>
  reportRef.startsWith('self_checks/containment.short/') ? 'short' : 'full';

/** The event that tells a generation what holds on this host; none while nothing was verified. */
export function contractDraft(store: Pick<Store, 'contracts' | 'installationId'>, generationId: GenerationId): Draft[] {
  const row = store.contracts.find(contractName);
  if (row === undefined) return [];
  const { kernel, guardianDigest, batteryVersion, reportRef } = row;
  const payload = { contract: contractName, kernel, guardianDigest, batteryVersion, reportRef } as const;
  const subset = subsetOf(reportRef);
  const eventId = `${store.installationId}:contract:${guardianDigest}:${batteryVersion}:${subset}:${kernel}`;
  return [
    draft('contract.verified', { to: ['worktreeGeneration', generationId], payload, by: 'contract-verifier', eventId }),
  ];
}

export async function tellGenerations({ host, store }: Pick<Runtime, 'host' | 'store'>): Promise<void> {
  for (const { id, snapshot } of [...everyActor(host, 'worktreeGeneration', { settled: false })]) {
    if (snapshot === 'corrupt' || snapshot.matches({ lifecycle: 'sealed' }) || isTold(snapshot, store)) continue;
    await host.submit(contractDraft(store, id as GenerationId));
  }
}

/** For a generation that was registered while the contract was being verified, and so was told by nobody. */
export async function tellGeneration(
  { host, store }: Pick<Runtime, 'host' | 'store'>,
  generationId: GenerationId,
): Promise<void> {
  const snapshot = required(host, 'worktreeGeneration', generationId);
  if (!isTold(snapshot, store)) await host.submit(contractDraft(store, generationId));
}

function isTold({ context }: GenerationSnapshot, store: Pick<Store, 'contracts'>): boolean {
  const row = store.contracts.find(contractName);
  const told = context.noWritersContract;
  return (
    row !== undefined &&
    told?.guardianDigest === row.guardianDigest &&
    told.kernel === row.kernel &&
    told.batteryVersion === row.batteryVersion &&
    subsetOf(told.reportRef) === subsetOf(row.reportRef)
  );
}
