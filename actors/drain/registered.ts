/**
 * The processes of a scope that nobody holds a guardian for (SHUT-07): what a launcher has told us of, and no descendant
 * that it did not. They can be ended; that all of them have ended proves nothing.
 */
import type { Envelope } from '../../machines/events/envelope.ts';
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import type { ProcessIdentity } from '../../machines/identity.ts';
import type { Runtime } from '../runtime/runtime.ts';

type Parts = Pick<Runtime, 'store' | 'adapter' | 'clock'>;

const page = 500;

/** Those of them that are seen alive now, each with the token that was recorded for it in this boot. */
export function livingRegistered(parts: Parts, scope: ScopeSnapshot): ProcessIdentity[] {
  const living: ProcessIdentity[] = [];
  for (const [pid, token] of recorded(parts, scope)) {
    const identity = captured(parts, Number(pid));
    if (identity?.processToken !== token) continue;
    if (parts.adapter.observe(identity).result === 'alive') living.push(identity);
  }
  return living;
}

/** A token counts from the start of the machine, so what was recorded under another boot names nobody. */
function recorded({ store, clock }: Parts, { context }: ScopeSnapshot): Map<string, string> {
  const bootId = clock.bootId();
  const found = new Map<string, string>();
  const actor = { kind: 'executionScope' as const, id: context.scopeId };
  for (let after = 0; ; ) {
    const entries = store.journal.page({ actor, type: 'witness.merged', after, limit: page });
    for (const entry of entries) {
      after = entry.position;
      if (!entry.intact) continue;
      const { at, payload } = entry.envelope as Envelope;
      if (at.bootId !== bootId) continue;
      for (const [pid, token] of Object.entries(payload.witnesses as Record<string, string>))
        if (context.witnesses[pid] === token) found.set(pid, token);
    }
    if (entries.length < page) return found;
  }
}

function captured({ adapter }: Parts, pid: number): ProcessIdentity | undefined {
  try {
    return adapter.capture(pid);
  } catch {
    return undefined;
  }
}
