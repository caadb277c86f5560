/**
 * The PTY host's socket: what each request means. One connection at a time is the daemon's; while there is none the
 * sessions go on, and whatever happened is in their reports when the next one asks.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { HostError } from '../wire/hostError.ts';
import {
  type HostEvent,
  type HostRequest,
  hostProtocols,
  type RequestOf,
  type WaitCondition,
} from '../wire/messages.ts';
import { Connection } from './connection.ts';
import type { SessionScreens } from './ports.ts';
import { sent } from './sending.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

export interface HostServerOptions {
  readonly sessions: Sessions;
  readonly screens: SessionScreens;
  readonly version: string;
  readonly permits: Permits;
  /** Ends the process; called when the host holds no session. */
  readonly leave: () => void;
  /** How long nobody may be connected before a host without sessions goes by itself. */
  readonly idleMs: number;
}

/**
 * Whether this credential may take that part; a session that drives others, by its id, as long as it runs. Throws HostError
 * when that cannot be told.
 */
export type Permits = (
  role: 'daemon' | 'client',
  credential: string | undefined,
) => boolean | { readonly sessionId: string };

type Verbs = { readonly [Verb in HostRequest['do']]: (connection: Connection, request: RequestOf<Verb>) => unknown };

export class HostServer {
  readonly #options: HostServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #verbs: Verbs;
  #daemon: Connection | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: HostServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#connected(socket));
    this.#verbs = { ...this.#launching(), ...this.#watching(), ...this.#typing() };
    this.#watchIdleness();
  }

  get server(): Server {
    return this.#server;
  }

  /** To the daemon, if one is connected. */
  report(event: HostEvent): void {
    this.#daemon?.tell(event);
  }

  #connected(socket: Socket): void {
    const handle = (from: Connection, request: HostRequest): unknown => this.#handle(from, request);
    const connection = new Connection(socket, handle);
    this.#connections.add(connection);
    clearTimeout(this.#idle);
    socket.on('close', () => {
      this.#connections.delete(connection);
      if (this.#daemon === connection) this.#daemonGone();
      this.#watchIdleness();
    });
  }

  /** A host that no daemon sent home, because the last one was killed, would stay for ever. One with a session does. */
  #watchIdleness(): void {
    const { sessions, leave, idleMs } = this.#options;
    if (this.#connections.size > 0 || !sessions.isEmpty) return;
    this.#idle = setTimeout(leave, idleMs);
  }

  #daemonGone(): void {
    this.#daemon = undefined;
    void this.#options.sessions.abandonGated();
  }

  #handle(connection: Connection, request: HostRequest): unknown {
    const isFirst = connection.role === 'unknown';
    if (isFirst !== (request.do === 'hello')) throw new HostError('request_invalid', 'say hello first, and once');
    const verb = this.#verbs[request.do] as (connection: Connection, request: HostRequest) => unknown;
    return verb(connection, request);
  }

  #assertDaemon(connection: Connection): void {
    if (connection !== this.#daemon) throw new HostError('not_the_daemon', 'only the daemon may ask for this');
  }

  #launching(): Pick<Verbs, 'hello' | 'open' | 'release' | 'abandon' | 'finish' | 'forget' | 'list' | 'leave'> {
    const { sessions } = this.#options;
    const reports = () => ({ sessions: sessions.reports });
    const daemonOnly =
      <Request>(verb: (request: Request) => unknown) =>
      (connection: Connection, request: Request): unknown => {
        this.#assertDaemon(connection);
        return verb(request);
      };
    return {
      hello: (connection, request) => this.#hello(connection, request),
      list: (_, { fresh }) => (fresh ? everythingRead().then(() => reports()) : reports()),
      open: daemonOnly((request) => sessions.open(request)),
      release: daemonOnly(({ sessionId }) => released(sessions.get(sessionId))),
      abandon: daemonOnly(({ sessionId }) => sessions.get(sessionId).abandon()),
      finish: daemonOnly(({ sessionId, reason, withinMs }) => sessions.get(sessionId).finish(reason, withinMs)),
      forget: daemonOnly(({ sessionId }) => sessions.forget(sessionId)),
      leave: daemonOnly(() => {
        if (!sessions.isEmpty) throw new HostError('host_busy', 'sessions are open');
        setImmediate(this.#options.leave); // once the answer is on its way
      }),
    };
  }

  #hello(connection: Connection, { protocol, role, credential }: RequestOf<'hello'>): unknown {
    const spoken = hostProtocols.find((version) => protocol.includes(version));
    if (spoken === undefined) {
      const message = `this host speaks protocol ${hostProtocols.join(', ')}, the other side ${protocol.join(', ')}`;
      throw new HostError('protocol_unsupported', message, { supported: hostProtocols });
    }
    this.#assertPermitted(role, credential);
    connection.role = role;
    if (role === 'daemon') {
      const former = this.#daemon;
      // A former daemon that still has its end open cannot commit anything: another one holds the database.
      former?.socket.destroy();
      if (former !== undefined) this.#daemonGone();
      this.#daemon = connection;
    }
    const { sessions, version } = this.#options;
    return { protocol: spoken, pid: process.pid, version, sessions: sessions.reports };
  }

  /** Who only looks sees what other work says, so that takes the right as well. */
  #assertPermitted(role: 'daemon' | 'client', credential: string | undefined): void {
    const permitted = this.#options.permits(role, credential);
    if (permitted === true) return;
    if (permitted && this.#options.sessions.isRunning(permitted.sessionId)) return;
    throw new HostError('not_operator', 'terminals are for the operator, and whoever asks does not show that they are');
  }

  #watching(): Pick<Verbs, 'attach' | 'screen' | 'wait'> {
    const { sessions } = this.#options;
    return {
      attach: (connection, { sessionId, mode, readOnly, from }) => {
        const session = sessions.get(sessionId);
        connection.attach(session, session.attach({ socket: connection.socket, mode, readOnly, from }));
        return session.report;
      },
      screen: (_, { sessionId }) => sessions.get(sessionId).screen(),
      wait: (_, { sessionId, until, withinMs }) => this.#wait(sessions.get(sessionId), until, withinMs),
    };
  }

  async #wait(session: Session, until: WaitCondition, withinMs: number): Promise<{ met: boolean }> {
    switch (until.kind) {
      case 'exit':
        return { met: await session.until(() => session.isEnded, withinMs) };
      case 'quiet':
        return { met: await quiet(session, until.quietMs, withinMs) };
      default:
        return { met: await this.#options.screens.waitFor(session.id, until, withinMs) };
    }
  }

  #typing(): Pick<Verbs, 'send' | 'inputs' | 'resize'> {
    const { sessions } = this.#options;
    return {
      send: (connection, request) => {
        // What has an id is committed under it by the daemon.
        if (request.inputId !== undefined) this.#assertDaemon(connection);
        return sent(sessions.get(request.sessionId), request);
      },
      inputs: (connection, { sessionId }) => {
        // From its digest a short input can be guessed, and who looks at a terminal may not know what was typed unseen.
        this.#assertDaemon(connection);
        return { inputs: sessions.get(sessionId).inputs.all };
      },
      resize: (_, { sessionId, cols, rows }) => {
        if (sessions.get(sessionId).resize({ cols, rows })) return { cols, rows };
        throw new HostError('session_ended', `${sessionId} has ended`);
      },
    };
  }
}

/**
 * What lay in the terminals when the question came is read by then. A host that was stopped would otherwise report the
 * silence that it caused itself (ruling 9).
 */
async function everythingRead(): Promise<void> {
  const turns = 4; // one to read, two until a batch ends, one to spare
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function released(session: Session): Promise<unknown> {
  try {
    return await session.release();
  } catch (error) {
    const { code, step } = error as { code?: string; step?: string | null };
    throw new HostError('release_failed', (error as Error).message, { code, step });
  }
}

/** True once there has been no output for `quietMs`; an ended session is quiet. */
async function quiet(session: Session, quietMs: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const missing = quietMs - session.quietMs;
    if (missing <= 0 || session.isEnded) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const before = session.report.activitySeq;
    await session.until(() => session.isEnded || session.report.activitySeq !== before, Math.min(missing, left));
  }
}
