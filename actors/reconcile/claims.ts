/**
 * Processes that other tools have on record for runs (INT-07). A run is bound only when the very process of the claim is
 * seen alive: boot, pid, start, user and namespaces all agree (ID-06). One that is not there verifies nothing, so the run
 * stays unresolved, with what was found as the reason, and nobody looks for it again (RUN-05, OBS-11).
 */
import { identityDigest, type ProcessIdentity, processIdentitySchema } from '../../machines/identity.ts';
import type { RunId } from '../../machines/ids.ts';
import type { Store } from '../../persistence/store.ts';
import type { LegacyClaim } from '../../persistence/tables/legacyRecords.ts';
import type { Host } from '../host/api.ts';
import type { Draft } from '../host/outcome.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import type { Sample } from '../observe/sample.ts';
import { draft, firstRefusal } from '../runtime/submission.ts';

export interface ClaimsRequest {
  readonly host: Host;
  readonly store: Store;
  readonly adapter: LinuxAdapter;
  /** Claims that are looked at in one slice. */
  readonly batch: number;
  /** Claims at most; the next pass goes on behind them. */
  readonly maxCount: number;
}

export interface ClaimsReport {
  /** Seen alive as claimed, and bound. */
  readonly bound: number;
  /** Not there as claimed; their runs stay unresolved. */
  readonly refuted: number;
  /** Could not be looked at, or were not reached: asked again in the next pass. */
  readonly open: number;
}

const cursorRow = 'legacy.cursor';
const by = 'reconciler';

/** Rejects with StoreError when what was seen could not be committed; it is seen again then. */
export async function confirmClaims({ host, store, adapter, batch, maxCount }: ClaimsRequest): Promise<ClaimsReport> {
  const counts = { bound: 0, refuted: 0 };
  if (store.legacyRecords.countOpenClaims() === 0) return { ...counts, open: 0 };
  let after = Number(store.meta.get(cursorRow) || 0);
  let left = maxCount;
  while (left > 0) {
    const claims = store.legacyRecords.openClaims({ after, limit: Math.min(batch, left) });
    const samples = adapter.sampleSlice(claims.map((claim) => ({ identity: identityOf(claim) })));
    for (const [at, claim] of claims.entries()) {
      const outcome = await told(host, claim, samples[at]!);
      if (outcome === undefined) continue;
      store.write(() => store.legacyRecords.settleClaim(claim.key, outcome));
      counts[outcome === 'bound' ? 'bound' : 'refuted'] += 1;
    }
    left -= claims.length;
    after = claims.at(-1)?.key ?? 0;
    if (after === 0) break;
  }
  if (String(after) !== (store.meta.get(cursorRow) || '0')) store.write(() => store.meta.set(cursorRow, String(after)));
  return { ...counts, open: store.legacyRecords.countOpenClaims() };
}

const identityOf = ({ identity }: LegacyClaim): ProcessIdentity => processIdentitySchema.parse(JSON.parse(identity));

/** Commits what was seen of one; undefined where nothing could be seen. */
async function told(host: Host, claim: LegacyClaim, sample: Sample): Promise<string | undefined> {
  if (sample.result === 'unknown') return undefined;
  const runId = claim.runId as RunId;
  const reason = objectionTo(host, claim, sample);
  if (reason === undefined) {
    const refused = firstRefusal(await host.submit([bound(runId, identityOf(claim))]));
    if (refused === undefined) return 'bound';
  }
  const payload = { reason: reason ?? 'claim_refused' };
  await host.submit([draft('admission.uncertain', { to: ['run', runId], payload, by })]);
  return payload.reason;
}

/** Why the process that was seen does not make the claim good; undefined where it does. */
function objectionTo(host: Host, claim: LegacyClaim, { result, reason, signalable }: Sample): string | undefined {
  // Not signalable: alive, but not beyond doubt the same one, as under another user, or where pids come again at once.
  if (result !== 'alive' || !signalable) return `claim_${reason}`;
  const others = host.linked('run', 'identity', identityDigest(identityOf(claim)));
  return others.some((id) => id !== claim.runId) ? 'claim_taken' : undefined;
}

function bound(runId: RunId, identity: ProcessIdentity): Draft {
  const payload = {
    identity,
    identityDigest: identityDigest(identity),
    verified: true,
    source: 'entrypoint',
    scopeId: null,
  } as const;
  return draft('identity.bound', { to: ['run', runId], payload, by });
}
