/**
 * Deadlines of terminal sessions. What is armed follows from the committed session alone, so nothing of it is stored: the
 * next daemon of this boot arms the same again, and of another boot's none is current (PTY-09, TIME-03).
 */
import { armedDeadlines, type SessionSnapshot } from '../../../machines/ptySession.ts';
import type { SessionDeadline } from '../../../machines/ptySessionDeadlines.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import type { Deadline, DeadlineCommand, DeadlineSignal } from '../../observe/streams/deadlines.ts';
import { createStreamInput, type StreamInput } from '../../observe/streams/input.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { retryPauses } from '../config.ts';
import type { SessionService } from './sessionService.ts';

/** `monoMs` is when to look; the basis is what the session armed it with. */
export interface DueSession extends Deadline {
  readonly sessionId: string;
  readonly basis: SessionDeadline;
}

export interface SessionDeadlines {
  readonly commands: StreamInput<DeadlineCommand<DueSession>>;
  /** Arms what a committed change leaves to be watched, and nothing else. */
  follow(session: SessionSnapshot): void;
  resume(): void;
  /** Rejects when the store takes nothing; the deadline is reached again after a pause then. */
  onSignal(signal: DeadlineSignal<DueSession>): Promise<void>;
}

/** Between two questions to a holder that does not answer. */
const askAgainMs = 1_000;

type Parts = Pick<Runtime, 'host' | 'clock' | 'config'> & {
  readonly sessions: Pick<SessionService, 'latestActivity' | 'journalActivity' | 'refresh'>;
};

export function createSessionDeadlines({ host, clock, config, sessions }: Parts): SessionDeadlines {
  const commands = createStreamInput<DeadlineCommand<DueSession>>();
  const armed = new Map<string, ReadonlySet<string>>();
  const backoff = new Backoff(retryPauses(config));

  function follow(session: SessionSnapshot): void {
    const { sessionId } = session.context;
    const due = armedDeadlines(session).filter(({ bootId }) => bootId === clock.bootId());
    const ids = new Set(due.map(({ deadlineId }) => deadlineId));
    for (const former of armed.get(sessionId) ?? []) if (!ids.has(former)) commands.send({ disarm: former });
    for (const basis of due) commands.send({ arm: dueOf(sessionId, basis, basis.monoMs) });
    if (ids.size === 0) armed.delete(sessionId);
    else armed.set(sessionId, ids);
  }

  const dueOf = (sessionId: string, basis: SessionDeadline, monoMs: number): DueSession => ({
    deadlineId: basis.deadlineId,
    bootId: basis.bootId,
    monoMs,
    sessionId,
    basis,
  });

  /**
   * Output that came meanwhile and was not journaled is told first: it moves the deadline that it has outdated. So the
   * holder of the terminal is asked, and while it says nothing no silence is held against the agent (ruling 9).
   */
  async function reach({ sessionId, basis }: DueSession): Promise<void> {
    if (basis.kind !== 'hard' && !(await sessions.refresh(sessionId))) {
      commands.send({ arm: dueOf(sessionId, basis, clock.monoMs() + askAgainMs) });
      return;
    }
    const latest = sessions.latestActivity(sessionId);
    if (basis.kind !== 'hard' && latest !== undefined && latest.activitySeq > basis.basisActivitySeq) {
      await sessions.journalActivity(sessionId);
    }
    await host.submit([
      draft('deadline.reached', { to: ['ptySession', sessionId], payload: basis, by: 'time-service' }),
    ]);
  }

  return {
    commands,
    follow,
    resume() {
      for (const { snapshot } of everyActor(host, 'ptySession', { settled: false })) {
        if (snapshot !== 'corrupt') follow(snapshot);
      }
    },
    async onSignal(signal) {
      if (signal.type !== 'reached') return;
      const { deadline } = signal;
      const { sessionId, basis, deadlineId } = deadline;
      try {
        await reach(deadline);
        backoff.reset(deadlineId);
      } catch (error) {
        const monoMs = backoff.later(deadlineId, clock.monoMs());
        const session = intact(host, 'ptySession', sessionId);
        if (session !== undefined) commands.send({ arm: dueOf(sessionId, basis, monoMs) });
        throw error;
      }
    },
  };
}
