/** Who has to hear of what was committed. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { SessionSnapshot } from '../../machines/ptySession.ts';
import type { DaemonContext } from './context.ts';

/** The run whose end may have left no status: it has just ended, or its guardian is known to be lost. */
function statusMayBeLost(
  { kind, id }: { readonly kind: string; readonly id: string },
  after: AnyMachineSnapshot,
): string | undefined {
  if (kind === 'run') return after.hasTag('terminal') ? id : undefined;
  const isLost = kind === 'executionScope' && after.matches({ coverage: { unverified: 'gap' } });
  return isLost ? ((after as ScopeSnapshot).context.runId ?? undefined) : undefined;
}

/** What ends between two looks at the disk, and may have filled it. */
const isEnd: ReadonlySet<string> = new Set(['workload.statusReceipt', 'guardian.exitReceipt']);

export function followCommits(context: DaemonContext): void {
  const { host, enclosing, workers, sessions, sessionDeadlines, receipts, outputDisk, findings, deadlines } = context;
  host.onCommit((records) => {
    for (const record of records) {
      const { actor, envelope, after } = record;
      workers.follow(actor, after);
      if (actor.kind === 'worktreeGeneration') context.authority.follow(record);
      if (actor.kind === 'ptySession') {
        sessions.follow(after as SessionSnapshot);
        sessionDeadlines.follow(after as SessionSnapshot);
      }
      const unsure = statusMayBeLost(actor, after);
      if (unsure !== undefined) sessions.mayLackStatus(unsure);
      if (actor.kind !== 'executionScope') continue;
      if (envelope.type === 'guardian.attached') receipts.watch(after as ScopeSnapshot);
      enclosing.follow(actor.id, after as ScopeSnapshot);
      context.residents.follow(actor.id, after as ScopeSnapshot);
      if (isEnd.has(envelope.type)) outputDisk.look([actor.id]);
      if (!after.hasTag('capacityReleased')) continue;
      findings.clearScope(actor.id);
      deadlines.disarm(actor.id);
    }
  });
}
