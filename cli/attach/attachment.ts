/**
 * One attachment: output of a session to the viewer's terminal, keys back. Each direction waits for the slower end, and
 * neither decodes a byte: a character may lie in two chunks.
 */

import type { Places } from '../../actors/runtime/places.ts';
import type { HostClient } from '../../pty/wire/hostClient.ts';
import { HostError } from '../../pty/wire/hostError.ts';
import type { CaptureEnd, HostEvent } from '../../pty/wire/messages.ts';
import { connectToHost, type FoundSession, findSession, fromHost, hostGone, sessionEnded } from '../sessionClient.ts';
import { type DetachKeys, DetachScanner } from './detachKey.ts';
import { storedScreen } from './storedScreen.ts';
import type { Size, ViewerTerminal } from './viewerTerminal.ts';

export interface AttachOptions {
  readonly readOnly: boolean;
  readonly detachKeys: DetachKeys;
  /** Begin with the screen as it is; without it only what comes next is shown. */
  readonly isRepainting: boolean;
}

interface Connected {
  readonly client: HostClient;
  readonly found: FoundSession;
}

export type Left =
  | { readonly how: 'detached' }
  /** Every byte was shown before this. */
  | { readonly how: 'ended'; readonly end: CaptureEnd };

/** Who detaches does not wait longer than this for a terminal or a program that takes nothing. */
const leaveMs = 1_000;

/** ctrl-c, which nobody else would get from somebody who may only watch. */
const interrupt = 0x03;

export class Attachment {
  readonly #terminal: ViewerTerminal;
  readonly #options: AttachOptions;
  readonly #scanner: DetachScanner;
  #connected: Connected | undefined;
  #isFirst = true;
  /** Bytes were left out, and the screen that makes up for them has not come. */
  #isBehind = false;
  #leave!: (left: Left) => void;
  #fail!: (error: Error) => void;
  readonly #left = new Promise<Left>((resolve, reject) => {
    this.#leave = resolve;
    this.#fail = reject;
  });

  constructor(terminal: ViewerTerminal, options: AttachOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#scanner = new DetachScanner(options.detachKeys);
    this.#left.catch(() => {});
  }

  /** Throws `not_found`, `ambiguous_id`, `session_ended` (exit 13). Nothing has been done to the terminal then. */
  async connect(places: Places, typed: string): Promise<FoundSession> {
    const host = await connectToHost(places, {
      event: (event) => this.#onEvent(event),
      output: (_offset, bytes) => this.#show(bytes),
      ended: () => this.#fail(hostGone(this.#connected?.found.sessionId ?? typed)),
    });
    try {
      const found = findSession(places, typed, host?.sessions ?? []);
      if (host === undefined || found.report === undefined || found.report.end !== null) {
        throw sessionEnded(found.sessionId);
      }
      this.#connected = { client: host.client, found };
      return found;
    } catch (error) {
      host?.client.close();
      throw error;
    }
  }

  get #connection(): Connected {
    return this.#connected as Connected;
  }

  get #client(): HostClient {
    return this.#connection.client;
  }

  get sessionId(): string {
    return this.#connection.found.sessionId;
  }

  /** Shows and types until somebody leaves; the terminal is taken already. Throws `pty_host_gone`, `session_ended`. */
  async run(): Promise<Left> {
    const { sessionId } = this;
    const { readOnly, isRepainting } = this.#options;
    try {
      const mode = isRepainting ? 'screen' : 'every byte';
      await this.#client.ask({ do: 'attach', sessionId, mode, readOnly });
      // Not earlier: keys for a session that nobody is attached to are dropped by its holder.
      this.#terminal.read((bytes) => this.#type(bytes));
      const left = await this.#left;
      if (left.how === 'ended' && this.#isBehind) await this.#showLast();
      await this.#terminal.flushed(left.how === 'ended' ? undefined : leaveMs);
      return left;
    } catch (error) {
      throw error instanceof HostError ? fromHost(error, sessionId) : error;
    } finally {
      this.#client.close();
    }
  }

  /** Past the daemon, where there is none. */
  async resize({ cols, rows }: Size): Promise<void> {
    await this.#client.ask({ do: 'resize', sessionId: this.sessionId, cols, rows });
  }

  #onEvent(event: HostEvent): void {
    if (event.event === 'captureEnded') this.#leave({ how: 'ended', end: event.end });
    if (event.event === 'gap') this.#isBehind = true;
    if (event.event !== 'screen') return;
    this.#isBehind = false;
    const { cols, rows } = event;
    const repaint = Buffer.from(event.repaint, 'base64');
    const isTaken = this.#terminal.repaint({ cols, rows, repaint }, this.#isFirst);
    this.#isFirst = false;
    if (!isTaken) this.#waitForTerminal();
  }

  /** Its holder lets go of the screen with the session, and a viewer who fell behind may still be waiting for it. */
  async #showLast(): Promise<void> {
    try {
      this.#terminal.repaint(await storedScreen(this.#connection.found), false);
    } catch {
      // Without a transcript there is nothing better than what was seen.
    }
  }

  #show(bytes: Buffer): void {
    if (!this.#terminal.write(bytes)) this.#waitForTerminal();
  }

  #waitForTerminal(): void {
    this.#client.pause();
    void this.#terminal.drained().then(() => this.#client.resume());
  }

  #type(bytes: Buffer): void {
    const { forward, isDetached } = this.#scanner.push(bytes);
    const isLeaving = isDetached || (this.#options.readOnly && forward.includes(interrupt));
    if (!this.#options.readOnly && forward.length > 0 && !this.#client.type(forward)) {
      this.#terminal.pauseReading();
      void this.#client.drained().then(() => this.#terminal.resumeReading());
    }
    if (isLeaving) void this.#detach();
  }

  /** The holder answers in order, so its answer says that it has what was typed before; unless a program holds it up. */
  async #detach(): Promise<void> {
    this.#terminal.pauseReading();
    await this.#client.ask({ do: 'list' }, leaveMs).catch(() => {});
    this.#leave({ how: 'detached' });
  }
}
