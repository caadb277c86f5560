/**
 * One attachment: output of a session to the viewer's terminal, keys back. Each direction waits for the slower end, and
 * neither decodes a byte: a character may lie in two chunks.
 */

import type { Places } from '../../actors/runtime/places.ts';
import { atLeastTwo } from '../../pty/transcript/emulator.ts';
import type { HostClient } from '../../pty/wire/hostClient.ts';
import { HostError } from '../../pty/wire/hostError.ts';
import type { CaptureEnd, HostEvent, SessionReport } from '../../pty/wire/messages.ts';
import {
  assertElsewhere,
  connectToHost,
  type FoundSession,
  findSession,
  fromHost,
  hostGone,
  sessionEnded,
} from '../sessionClient.ts';
import { type DetachKeys, DetachScanner, wayOut } from './detachKey.ts';
import { type Display, Passthrough, type Screen } from './display.ts';
import { storedScreen } from './storedScreen.ts';
import type { Size, ViewerTerminal } from './viewerTerminal.ts';
import { Window, type WindowOptions } from './window.ts';

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
  #display: Display | undefined;
  /** Bytes were left out, and the screen that makes up for them has not come. */
  #isBehind = false;
  #sessionSize!: Size;
  /** Of the screen that is shown. */
  #shownSize: Size | undefined;
  /** Until the screen comes that was asked for, what the session says belongs to another one. */
  #asked: { isAnswered: boolean } | undefined;
  /** Told since the last screen was asked for, which may be older. */
  #resizedTo: Size | undefined;
  /** The session is being given the size of the window, so that they will not differ for long. */
  #isBeingResized = false;
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

  /** Throws `not_found`, `ambiguous_id`, `usage` for the session this runs in, `session_ended` (exit 13). Nothing has been done to the terminal then. */
  async connect(places: Places, typed: string): Promise<FoundSession> {
    const host = await connectToHost(places, {
      event: (event) => this.#onEvent(event),
      output: (_offset, bytes) => this.#show(bytes),
      ended: () => this.#fail(hostGone(this.#connected?.found.sessionId ?? typed)),
    });
    try {
      const found = findSession(places, typed, host?.sessions ?? []);
      assertElsewhere(found.sessionId);
      if (host === undefined || found.report === undefined || found.report.end !== null) {
        throw sessionEnded(found.sessionId);
      }
      this.#connected = { client: host.client, found };
      this.#sessionSize = rendered(found.report);
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
    try {
      await this.#begin();
      // Not earlier: keys for a session that nobody is attached to are dropped by its holder.
      this.#terminal.read((bytes) => this.#type(bytes));
      const left = await this.#left;
      if (left.how === 'ended') await this.#showEnd();
      await this.#terminal.flushed(left.how === 'ended' ? undefined : leaveMs);
      return left;
    } catch (error) {
      throw error instanceof HostError ? fromHost(error, sessionId) : error;
    } finally {
      this.#display?.close();
      this.#client.close();
    }
  }

  /** Past the daemon, where there is none. */
  async resize({ cols, rows }: Size): Promise<void> {
    await this.#client.ask({ do: 'resize', sessionId: this.sessionId, cols, rows });
  }

  /** From here to `hasResized` the session is being given the size of the window. */
  willResize(): void {
    this.#isBeingResized = true;
  }

  hasResized(): void {
    this.#isBeingResized = false;
    this.fit();
  }

  /** The holder answers in order: resolves when what it said before has been heard, unless something holds it up. */
  async heard(withinMs: number): Promise<void> {
    await this.#client.ask({ do: 'list' }, withinMs).catch(() => {});
  }

  /** Looks whether the session is still shown in the right way, after its size or that of the window has changed. */
  fit(): void {
    if (this.#display === undefined || this.#isBeingResized) return;
    const isOwn = this.#isOwnSize(this.#sessionSize);
    const isRight = isOwn ? this.#display instanceof Passthrough : this.#display instanceof Window;
    if (isRight && (isOwn || isSameSize(this.#shownSize, this.#sessionSize))) this.#display.resized();
    else this.#askAgain();
  }

  /** The terminal shows something else, and may be set in any way. */
  begunAgain(): void {
    if (this.#display === undefined) return;
    this.#display.close();
    this.#display = undefined;
    this.#askAgain();
  }

  #isOwnSize(session: Size): boolean {
    const { cols, rows } = this.#terminal.size;
    // A terminal that does not know its size is taken to be right.
    return !cols || !rows || isSameSize(session, { cols, rows });
  }

  async #begin(): Promise<void> {
    if (this.#options.isRepainting) return this.#askForScreen();
    const { sessionId } = this;
    const request = { do: 'attach', sessionId, mode: 'every byte', readOnly: this.#options.readOnly } as const;
    const report = (await this.#client.ask(request)) as SessionReport;
    this.#sessionSize = this.#resizedTo ?? rendered(report);
    this.#displayed();
    this.fit();
  }

  #askAgain(): void {
    if (this.#asked === undefined) this.#askForScreen().catch((error: Error) => this.#fail(error));
  }

  /** The holder sends one to whoever attaches, so that is done once more; its answer comes first. */
  async #askForScreen(): Promise<void> {
    const asked = { isAnswered: false };
    this.#asked = asked;
    this.#resizedTo = undefined;
    const { sessionId } = this;
    const { readOnly } = this.#options;
    const report = (await this.#client.ask({ do: 'attach', sessionId, mode: 'screen', readOnly })) as SessionReport;
    asked.isAnswered = true;
    // The screen may lie in what was read together with the answer.
    if (this.#asked === asked) this.#sessionSize = this.#resizedTo ?? rendered(report);
  }

  #onEvent(event: HostEvent): void {
    if (event.event === 'captureEnded') this.#leave({ how: 'ended', end: event.end });
    else if (event.event === 'gap') this.#isBehind = true;
    else if (event.event === 'resized') this.#resized(event);
    else if (event.event === 'screen') this.#onScreen({ ...event, repaint: Buffer.from(event.repaint, 'base64') });
  }

  #resized(to: Size): void {
    this.#sessionSize = rendered(to);
    this.#resizedTo = this.#sessionSize;
    this.fit();
  }

  /** One that was rendered before the size changed is of no use. */
  #onScreen(screen: Screen): void {
    const told = this.#resizedTo;
    this.#asked = undefined;
    if (told === undefined || isSameSize(told, screen)) this.#repaint(screen);
    else this.#askAgain();
  }

  #repaint(screen: Screen): void {
    this.#asked = undefined;
    this.#isBehind = false;
    this.#resizedTo = undefined;
    this.#sessionSize = { cols: screen.cols, rows: screen.rows };
    this.#shownSize = this.#sessionSize;
    this.#display = this.#displayFor(screen);
    this.#display.begin(screen);
  }

  #displayFor(session: Size): Display {
    const isOwn = this.#isOwnSize(session);
    if (this.#display instanceof (isOwn ? Passthrough : Window)) return this.#display as Display;
    this.#display?.close();
    return isOwn ? new Passthrough(this.#terminal) : new Window(this.#windowOptions);
  }

  /** For a session whose screen is not known. */
  #displayed(): Display {
    if (this.#display === undefined || this.#asked !== undefined) {
      this.#repaint({ ...this.#sessionSize, repaint: Buffer.alloc(0) });
    }
    return this.#display as Display;
  }

  get #windowOptions(): WindowOptions {
    const { readOnly, detachKeys } = this.#options;
    return {
      terminal: this.#terminal,
      sessionId: this.sessionId,
      wayOut: wayOut(detachKeys, readOnly),
      answer: (bytes) => {
        if (!readOnly) this.#client.type(bytes);
      },
    };
  }

  /** Its holder lets go of the screen with the session, and a viewer who fell behind may still be waiting for it. */
  async #showEnd(): Promise<void> {
    if (this.#isBehind || this.#asked !== undefined) {
      // Without a transcript there is nothing better than what was seen.
      await storedScreen(this.#connection.found).then(
        (screen) => this.#repaint(screen),
        () => {},
      );
    }
    await this.#display?.shown();
    this.#display?.finish();
  }

  #show(bytes: Buffer): void {
    // After the answer only the screen may come, unless there is none to be had.
    if (this.#asked?.isAnswered === false) return;
    const isTaken = this.#displayed().output(bytes);
    if (isTaken === undefined) return;
    this.#client.pause();
    void isTaken.then(() => this.#client.resume());
  }

  #type(bytes: Buffer): void {
    const { forward, isDetached } = this.#scanner.push(bytes);
    const isLeaving = isDetached || (this.#options.readOnly && forward.includes(interrupt));
    const heard = this.#display?.typed(forward) ?? forward;
    if (!this.#options.readOnly && heard.length > 0 && !this.#client.type(heard)) {
      this.#terminal.pauseReading();
      void this.#client.drained().then(() => this.#terminal.resumeReading());
    }
    if (isLeaving) void this.#detach();
  }

  /** What was typed before has reached the holder then, unless a program holds it up. */
  async #detach(): Promise<void> {
    this.#terminal.pauseReading();
    await this.heard(leaveMs);
    this.#leave({ how: 'detached' });
  }
}

/** The size of the screen that is rendered of it. */
const rendered = ({ cols, rows }: Size): Size => atLeastTwo(cols, rows);

const isSameSize = (one: Size | undefined, other: Size): boolean => one?.cols === other.cols && one.rows === other.rows;
