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
import { boundDraft } from '../ingest/telling.ts';
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
    const claims = store.legacyRecords.openClaims({ after, limit: Math.min(batch, left) }).map(readOf);
    const readable = claims.filter((claim): claim is Readable => claim.identity !== undefined);
    const samples = adapter.sampleSlice(readable);
    const sampleOf = new Map(readable.map(({ key }, at) => [key, samples[at]!]));
    const taken = new Set<string>();
    const outcomes = await Promise.all(claims.map((claim) => told({ host, taken }, claim, sampleOf.get(claim.key))));
    const settled = claims.flatMap(({ key }, at) =>
      outcomes[at] === undefined ? [] : [{ key, outcome: outcomes[at] }],
    );
    // Behind what was told: whoever dies in between finds the same again, which changes nothing more.
    if (settled.length > 0)
      store.write(() => {
        for (const { key, outcome } of settled) store.legacyRecords.settleClaim(key, outcome);
      });
    for (const { outcome } of settled) counts[outcome === 'bound' ? 'bound' : 'refuted'] += 1;
    left -= claims.length;
    after = claims.at(-1)?.key ?? 0;
    if (after === 0) break;
  }
  if (String(after) !== (store.meta.get(cursorRow) || '0')) store.write(() => store.meta.set(cursorRow, String(after)));
  return { ...counts, open: store.legacyRecords.countOpenClaims() };
}

interface Claim {
  readonly key: number;
  readonly runId: RunId;
  /** Undefined where the row is damaged: nobody can tell any more whom it claims. */
  readonly identity: ProcessIdentity | undefined;
}

type Readable = Claim & { readonly identity: ProcessIdentity };

function readOf({ key, runId, identity }: LegacyClaim): Claim {
  return { key, runId: runId as RunId, identity: identityIn(identity) };
}

function identityIn(text: string): ProcessIdentity | undefined {
  try {
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

interface Telling {
  readonly host: Host;
  /** Identities that others of the same slice are being bound to. */
  readonly taken: Set<string>;
}

/** Commits what was seen of one, or that it cannot be looked for; undefined where nothing could be seen. */
async function told({ host, taken }: Telling, claim: Claim, sample: Sample | undefined): Promise<string | undefined> {
  if (sample?.result === 'unknown') return undefined;
  const { runId, identity } = claim;
  let doubt = `claim_${sample?.reason ?? 'damaged'}`;
  // Not signalable: alive, but not beyond doubt the same one, as under another user, or where pids come again at once.
  if (identity !== undefined && sample?.result === 'alive' && sample.signalable) {
    const digest = identityDigest(identity);
    // One process is at most one run (RUN-02, I-06).
    const isTaken = taken.has(digest) || host.linked('run', 'identity', digest).some((id) => id !== runId);
    taken.add(digest);
    const refused = isTaken ? undefined : firstRefusal(await host.submit([boundDraft(runId, identity, by)]));
    if (!isTaken && refused === undefined) return 'bound';
    doubt = isTaken ? 'claim_taken' : 'claim_refused';
  }
  await host.submit([draft('admission.uncertain', { to: ['run', runId], payload: { reason: doubt }, by })]);
  return doubt;
}
