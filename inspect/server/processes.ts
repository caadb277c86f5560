/** The tree of each scope as the kernel shows it at this moment, what is proved of it, and what a proof still lacks. */

import type { ReceiptView, ScopeView } from '../../actors/daemon/api/views.ts';
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import { sourceIn } from '../explain/daemonExplainer.ts';
import { explain } from '../explain/explain.ts';
import { notHere } from './access/refusal.ts';
import type { ProcessesAnswer, ScopeTree } from './contract.ts';
import type { Fleet } from './fleet/fleet.ts';

/** Scopes that one answer shows. */
const mostScopes = 500;
/** Of those that are over, the newest. */
const mostOver = 200;

interface Asked {
  readonly daemon: InspectedDaemon;
  readonly fleet: Fleet;
  readonly signal: AbortSignal;
}

/** Those that are not proved to be gone, with `all` also the newest of the others. Asks their guardians. */
export async function processesAnswer({ daemon, fleet, signal }: Asked, all: boolean): Promise<ProcessesAnswer> {
  const { data, health } = await daemon.call('processes', {}, signal);
  const over = all ? await newestOver(daemon, fleet) : [];
  const scopes = [...over, ...data.scopes];
  const shown = scopes.slice(-mostScopes).map((scope) => treeOf(daemon, scope, null));
  return answer(daemon, { scopes: shown, health: health ?? daemon.health(), more: scopes.length > shown.length });
}

/** Throws a Refusal where there is none that can be read. */
export async function processesOfScope(daemon: InspectedDaemon, id: string): Promise<ProcessesAnswer> {
  const scope = await daemon.scope(id);
  if (scope === undefined) throw notHere(`scope ${id}`);
  const tree = treeOf(daemon, scope, daemon.receiptsOf(id));
  return answer(daemon, { scopes: [tree], health: daemon.health(), more: false });
}

const answer = (
  { store, clock }: InspectedDaemon,
  found: Pick<ProcessesAnswer, 'scopes' | 'health' | 'more'>,
): ProcessesAnswer => ({ position: store.journal.lastPosition(), atWallMs: clock.now().wallMs, ...found });

async function newestOver(daemon: InspectedDaemon, { rows }: Fleet): Promise<ScopeView[]> {
  const over = [...rows]
    .filter(({ kind, status }) => kind === 'executionScope' && status === 'released')
    .slice(-mostOver);
  const found = await Promise.all(over.map(({ id }) => daemon.scope(id)));
  return found.filter((scope) => scope !== undefined);
}

function treeOf(daemon: InspectedDaemon, scope: ScopeView, receipts: readonly ReceiptView[] | null): ScopeTree {
  const { delegators: _, receipts: published, ...shown } = scope;
  return { ...shown, receipts, proved: provedOf(scope, receipts), missing: missingOf(daemon, scope) };
}

const receiptWords = {
  start: 'its guardian has written that it started',
  status: 'its guardian has written how the root ended',
  exit: 'its guardian has written that the kernel knows no process of it any more',
} as const;

function provedOf(
  { assessment, summary, receipts: published }: ScopeView,
  receipts: readonly ReceiptView[] | null,
): string[] {
  const written = (['start', 'status', 'exit'] as const).flatMap((kind) => {
    const reading = receipts?.find((one) => one.kind === kind);
    if (reading?.status === 'not_authentic')
      return [`A ${kind} receipt is there and proves nothing: ${reading.reason ?? 'not authentic'}.`];
    return (reading === undefined ? published[kind] : reading.status === 'authentic')
      ? [`${receiptWords[kind].replace(/^i/, 'I')}.`]
      : [];
  });
  return assessment.state === 'exited' ? [...written, `${summary.replace(/^p/, 'P')}.`] : written;
}

/** What would settle it, in the words of the explanation. */
function missingOf(daemon: InspectedDaemon, { scopeId, assessment }: ScopeView): readonly string[] {
  if (assessment.state === 'exited') return [];
  const explanation = explain(sourceIn(daemon), 'executionScope', scopeId);
  const missing = explanation?.unblocks.map(({ sentence }) => sentence) ?? [];
  return missing.length > 0 ? missing : (explanation?.waitsFor ?? []);
}
