/**
 * A living terminal for one browser: read-only, from its holder, which never waits for who watches. A browser that does not
 * take what comes stops the reading here; the holder then leaves output out, says so, and paints the screen anew.
 */
import type { ServerResponse } from 'node:http';
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { withSocketAddress } from '../../../actors/runtime/places.ts';
import { HostClient } from '../../../pty/wire/hostClient.ts';
import { HostError } from '../../../pty/wire/hostError.ts';
import type { HostEvent } from '../../../pty/wire/messages.ts';
import { notHere } from '../access/refusal.ts';
import { heartbeatMs, type TerminalMessage } from '../contract.ts';

type Parts = Pick<InspectedDaemon, 'places' | 'clock' | 'credential'>;

/** Connects before the answer is begun, so that a terminal that nobody holds is a refusal. Throws a Refusal, or HostError. */
export async function watchTerminal(parts: Parts, sessionId: string): Promise<LiveTerminal> {
  const terminal = new LiveTerminal(parts, sessionId);
  await terminal.connect();
  return terminal;
}

const textOf = (message: TerminalMessage): string => `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;

const nobodyThere: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'host_gone',
  'session_unknown',
  'session_ended',
]);

export class LiveTerminal {
  readonly #parts: Parts;
  readonly #sessionId: string;
  #client: HostClient | undefined;
  #response: ServerResponse | undefined;
  /** Said before anybody listened. */
  #early: TerminalMessage[] = [];
  #offset = 0;
  #isOver = false;
  #stopBeat: (() => void) | undefined;

  constructor(parts: Parts, sessionId: string) {
    this.#parts = parts;
    this.#sessionId = sessionId;
  }

  async connect(): Promise<void> {
    const { places, credential } = this.#parts;
    try {
      const { client } = await withSocketAddress(places.ptyHostSocket, (address) =>
        HostClient.connect({
          address,
          role: 'client',
          credential: credential(),
          event: (event) => this.#take(event),
          output: (offset, bytes) => this.#output(offset, bytes),
          ended: () => this.#over({ complete: false, reason: 'its holder is gone' }),
        }),
      );
      this.#client = client;
      await client.ask({ do: 'attach', sessionId: this.#sessionId, mode: 'screen', readOnly: true });
    } catch (error) {
      this.#client?.close();
      const { code } = error as { readonly code?: unknown };
      const isNobody = nobodyThere.has(code) && (error instanceof HostError || error instanceof Error);
      throw isNobody ? notHere(`living terminal of ${this.#sessionId}`) : error;
    }
  }

  /** The head of the answer is written. Ends with the session, or when the browser leaves. */
  into(response: ServerResponse): void {
    this.#response = response;
    response.on('drain', () => this.#client?.resume());
    response.on('close', () => this.close());
    response.on('error', () => {});
    // Also what was said by a terminal that ended before anybody listened.
    for (const message of this.#early.splice(0)) response.write(textOf(message));
    if (this.#isOver) response.end();
    else this.#beat();
  }

  close(): void {
    this.#isOver = true;
    this.#stopBeat?.();
    this.#client?.close();
    this.#response?.end();
  }

  #take(event: HostEvent): void {
    if (!('sessionId' in event) || event.sessionId !== this.#sessionId) return;
    if (event.event === 'screen') {
      const { offset, cols, rows, repaint } = event;
      this.#offset = offset;
      this.#say({ type: 'screen', offset, cols, rows, base64: repaint });
    }
    if (event.event === 'gap')
      this.#say({ type: 'gap', from: event.from, to: event.to, reason: 'this viewer was too slow' });
    if (event.event === 'resized')
      this.#say({ type: 'resized', offset: this.#offset, cols: event.cols, rows: event.rows });
    if (event.event === 'captureEnded') this.#over({ complete: event.end.complete, reason: event.end.reason });
  }

  #output(offset: number, bytes: Buffer): void {
    this.#offset = offset + bytes.length;
    this.#say({ type: 'output', offset, base64: bytes.toString('base64') });
  }

  #over({ complete, reason }: { readonly complete: boolean; readonly reason: string | null }): void {
    if (this.#isOver) return;
    this.#say({ type: 'ended', offset: this.#offset, complete, reason });
    this.#isOver = true;
    this.#stopBeat?.();
    this.#client?.close();
    this.#response?.end();
  }

  #say(message: TerminalMessage): void {
    if (this.#response === undefined) this.#early.push(message);
    else if (!this.#isOver && !this.#response.write(textOf(message))) this.#client?.pause();
  }

  #beat(): void {
    const { clock } = this.#parts;
    this.#stopBeat = clock.wakeAt(clock.monoMs() + heartbeatMs, () => {
      if (this.#isOver) return;
      if (this.#response?.writableLength === 0) this.#response.write(':\n\n');
      this.#beat();
    });
  }
}
