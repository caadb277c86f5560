/** The journal as pages and as a stream. A follower pulls, so a slow one costs the daemon nothing but a wake-up. */
import { resolveAnyId } from '../../runtime/actorAccess.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { EventView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { eventViews } from '../views/eventView.ts';

interface Filter {
  readonly actor?: string | undefined;
  readonly type?: string | undefined;
}

function filterOf({ store }: DaemonContext, { actor, type }: Filter) {
  if (actor === undefined) return type === undefined ? {} : { type };
  return { actor: resolveAnyId(store, actor), ...(type === undefined ? {} : { type }) };
}

export async function listEvents(
  context: DaemonContext,
  args: ParsedArguments<'events'>,
): Promise<Answer<CallResults['events']>> {
  const { since, limit } = args;
  const page = { ...filterOf(context, args), limit };
  const { journal } = context.store;
  const records =
    since === undefined
      ? journal.page({ ...page, newestFirst: true }).toReversed()
      : journal.page({ ...page, after: since });
  const events = eventViews(records);
  return { data: { events, nextPosition: events.at(-1)?.position ?? since ?? 0 } };
}

const pageSize = 200;

export async function* followEvents(
  context: DaemonContext,
  args: Filter & { readonly since: number },
  signal: AbortSignal,
): AsyncGenerator<EventView> {
  const filter = filterOf(context, args);
  let after = args.since;
  let wake: (() => void) | undefined;
  let isNew = false;
  const notify = () => {
    isNew = true;
    wake?.();
  };
  const stopListening = context.host.onCommit(notify);
  signal.addEventListener('abort', notify, { once: true });
  try {
    while (!signal.aborted) {
      isNew = false;
      const page = eventViews(context.store.journal.page({ ...filter, after, limit: pageSize }));
      for (const event of page) yield event;
      after = page.at(-1)?.position ?? after;
      if (page.length === pageSize || isNew) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stopListening();
  }
}
