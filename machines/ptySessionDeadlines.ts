/** What limits a session in time. A deadline asks for an end; it says nothing about any process (TIME-02, I-14). */
import type { z } from 'zod';
import type { EventOf, Payload } from './events/catalogue.ts';
import type { deadlineKindSchema } from './events/session.ts';
import type { SessionContext } from './ptySessionContext.ts';

type Kind = z.infer<typeof deadlineKindSchema>;

/** The payload of `deadline.reached`, as it has to come back: it is the basis that the deadline is armed with (PTY-09). */
export type SessionDeadline = Readonly<Payload<'deadline.reached'>>;

/**
 * Every deadline of a session, with the basis that makes it current. There is one of a kind and its id does not change,
 * so that arming it again replaces it. The idle one moves with the output; the one for the start is met by the first.
 */
export function deadlinesOf(context: SessionContext): readonly SessionDeadline[] {
  const { sessionId, deadlines, openedAt, activity } = context;
  const isStarted = activity.seq > 0;
  const deadline = (kind: Kind, ms: number | undefined, since: Pick<typeof activity, 'seq' | 'sampledAt'>) =>
    ms === undefined
      ? []
      : [
          {
            deadlineId: `${kind}:${sessionId}`,
            kind,
            basisActivitySeq: since.seq,
            bootId: since.sampledAt.bootId,
            monoMs: since.sampledAt.monoMs + ms,
          },
        ];
  const opening = { seq: 0, sampledAt: openedAt };
  return [
    ...deadline('hard', deadlines.hardMs, opening),
    ...deadline('startup', isStarted ? undefined : deadlines.startupMs, opening),
    ...deadline('idle', deadlines.idleMs, activity),
  ];
}

export function isStillDue(context: SessionContext, reached: EventOf<'deadline.reached'>): boolean {
  return deadlinesOf(context).some(
    ({ kind, basisActivitySeq, bootId, monoMs }) =>
      kind === reached.kind &&
      basisActivitySeq === reached.basisActivitySeq &&
      bootId === reached.bootId &&
      monoMs === reached.monoMs,
  );
}
