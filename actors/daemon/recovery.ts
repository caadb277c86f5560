/**
 * What a starting daemon does before it serves: it abandons launches that nobody can carry on, ends the epochs of earlier
 * boots, reads the receipts of everything that is open, and watches the rest. Each step is an event that a repeat of the
 * recovery turns into a duplicate, so a crash in the middle costs nothing.
 */
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { HostError } from '../host/hostError.ts';
import type { Draft } from '../host/outcome.ts';
import { everyActor, required } from '../runtime/actorAccess.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { draft } from '../runtime/submission.ts';
import type { Findings } from './findings.ts';
import { isRestored } from './restored.ts';
import type { ReceiptService } from './services/receiptService.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log'> & {
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
        detail: whyUnreadable(parts.host, id),
      });
    } else {
      counts[await recoverScope(parts, snapshot)] += 1;
    }
  }
  parts.log.info(counts, 'recovered');
  return counts;
}

/** It is damaged, or another version has written it: what to do differs, and nobody shall restore a backup for the latter. */
function whyUnreadable(host: Parts['host'], scopeId: string): string {
  try {
    required(host, 'executionScope', scopeId);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return error.code === 'actor_corrupt' ? 'its stored record does not match its digest' : error.message;
  }
  return 'its stored record can be read again';
}

async function recoverScope(parts: Parts, scope: ScopeSnapshot): Promise<'adopted' | 'abandoned' | 'proved'> {
  const { host, receipts, clock } = parts;
  const { scopeId, bootId, kind, released } = scope.context;
  const to = ['executionScope', scopeId] as const;
  if (released === 'no' && kind !== 'external') {
    await host.submit([isRestored(parts.store) ? lost(scopeId) : unattended(scopeId)]);
    if (isReleased(parts, scopeId)) return 'abandoned';
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

/** Its gate was held by a process that is gone, and closed with it (GRD-07): the image never runs. */
const unattended = (scopeId: string): Draft =>
  draft('launch.abandoned', {
    to: ['executionScope', scopeId],
    payload: { gate: 'never_opened', reason: 'daemon_restarted' },
    by,
  });

/** A restored store may have forgotten the release, so its silence does not say that the gate stayed shut. */
const lost = (scopeId: string): Draft =>
  draft('coverage.gap', { to: ['executionScope', scopeId], payload: { reason: 'record_lost' }, by });

const isReleased = ({ host }: Parts, scopeId: string): boolean =>
  host.snapshotOf('executionScope', scopeId)?.hasTag('capacityReleased') ?? false;
