/**
 * The output of a session as raw bytes, from an offset on: from its holder while it lives, from the disk once it is over.
 * Every byte comes, however slowly it is taken.
 */
import type { Places } from '../../actors/runtime/places.ts';
import { storedExtents } from '../../pty/transcript/extents.ts';
import { readRange } from '../../pty/transcript/rawReader.ts';
import type { HostClient } from '../../pty/wire/hostClient.ts';
import { HostError } from '../../pty/wire/hostError.ts';
import type { CaptureEnd } from '../../pty/wire/messages.ts';
import { connectToHost, type FoundSession, findSession, fromHost, hostGone } from '../sessionClient.ts';
import { placeOf } from './storedSession.ts';

export interface Sink {
  /** Resolves when more may come. */
  readonly bytes: (offset: number, bytes: Buffer) => Promise<void>;
  /** Bytes of [from, to) are not stored. */
  readonly gap: (from: number, to: number) => void;
}

export class Followed {
  #client: HostClient | undefined;
  #found: FoundSession | undefined;
  #sink: Sink | undefined;
  /** What has been passed on so far; the sink takes one piece after the other. */
  #taken = Promise.resolve();
  #next = 0;
  #end!: (end: CaptureEnd) => void;
  #fail!: (error: Error) => void;
  readonly #ended = new Promise<CaptureEnd>((resolve, reject) => {
    this.#end = resolve;
    this.#fail = reject;
  });

  /** Throws `not_found` and `ambiguous_id`. The caller closes. */
  async open(places: Places, typed: string): Promise<FoundSession> {
    this.#ended.catch(() => {});
    const host = await connectToHost(places, {
      event: (event) => {
        if (event.event === 'captureEnded') this.#end(event.end);
        if (event.event === 'gap') this.#sink?.gap(event.from, event.to);
      },
      output: (offset, bytes) => this.#pass(offset, bytes),
      ended: () => this.#fail(hostGone(this.#found?.sessionId ?? typed)),
    });
    this.#client = host?.client;
    this.#found = findSession(places, typed, host?.sessions ?? []);
    return this.#found;
  }

  /** Passes on what follows `from`, until the session is over; undefined when nobody holds it any more. */
  async run(from: number, sink: Sink): Promise<CaptureEnd | undefined> {
    const { sessionId, report, transcriptDir } = this.#found as FoundSession;
    this.#sink = sink;
    this.#next = from;
    if (this.#client === undefined || report === undefined) {
      await this.#rest(transcriptDir);
      return undefined;
    }
    try {
      await this.#client.ask({ do: 'attach', sessionId, mode: 'every byte', readOnly: true, from });
      const end = await this.#ended;
      await this.#taken;
      return end;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.code !== 'session_unknown') throw fromHost(error, sessionId);
      // It ended between two questions, and was handed over.
      await this.#rest(transcriptDir);
      return undefined;
    }
  }

  close(): void {
    this.#client?.close();
  }

  #pass(offset: number, bytes: Buffer): void {
    this.#client?.pause();
    this.#taken = this.#taken.then(() => this.#sink?.bytes(offset, bytes));
    const passed = this.#taken;
    void passed.then(
      () => this.#taken === passed && this.#client?.resume(),
      (error: Error) => this.#fail(error),
    );
  }

  async #rest(transcriptDir: string): Promise<void> {
    const place = await placeOf(transcriptDir);
    for (const extent of storedExtents(place, 0).extents) {
      if (extent.to <= this.#next) continue;
      if (extent.from > this.#next) this.#sink?.gap(this.#next, extent.from);
      let at = Math.max(this.#next, extent.from);
      for await (const piece of readRange(place, at, extent.to)) {
        await this.#sink?.bytes(at, piece);
        at += piece.length;
      }
      this.#next = extent.to;
    }
  }
}
