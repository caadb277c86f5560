/**
 * From receipts on disk to events: an authentic receipt becomes one event, once; everything else becomes a finding for
 * people and never an event, so that a forgery cannot take the id of the genuine one (ruling 2).
 */
import { join } from 'node:path';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { StartReceipt } from '../../../pty/guardian/receipt.ts';
import type { Draft } from '../../host/outcome.ts';
import { type AuthenticReading, receiptFacts } from '../../observe/receipts/facts.ts';
import { type ScopeExpectation, type ScopeFindings, ScopeReceipts } from '../../observe/receipts/scope.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import { createStreamInput, type StreamInput } from '../../observe/streams/input.ts';
import type { ReceiptEvent, ScopeCommand } from '../../observe/streams/receipts.ts';
import { committed, intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { retryPauses } from '../config.ts';
import type { Findings } from '../findings.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'places' | 'clock' | 'config'> & { readonly findings: Findings };

export interface ReceiptService {
  /** Commands for the watching stream; ends with the daemon. */
  readonly commands: StreamInput<ScopeCommand>;
  /** Starts to watch a scope whose identities are known. */
  watch(scope: ScopeSnapshot): void;
  /** What the watching stream reports. Rejects when the store takes nothing; it is read and tried again then. */
  onEvent(event: ReceiptEvent): Promise<void>;
  /** Looks at once, commits what is new, and returns what was seen; undefined when nothing was ever prepared. */
  look(scopeId: string): Promise<ScopeFindings | undefined>;
  /** The start receipt, read anew; undefined where it is not there or not authentic. */
  start(scope: ScopeSnapshot): StartReceipt | undefined;
}

export function createReceiptService(parts: Parts): ReceiptService {
  const { host, findings, clock, config } = parts;
  const commands = createStreamInput<ScopeCommand>();
  const backoff = new Backoff(retryPauses(config));

  function watch(scope: ScopeSnapshot): void {
    const expected = expectationOf(parts, scope);
    if (expected !== undefined) commands.send({ watch: expected });
  }

  /** The watcher says everything once, so what the store did not take has to be read again: no receipt is lost. */
  function watchAgain(scopeId: string): void {
    clock.wakeAt(backoff.later(scopeId, clock.monoMs()), () => {
      const scope = intact(host, 'executionScope', scopeId);
      if (scope !== undefined && scope !== 'corrupt' && !scope.hasTag('capacityReleased')) watch(scope);
    });
  }

  async function ingest(scopeId: string, readings: readonly AuthenticReading[]): Promise<void> {
    const drafts = readings.flatMap((reading) => draftOf(scopeId, reading));
    if (drafts.length > 0) await host.submit(drafts);
  }

  return {
    commands,
    watch,
    async onEvent(event) {
      if (event.type === 'authentic') {
        try {
          await ingest(event.scopeId, [event.reading]);
        } catch (error) {
          watchAgain(event.scopeId);
          throw error;
        }
        backoff.reset(event.scopeId);
        findings.clear(event.scopeId, `receipt_refused_${event.reading.receipt.kind}`);
      } else if (event.type === 'refused') {
        findings.add({
          scopeId: event.scopeId,
          code: `receipt_refused_${event.kind}`,
          detail: `the ${event.kind} receipt is not authentic: ${event.reason}`,
        });
      } else if (event.type === 'directoryMissing') {
        findings.add({
          scopeId: event.scopeId,
          code: 'receipts_missing',
          detail: 'the directory with its receipts is gone',
        });
      }
    },
    async look(scopeId) {
      const scope = committed(host, 'executionScope', scopeId);
      const expected = scope && expectationOf(parts, scope);
      if (expected === undefined) return undefined;
      const seen = new ScopeReceipts(expected).look({ bootId: clock.bootId(), boottimeMs: clock.boottimeMs() });
      await ingest(scopeId, seen.authentic);
      return seen;
    },
    start(scope) {
      const expected = expectationOf(parts, scope);
      if (expected === undefined) return undefined;
      const now = { bootId: clock.bootId(), boottimeMs: clock.boottimeMs() };
      for (const { receipt } of new ScopeReceipts(expected).look(now).authentic) {
        if (receipt.kind === 'start') return receipt;
      }
      return undefined;
    },
  };
}

function draftOf(scopeId: string, reading: AuthenticReading): Draft[] {
  const facts = receiptFacts(reading);
  const to = ['executionScope', scopeId] as const;
  if (facts?.type === 'workload.statusReceipt') {
    const payload = { ...facts.payload, scopeId: facts.payload.scopeId as never };
    return [draft('workload.statusReceipt', { to, payload, by: 'receipt-reader' })];
  }
  return facts ? [draft('guardian.exitReceipt', { to, payload: facts.payload, by: 'receipt-reader' })] : [];
}

const asReceiptNames = ({ pid, processToken, adapterEvidence }: ProcessIdentity) => ({
  pid,
  start: processToken,
  pidfs: adapterEvidence === '' ? null : adapterEvidence,
});

/** What the launch recorded about its receipts (GRD-05). Undefined before the slots exist. */
export function expectationOf(
  { store, places }: Pick<Parts, 'store' | 'places'>,
  scope: ScopeSnapshot,
): ScopeExpectation | undefined {
  const { scopeId, slots, guardian, workload, bootId, status } = scope.context;
  if (slots === null) return undefined;
  return {
    scopeId,
    scopeDir: join(places.scopesDir, scopeId),
    slots,
    installationId: store.installationId,
    uid: process.geteuid?.() ?? -1,
    bootId: bootId ?? undefined,
    guardian: guardian ? asReceiptNames(guardian) : undefined,
    workload: workload ? asReceiptNames(workload) : undefined,
    status: status ?? undefined,
  };
}
