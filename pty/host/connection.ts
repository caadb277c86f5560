/** One peer of the PTY host: its requests in, replies, events and output out. */
import type { Socket } from 'node:net';
import { type Frame, FrameError, FrameReader, frameType, jsonFrame } from '../wire/frames.ts';
import { HostError } from '../wire/hostError.ts';
import { type HostEvent, type HostReply, type HostRequest, requestSchema } from '../wire/messages.ts';
import { InputError } from './inputQueue.ts';
import type { Session } from './session.ts';
import type { Viewer } from './viewer.ts';

/** Input that a program has not read before the peer that types it is made to wait. */
const inputWaitBytes = 64 * 1024;
/** Nobody has more keys than this in one frame: what is typed in one goes past the bound of the terminal's queue. */
const keysMaxBytes = 4 * 1024 * 1024;
/** Answers that a peer has not read before it is not listened to any more. */
const unreadMaxBytes = 4 * 1024 * 1024;
/** Questions that are being answered before a peer is not listened to any more. */
const unansweredMax = 64;
/** These last as long as something outside does, so any number of them may be open. */
const lasting: ReadonlySet<HostRequest['do']> = new Set([
  'wait',
  'open',
  'release',
  'abandon',
  'finish',
  'send',
] as const);

export type Handler = (connection: Connection, request: HostRequest) => unknown;

export class Connection {
  readonly socket: Socket;
  readonly #handle: Handler;
  readonly #reader = new FrameReader();
  #attached: { readonly session: Session; readonly viewer: Viewer } | undefined;
  #unanswered = 0;
  #awaitsRoomOf: Session | undefined;
  role: 'unknown' | 'daemon' | 'client' = 'unknown';

  constructor(socket: Socket, handle: Handler) {
    this.socket = socket;
    this.#handle = handle;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('drain', () => this.#regulate());
    socket.on('error', () => {}); // a broken pipe is an end, and `close` tells of it
    socket.on('close', () => this.detach());
  }

  tell(event: HostEvent): void {
    this.socket.write(jsonFrame(event));
  }

  attach(session: Session, viewer: Viewer): void {
    this.detach();
    this.#attached = { session, viewer };
  }

  detach(): void {
    this.#attached?.session.leave(this.#attached.viewer);
    this.#attached = undefined;
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#dispatch(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.socket.destroy();
    }
  }

  #dispatch({ type, body }: Frame): void {
    if (type === frameType.input && body.length <= keysMaxBytes) this.#typed(Buffer.from(body));
    else if (type === frameType.json) void this.#answer(body);
    else this.socket.destroy();
  }

  /** Keys. There is no answer to them; a program that does not read makes the peer wait, and keys for nobody are dropped. */
  #typed(bytes: Buffer): void {
    const attached = this.#attached;
    if (attached === undefined || attached.viewer.readOnly) return;
    attached.session.type(bytes).catch(() => {}); // the viewer is told of the end
    this.#regulate();
  }

  /** Nothing that a peer asks for or types piles up here because somebody does not read it. */
  #regulate(): void {
    const session = this.#attached?.session;
    const isFull = (session?.pendingInputBytes ?? 0) > inputWaitBytes;
    if (isFull) void this.#awaitRoom(session as Session);
    const isBehind = this.socket.writableLength > unreadMaxBytes || this.#unanswered > unansweredMax;
    if (isFull || isBehind) this.socket.pause();
    else this.socket.resume();
  }

  /** Others may have filled it, so that no answer to this peer tells when it has room again. */
  async #awaitRoom(session: Session): Promise<void> {
    if (this.#awaitsRoomOf === session) return;
    this.#awaitsRoomOf = session;
    await session.inputRoom(inputWaitBytes);
    if (this.#awaitsRoomOf !== session) return;
    this.#awaitsRoomOf = undefined;
    this.#regulate();
  }

  async #answer(body: Buffer): Promise<void> {
    const parsed = parsedRequest(body);
    if (!parsed.ok) {
      this.#reply({ reply: parsed.id, ok: false, error: { code: 'request_invalid', message: parsed.message } });
      return;
    }
    const { request } = parsed;
    const isQuick = !lasting.has(request.do);
    if (isQuick) this.#unanswered += 1;
    this.#regulate();
    const reply = await this.#replyTo(request);
    if (isQuick) this.#unanswered -= 1;
    this.#reply(reply);
  }

  async #replyTo(request: HostRequest): Promise<HostReply> {
    try {
      return { reply: request.id, ok: true, data: (await this.#handle(this, request)) ?? {} };
    } catch (error) {
      return { reply: request.id, ok: false, error: errorOf(error) };
    }
  }

  #reply(reply: HostReply): void {
    this.socket.write(jsonFrame(reply));
    this.#regulate();
  }
}

type Parsed =
  | { readonly ok: true; readonly request: HostRequest }
  | { readonly ok: false; readonly id: number; readonly message: string };

function parsedRequest(body: Buffer): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return { ok: false, id: 0, message: 'not JSON' };
  }
  const request = requestSchema.safeParse(value);
  if (request.success) return { ok: true, request: request.data };
  const { id } = (value ?? {}) as { id?: unknown };
  const [issue] = request.error.issues;
  const message = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`;
  return { ok: false, id: typeof id === 'number' ? id : 0, message };
}

function errorOf(error: unknown): Extract<HostReply, { ok: false }>['error'] {
  if (error instanceof HostError || error instanceof InputError) {
    const details = error instanceof HostError ? error.details : {};
    return { code: error.code, message: error.message, details };
  }
  return { code: 'internal_error', message: error instanceof Error ? error.message : String(error) };
}
