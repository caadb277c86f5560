/** A connection to the PTY host, for the daemon and for whoever watches a terminal. */
import { connect, type Socket } from 'node:net';
import {
  type Frame,
  FrameError,
  FrameReader,
  frameType,
  inputFrame,
  jsonFrame,
  messageOf,
  outputOf,
} from './frames.ts';
import { HostError, type HostErrorCode } from './hostError.ts';
import {
  eventSchema,
  type HostEvent,
  type HostRequest,
  hostProtocols,
  replySchema,
  type SessionReport,
} from './messages.ts';

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never;
export type Ask = WithoutId<HostRequest>;

export interface HostClientOptions {
  /** As `connect` takes it: at most 107 bytes (unix(7)). */
  readonly address: string;
  readonly role: 'daemon' | 'client';
  readonly credential: string | undefined;
  readonly event: (event: HostEvent) => void;
  readonly output?: (offset: number, bytes: Buffer) => void;
  /** Once, after the last event. */
  readonly ended: () => void;
}

interface Waiter {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A host that says nothing for this long is unresponsive, which is not the same as gone (ruling 9). */
const answerMs = 10_000;

export class HostClient {
  readonly #socket: Socket;
  readonly #options: HostClientOptions;
  readonly #reader = new FrameReader();
  readonly #waiting = new Map<number, Waiter>();
  #lastId = 0;
  #protocol = 1;
  /** Resolves when the connection is gone. */
  readonly ended: Promise<void>;

  private constructor(socket: Socket, options: HostClientOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => {});
    this.ended = new Promise((resolve) => socket.on('close', () => resolve(this.#end())));
  }

  /** Throws the system's error of connect(2) (ENOENT, ECONNREFUSED: nobody listens), or HostError of the first exchange. */
  static async connect(options: HostClientOptions): Promise<{ client: HostClient; welcome: unknown }> {
    const socket = connect(options.address);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      // It died with the connection in its queue (unix(7)).
      socket.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ECONNRESET' ? gone() : error));
    });
    const client = new HostClient(socket, options);
    try {
      const { role, credential } = options;
      const hello = { do: 'hello', protocol: hostProtocols, role, credential } as const;
      const welcome = await client.ask(hello);
      client.#protocol = (welcome as { readonly protocol?: number }).protocol ?? 1;
      return { client, welcome };
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** What both sides speak. */
  get protocol(): number {
    return this.#protocol;
  }

  /** Rejects with HostError: what the host answered, `host_gone` when the connection ends, `unresponsive` after `withinMs`. */
  ask(request: Ask, withinMs = answerMs): Promise<unknown> {
    const id = ++this.#lastId;
    if (this.#socket.destroyed) return Promise.reject(gone());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new HostError('unresponsive', `the PTY host has not answered for ${withinMs} ms`));
      }, withinMs);
      const settled = (): boolean => {
        clearTimeout(timer);
        return this.#waiting.delete(id);
      };
      this.#waiting.set(id, {
        resolve: (data) => settled() && resolve(data),
        reject: (error) => settled() && reject(error),
      });
      this.#socket.write(jsonFrame({ ...request, id }));
    });
  }

  /** What the host says of its sessions; `fresh` with what lies in the terminals at this moment. Rejects as `ask` does. */
  async sessions({ fresh = false, withinMs = answerMs } = {}): Promise<readonly SessionReport[]> {
    const { sessions } = (await this.ask({ do: 'list', fresh }, withinMs)) as { readonly sessions: SessionReport[] };
    return sessions;
  }

  /** Keys for the attached session. False when the socket holds as much as it likes to: wait for `drained`. */
  type(bytes: Uint8Array): boolean {
    return this.#socket.write(inputFrame(bytes));
  }

  drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain || this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('drain', resolve);
      this.#socket.once('close', () => resolve());
    });
  }

  /** Stops and goes on reading, for a consumer that cannot keep up; the host notices and never waits. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Whoever else listens there must not end the process that asks: what is no message of a host ends the connection. */
  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#dispatch(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close();
    }
  }

  #dispatch({ type, body }: Frame): void {
    if (type === frameType.output) {
      const { offset, bytes } = outputOf(body);
      this.#options.output?.(offset, bytes);
    } else if (type === frameType.json) this.#message(messageOf(body));
  }

  /** What this version does not know is passed over: a newer host may tell more. */
  #message(value: unknown): void {
    const event = eventSchema.safeParse(value);
    if (event.success) {
      this.#options.event(event.data);
      return;
    }
    const reply = replySchema.safeParse(value);
    if (!reply.success) return;
    const waiter = this.#waiting.get(reply.data.reply);
    if (reply.data.ok) waiter?.resolve(reply.data.data);
    else {
      const { code, message, details } = reply.data.error;
      waiter?.reject(new HostError(code as HostErrorCode, message, details));
    }
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#options.ended();
  }
}

const gone = (): HostError => new HostError('host_gone', 'the connection to the PTY host has ended');
