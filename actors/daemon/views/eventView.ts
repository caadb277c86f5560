/** Journal entries for people and programs; a damaged row is shown as damaged, in its place. */
import type { HostedEnvelope } from '../../host/outcome.ts';
import type { EventView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';

type Entries = ReturnType<DaemonContext['store']['journal']['page']>;

export const eventViews = (entries: Entries): EventView[] => entries.map(eventView);

function eventView(entry: Entries[number]): EventView {
  if (!entry.intact) {
    return {
      position: entry.position,
      eventId: '',
      type: 'journal.corrupt',
      actor: entry.actor,
      producer: { kind: 'store', id: 'store' },
      outcome: 'corrupt',
      version: 0,
      wallMs: 0,
      payload: {},
    };
  }
  const { producer, at, payload } = entry.envelope as HostedEnvelope;
  const { position, eventId, type, actor, outcome, version } = entry;
  return { position, eventId, type, actor, producer, outcome, version, wallMs: at.wallMs, payload };
}
