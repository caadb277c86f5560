/**
 * The daemon's connection to the PTY host. It is made when a session is opened or an earlier one is adopted, kept while
 * the host lives, and made again when it breaks although the host is there.
 */
import { HostClient } from '../../../pty/wire/hostClient.ts';
import { HostError } from '../../../pty/wire/hostError.ts';
import type { HostEvent, SessionReport } from '../../../pty/wire/messages.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { withSocketAddress } from '../../runtime/places.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { hostSocketOf, presenceOf, recordHost, startHost } from './hostProcess.ts';

type Parts = Pick<Runtime, 'places' | 'adapter' | 'log' | 'ptyHost'>;

export interface HostLinkListener {
  /** A connection stands; these are the host's sessions. Awaited before anything else is asked. */
  connected(sessions: readonly SessionReport[]): Promise<void>;
  event(event: HostEvent): void;
  /** The host is gone, and with it every terminal that it held. */
  lost(): void;
}

interface Welcome {
  readonly pid: number;
  readonly version: string;
  readonly sessions: readonly SessionReport[];
}

export class HostLink {
  readonly #parts: Parts;
  #listener: HostLinkListener | undefined;
  #client: HostClient | undefined;
  #connecting: Promise<HostClient> | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  listen(listener: HostLinkListener): void {
    this.#listener = listener;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** The connection; starts the host if there is none. Throws `pty_host_failed` or `pty_host_unresponsive`. */
  open(): Promise<HostClient> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    this.#connecting ??= this.#establish().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** The connection to a host that is there already. Undefined when there is none, and then no terminal is open. */
  async adopt(): Promise<HostClient | undefined> {
    try {
      return this.#client ?? (await this.#connect());
    } catch (error) {
      if (isNobodyThere(error) && presenceOf(this.#parts) !== 'living') return undefined;
      throw unresponsive(error);
    }
  }

  async #establish(): Promise<HostClient> {
    const adopted = await this.adopt();
    if (adopted !== undefined) return adopted;
    const pid = await startHost(this.#parts);
    this.#parts.log.info({ pid }, 'the PTY host was started');
    return this.#connect();
  }

  async #connect(): Promise<HostClient> {
    let standing: HostClient | undefined;
    const { client, welcome } = await withSocketAddress(hostSocketOf(this.#parts), (address) =>
      HostClient.connect({
        address,
        role: 'daemon',
        event: (event) => this.#listener?.event(event),
        ended: () => this.#broken(standing),
      }),
    );
    const { pid, version, sessions } = welcome as Welcome;
    recordHost(this.#parts, pid);
    standing = client;
    this.#client = client;
    this.#parts.log.info({ pid, version, sessions: sessions.length }, 'connected to the PTY host');
    await this.#listener?.connected(sessions);
    return client;
  }

  /** A host that dropped us is connected to again; one that is gone has taken its terminals along (PTY-10). */
  #broken(client: HostClient | undefined): void {
    if (client === undefined || this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    void this.adopt().then(
      (again) => {
        if (again === undefined) this.#listener?.lost();
      },
      (error) => this.#parts.log.error({ code: (error as { code?: unknown }).code }, 'the PTY host does not answer'),
    );
  }

  /** Resolves when the host that was sent home has gone; it is not looked for again. */
  async left(): Promise<void> {
    const client = this.#client;
    this.#isClosed = true;
    await client?.ended;
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.close();
  }
}

function isNobodyThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'host_gone';
}

function unresponsive(error: unknown): unknown {
  if (!isNobodyThere(error) && !(error instanceof HostError)) return error;
  return new OperatingError(
    {
      code: 'pty_host_unresponsive',
      message: 'the process that holds the terminals is there and does not answer; their work goes on',
      exitCode: 10,
      retryable: true,
      next: ['custody doctor'],
    },
    error as Error,
  );
}
