/**
 * What a starting daemon does before it serves: it abandons launches that nobody can carry on, ends the epochs of earlier
 * boots, reads the receipts of everything that is open, and watches the rest. Each step is an event that a repeat of the
 * recovery turns into a duplicate, so a crash in the middle costs nothing.
 */
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { everyActor } from './actorAccess.ts';
import type { Findings } from './findings.ts';
import type { Runtime } from './runtime.ts';
import type { ReceiptService } from './services/receiptService.ts';
import { draft } from './submission.ts';

type Parts = Pick<Runtime, 'host' | 'clock' | 'log'> & {
  readonly receipts: ReceiptService;
  readonly findings: Findings;
};

const by = 'recovery';

export interface RecoveryCounts {
  readonly adopted: number;
  readonly abandoned: number;
  readonly proved: number;
  readonly corrupt: number;
}

export async function recover(parts: Parts): Promise<RecoveryCounts> {
  const counts = { adopted: 0, abandoned: 0, proved: 0, corrupt: 0 };
  for (const { id, snapshot } of [...everyActor(parts.host, 'executionScope', { released: false })]) {
    if (snapshot === 'corrupt') {
      counts.corrupt += 1;
      parts.findings.add({
        scopeId: id,
        code: 'record_corrupt',
        detail: 'its stored record does not match its digest',
      });
    } else {
      counts[await recoverScope(parts, snapshot)] += 1;
    }
  }
  parts.log.info(counts, 'recovered');
  return counts;
}

async function recoverScope(parts: Parts, scope: ScopeSnapshot): Promise<'adopted' | 'abandoned' | 'proved'> {
  const { host, receipts, clock } = parts;
  const { scopeId, bootId, kind, released } = scope.context;
  const to = ['executionScope', scopeId] as const;
  if (released === 'no' && kind !== 'external') {
    // Its gate was held by a process that is gone, and closes with it (GRD-07): the image never runs.
    await host.submit([
      draft('launch.abandoned', { to, payload: { gate: 'never_opened', reason: 'daemon_restarted' }, by }),
    ]);
    return 'abandoned';
  }
  await receipts.look(scopeId);
  if (isReleased(parts, scopeId)) return 'proved';
  const currentBootId = clock.bootId();
  if (bootId !== null && bootId !== currentBootId) {
    // Guardian and witnesses were all recorded under one boot id, the scope's own.
    await host.submit([draft('boot.epochEnded', { to, payload: { currentBootId, uniform: true }, by })]);
    if (isReleased(parts, scopeId)) return 'proved';
  }
  receipts.watch(scope);
  return 'adopted';
}

const isReleased = ({ host }: Parts, scopeId: string): boolean =>
  host.snapshotOf('executionScope', scopeId)?.hasTag('capacityReleased') ?? false;
