/**
 * Offers the receipt of an enclosing scope as the proof for nested scopes whose guardians were lost. It looks when either
 * side changes and when a daemon starts, signals nobody (REPL-06), and leaves the child's files as they are (REPL-03).
 */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import type { WorkerContext } from '../../../machines/workerIncarnationContext.ts';
import type { HostedEnvelope } from '../../host/outcome.ts';
import { recordedProcesses } from '../../observe/recorded.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import type { Findings } from '../findings.ts';
import type { ReceiptService } from '../services/receiptService.ts';
import { type EnclosingEvidence, refusalOf } from './checks.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'adapter' | 'log'> & {
  readonly receipts: ReceiptService;
  readonly findings: Findings;
};

export class EnclosingProofs {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** For whatever was left open when the last daemon ended. */
  async start(): Promise<void> {
    for (const { id, snapshot } of [...everyActor(this.#parts.host, 'executionScope', { released: false })]) {
      if (snapshot !== 'corrupt' && isLost(snapshot)) await this.#look(id);
    }
  }

  /** Told of every committed change of a scope. */
  follow(scopeId: string, scope: ScopeSnapshot): void {
    if (isLost(scope)) void this.#look(scopeId);
    if (!scope.hasTag('capacityReleased')) return;
    const link = { name: 'parentScopeId', value: scopeId };
    for (const { id } of [...everyActor(this.#parts.host, 'executionScope', { released: false, link })])
      void this.#look(id);
  }

  /** What stands in the way of one proof keeps nobody else waiting, least of all the start of a daemon (OWN-10). */
  async #look(scopeId: string): Promise<void> {
    try {
      await this.#consider(scopeId);
    } catch (error) {
      this.#parts.log.warn({ scopeId, code: (error as { code?: unknown })?.code }, 'a proof could not be looked for');
    }
  }

  async #consider(scopeId: string): Promise<void> {
    const { host, findings, store } = this.#parts;
    const child = intact(host, 'executionScope', scopeId);
    if (child === undefined || child === 'corrupt' || !isLost(child)) return;
    const evidence = this.#evidence(child);
    if (evidence === undefined) return;
    const reason = refusalOf(evidence);
    if (reason !== undefined) {
      // As long as the one around it lives there is nothing to find: its receipt may still come.
      if (reason === 'enclosing_unproved') return;
      const detail = `the receipt of ${child.context.parentScopeId} does not prove its end: ${reason.replaceAll('_', ' ')}`;
      findings.clear(scopeId, 'enclosing_refused');
      return findings.add({ scopeId, code: 'enclosing_refused', detail });
    }
    const to = ['executionScope', scopeId] as const;
    const eventId = `${store.installationId}:enclosing:${scopeId}`;
    const payload = payloadOf(evidence);
    await host.submit([draft('enclosing.receiptAccepted', { to, payload, by: 'ownership-recovery', eventId })]);
  }

  /** Undefined where there is no scope around it, or its record cannot be read. */
  #evidence(scope: ScopeSnapshot): EnclosingEvidence | undefined {
    const { host, adapter, receipts } = this.#parts;
    const child = scope.context;
    const parent = child.parentScopeId === null ? undefined : intact(host, 'executionScope', child.parentScopeId);
    if (parent === undefined || parent === 'corrupt') return undefined;
    const { scopeId: parentScopeId, guardian, workload } = parent.context;
    const began = [guardian, workload, child.guardian, child.workload].filter((one) => one !== null);
    return {
      child,
      parent,
      receipt: this.#receiptOf(parentScopeId),
      start: receipts.start(scope),
      launchers: host
        .linked('workerIncarnation', 'scopeId', parentScopeId)
        .flatMap((id) => launcherOf(intact(host, 'workerIncarnation', id))),
      sessions: [child.scopeId, parentScopeId].reduce(
        (count, id) => count + host.linked('ptySession', 'scopeId', id).length,
        0,
      ),
      beganInOrder: adapter.beganInOrder(began),
      survivors: recordedProcesses(child).filter(({ identity }) => adapter.observe(identity).result !== 'ended').length,
    };
  }

  /** From the journal, not from the disk: what was accepted once is not asked for again (REPL-08). */
  #receiptOf(scopeId: string): EnclosingEvidence['receipt'] {
    const actor = { kind: 'executionScope', id: scopeId };
    const [entry] = this.#parts.store.journal.page({ actor, type: 'guardian.exitReceipt', limit: 1 });
    if (!entry?.intact) return undefined;
    const { receiptText, bytesDigest } = (entry.envelope as HostedEnvelope).payload as Payload<'guardian.exitReceipt'>;
    return { text: receiptText, bytesDigest };
  }
}

/** One whose record is damaged is nobody's launcher: the proof is refused for want of one. */
const launcherOf = (worker: WorkerSnapshot | 'corrupt' | undefined): WorkerContext[] =>
  worker === undefined || worker === 'corrupt' ? [] : [worker.context];

const isLost = (scope: ScopeSnapshot): boolean =>
  scope.context.parentScopeId !== null && scope.matches({ coverage: { unverified: 'gap' } });

function payloadOf({ parent, receipt, survivors }: EnclosingEvidence): Payload<'enclosing.receiptAccepted'> {
  return {
    enclosingScopeId: parent.context.scopeId,
    receiptDigest: receipt!.bytesDigest,
    checks: {
      enclosingComplete: true,
      enclosingOriginal: true,
      launcherRelation: true,
      isolatedLaunch: true,
      witnessesContained: true,
      inferred: false,
    },
    survivors,
  };
}
