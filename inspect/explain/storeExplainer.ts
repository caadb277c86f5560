/** Explanations without a daemon: the store is only read, no guardian is asked, and nothing is in flight. */
import type { CommandTable } from '../../actors/daemon/configParameters.ts';
import { checkOf } from '../../actors/daemon/worker/target.ts';
import { createReadingHost } from '../../actors/host/reading.ts';
import { resolveAnyId } from '../../actors/runtime/actorAccess.ts';
import { notFound } from '../../actors/runtime/operatingError.ts';
import { definitions } from '../../machines/registry.ts';
import { openForReading } from '../../persistence/reading.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';

/** `checks` as configured, undefined where that cannot be read. `typed` is an id or the beginning of one. Throws StoreError, `not_found` and `ambiguous_id`. */
export function explainInStore(stateDir: string, typed: string, checks: CommandTable | undefined): Explanation {
  const store = openForReading(stateDir);
  try {
    const { kind, id } = resolveAnyId(store, typed);
    const source = {
      host: createReadingHost(store, definitions),
      journal: store.journal,
      nodeId: store.meta.get('store.nodeId') ?? '',
      hasCheck: (repoId: string | null) => {
        const repository = repoId === null ? undefined : store.repositories.find(repoId);
        return checks && repository !== undefined && checkOf(checks, repository.path) !== undefined;
      },
      isLaunchedHere: () => false,
      membersOf: () => undefined,
    };
    const explanation = explain(source, kind, id);
    if (explanation === undefined) throw notFound(kind, typed);
    return explanation;
  } finally {
    store.close();
  }
}
