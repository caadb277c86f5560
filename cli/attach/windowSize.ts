/** The size of the viewer's window as the session's own, which is what --resize asks for. */
import { readRendezvous } from '../../actors/runtime/places.ts';
import { Client, DaemonAbsent } from '../client.ts';
import { credentialOf } from '../credential.ts';
import { fromApi } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import type { Attachment } from './attachment.ts';
import type { ViewerTerminal } from './viewerTerminal.ts';

/** A daemon that is busy for longer is passed by: somebody is dragging a window. */
const answerMs = 2_000;

export class WindowSize {
  readonly #invocation: Invocation;
  readonly #attachment: Attachment;
  readonly #terminal: ViewerTerminal;
  #isBusy = false;
  #isStale = false;

  constructor(invocation: Invocation, attachment: Attachment, terminal: ViewerTerminal) {
    this.#invocation = invocation;
    this.#attachment = attachment;
    this.#terminal = terminal;
  }

  /** Now, and whenever the window changes. */
  async follow(): Promise<void> {
    this.#terminal.onResize(() => void this.#apply());
    await this.#apply();
  }

  /** A window that is dragged changes faster than anybody needs to know: only its newest size is passed on. */
  async #apply(): Promise<void> {
    this.#isStale = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#attachment.willResize();
    while (this.#isStale) {
      this.#isStale = false;
      await this.#tell();
      await this.#attachment.heard(answerMs);
    }
    this.#isBusy = false;
    this.#attachment.hasResized();
  }

  /** Through the daemon, which keeps a record of sizes; a terminal whose daemon is down takes it all the same. */
  async #tell(): Promise<void> {
    const { size } = this.#terminal;
    const { sessionId } = this.#attachment;
    const { places } = this.#invocation;
    const daemon = readRendezvous(places);
    try {
      if (daemon === undefined) throw new DaemonAbsent('none');
      const client = new Client(daemon, () => credentialOf(places));
      const reply = await client.call('sessions.resize', { id: sessionId, ...size } as object, answerMs);
      if (!reply.ok) throw fromApi(reply.error);
    } catch {
      // A session that has ended says so itself.
      await this.#attachment.resize(size).catch(() => {});
    }
  }
}
