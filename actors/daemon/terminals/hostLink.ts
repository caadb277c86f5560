/**
 * The daemon's connection to the PTY host. It is made when a session is opened or an earlier one is adopted, kept while
 * the host lives, and made again when it breaks although the host is there.
 */
import { z } from 'zod';
import { HostClient } from '../../../pty/wire/hostClient.ts';
import { HostError } from '../../../pty/wire/hostError.ts';
import { type HostEvent, type SessionReport, sessionReport } from '../../../pty/wire/messages.ts';
import { operatorCredential, operatorKey } from '../../runtime/credentials.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { withSocketAddress } from '../../runtime/places.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { presenceOf, recordHost, startHost, waysOut } from './hostProcess.ts';

type Parts = Pick<Runtime, 'places' | 'adapter' | 'log' | 'ptyHost' | 'workGroup' | 'store' | 'clock'>;

/** Between two attempts to reach a host that is there and silent; each waits for an answer besides. */
const againMs = 500;

/** A host without a session has nothing to do before it goes; one that stays must not keep the daemon. */
const leaveMs = 5_000;

export interface HostLinkListener {
  /** A connection stands; these are the host's sessions. Awaited before anything else is asked. */
  connected(sessions: readonly SessionReport[]): Promise<void>;
  event(event: HostEvent): void;
  /** The host is gone, and with it every terminal that it held. */
  lost(): void;
}

const welcomeSchema = z.object({ pid: z.int(), version: z.string(), sessions: z.array(sessionReport) });

interface Greeted {
  readonly client: HostClient;
  /** The listener has taken note of the sessions. */
  readonly noted: Promise<void> | undefined;
}

export class HostLink {
  readonly #parts: Parts;
  #listener: HostLinkListener | undefined;
  #client: HostClient | undefined;
  #connecting: Promise<HostClient> | undefined;
  #greeting: Promise<Greeted> | undefined;
  #isRegaining = false;
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
      throw this.#unresponsive(error);
    }
  }

  async #establish(): Promise<HostClient> {
    const adopted = await this.adopt();
    if (adopted !== undefined) return adopted;
    const pid = await startHost(this.#parts);
    this.#parts.log.info({ pid }, 'the PTY host was started');
    return this.#connect();
  }

  #unresponsive(error: unknown): unknown {
    if (!isNobodyThere(error) && !(error instanceof HostError)) return error;
    return new OperatingError(
      {
        code: 'pty_host_unresponsive',
        message: 'the process that holds the terminals is there and does not answer; their work goes on',
        exitCode: 10,
        retryable: true,
        next: waysOut(this.#parts),
      },
      error as Error,
    );
  }

  /** One at a time: the host takes the newest connection for the daemon's and drops the one before. */
  async #connect(): Promise<HostClient> {
    this.#greeting ??= this.#greet().finally(() => {
      this.#greeting = undefined;
    });
    const { client, noted } = await this.#greeting;
    await noted;
    return client;
  }

  async #greet(): Promise<Greeted> {
    let standing: HostClient | undefined;
    const { client, welcome } = await withSocketAddress(this.#parts.places.ptyHostSocket, (address) =>
      HostClient.connect({
        address,
        role: 'daemon',
        credential: operatorCredential(operatorKey(this.#parts.places)),
        event: (event) => this.#listener?.event(event),
        ended: () => this.#broken(standing),
      }),
    );
    const { pid, version, sessions } = this.#welcomed(client, welcome);
    standing = client;
    this.#client = client;
    this.#parts.log.info({ pid, version, sessions: sessions.length }, 'connected to the PTY host');
    return { client, noted: this.#listener?.connected(sessions) };
  }

  #welcomed(client: HostClient, welcome: unknown): z.infer<typeof welcomeSchema> {
    try {
      const welcomed = welcomeSchema.parse(welcome);
      recordHost(this.#parts, welcomed.pid);
      return welcomed;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** A host that dropped us is connected to again; one that is gone has taken its terminals along (PTY-10). */
  #broken(client: HostClient | undefined): void {
    if (client === undefined || this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    this.regain();
  }

  /**
   * Asks until the host answers or is known to be gone. Its silence ends (ruling 9), and a host that was killed gives up
   * its socket before it is seen to have ended: in neither case would anybody else look again.
   */
  regain(): void {
    if (this.#isRegaining) return;
    this.#isRegaining = true;
    void this.#regained().finally(() => {
      this.#isRegaining = false;
    });
  }

  async #regained(): Promise<void> {
    const { log, clock } = this.#parts;
    for (let attempt = 1; !this.#isClosed; attempt++) {
      try {
        if ((await this.adopt()) === undefined) this.#listener?.lost();
        return;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (attempt === 1) log.error({ code }, 'the PTY host does not answer');
        await new Promise<void>((resolve) => clock.wakeAt(clock.monoMs() + againMs, resolve));
      }
    }
  }

  /** Resolves when the host that was sent home has gone; it is not looked for again. Rejects when it stays all the same. */
  async left(withinMs = leaveMs): Promise<void> {
    const client = this.#client;
    this.#isClosed = true;
    if (client === undefined) return;
    const { clock } = this.#parts;
    await new Promise<void>((resolve, reject) => {
      const stays = () => reject(new HostError('unresponsive', `it has not gone within ${withinMs} ms`));
      const stop = clock.wakeAt(clock.monoMs() + withinMs, stays);
      void client.ended.then(() => {
        stop();
        resolve();
      });
    });
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
