/** The sessions that this host holds, and what the daemon was not told yet: a session stays until the daemon has it. */
import { GuardianLaunchError } from '../launch/errors.ts';
import { defaultSegmentBytes } from '../transcript/layout.ts';
import type { TranscriptWriter } from '../transcript/writer.ts';
import { HostError } from '../wire/hostError.ts';
import type { HostEvent, RequestOf, SessionReport } from '../wire/messages.ts';
import type { SessionScreens } from './ports.ts';
import { Session, type SessionLimits } from './session.ts';

export interface SessionsOptions {
  readonly limits: SessionLimits;
  readonly screens: SessionScreens;
  readonly openTranscript: (request: RequestOf<'open'>, faulted: Session['faulted']) => TranscriptWriter;
  readonly report: (event: HostEvent) => void;
  readonly clock: () => number;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byId = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  get reports(): SessionReport[] {
    return [...this.#byId.values()].map(({ report }) => report);
  }

  isRunning(sessionId: string): boolean {
    return this.#byId.get(sessionId)?.report.state === 'running';
  }

  /** What the rendering of a session answered to its program. */
  reply(sessionId: string, bytes: string): void {
    this.#byId.get(sessionId)?.reply(bytes);
  }

  /** Throws `session_unknown`. */
  get(sessionId: string): Session {
    const session = this.#byId.get(sessionId);
    if (session === undefined) throw new HostError('session_unknown', `this host has no session ${sessionId}`);
    return session;
  }

  /** Throws HostError; of a launch that failed nothing is left, and the session is forgotten. */
  async open(request: RequestOf<'open'>): Promise<unknown> {
    const { sessionId } = request;
    if (this.#byId.has(sessionId)) throw new HostError('session_exists', `${sessionId} is open already`);
    const session = this.#create(request);
    this.#byId.set(sessionId, session);
    const { screens } = this.#options;
    const { dir, segmentBytes = defaultSegmentBytes } = request.transcript;
    screens.open(sessionId, { dir, segmentBytes }, { cols: request.cols, rows: request.rows });
    screens.answer(sessionId, true, 0);
    try {
      return await session.launch();
    } catch (error) {
      this.#byId.delete(sessionId);
      screens.close(sessionId);
      if (!(error instanceof GuardianLaunchError)) throw error;
      const { code, phase, errno, step, exitCode } = error;
      throw new HostError('launch_failed', error.message, { code, phase, errno, step, exitCode });
    }
  }

  #create(request: RequestOf<'open'>): Session {
    const { openTranscript, limits, screens, report, clock } = this.#options;
    let session: Session | undefined;
    const transcript = openTranscript(request, (fault) => session?.faulted(fault));
    try {
      session = new Session({ request, transcript, limits, screens, report, clock });
      return session;
    } catch (error) {
      transcript.close();
      throw new HostError('no_terminal', `the system has no terminal left (${(error as Error).message})`);
    }
  }

  /** Releases what only the open session needed. Throws `session_live` while the terminal is open. */
  forget(sessionId: string): void {
    const session = this.#byId.get(sessionId);
    if (session === undefined) return;
    if (!session.isEnded) throw new HostError('session_live', `${sessionId} has not ended`);
    this.#byId.delete(sessionId);
    this.#options.screens.close(sessionId);
  }

  /** Who was to commit the release is gone, so nobody ever will (ruling 6). */
  async abandonGated(): Promise<void> {
    const gated = [...this.#byId.values()].filter(({ isGated }) => isGated);
    await Promise.all(gated.map((session) => session.abandon()));
  }
}
