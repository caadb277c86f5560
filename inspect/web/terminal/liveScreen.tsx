/** The terminal as it is now. What this viewer missed is not made up: a gap is said, and the screen is painted anew. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { routes, type TerminalAnswer, type TerminalMessage } from '../../server/contract.ts';
import { events } from '../data/eventStream.ts';
import { pathOf } from '../data/server.ts';
import { amount } from '../text/quantity.ts';
import { visible } from '../text/visible.ts';
import { Screen } from './screen.ts';

const pauseMs = 1_000;

export function LiveScreen({ terminal }: { readonly terminal: TerminalAnswer }) {
  const place = useRef<HTMLDivElement>(null);
  const [said, say] = useState('Connecting …');
  const { sessionId } = terminal;
  useEffect(() => {
    const screen = new Screen(place.current!);
    const stop = new AbortController();
    void follow({ sessionId, screen, say, signal: stop.signal });
    return () => {
      stop.abort();
      screen.dispose();
    };
  }, [sessionId]);
  return (
    <>
      <p class="terminal-said" role="status" data-terminal="live">
        {visible(said)}
      </p>
      <div class="screen" ref={place} />
    </>
  );
}

interface Follow {
  readonly sessionId: string;
  readonly screen: Screen;
  readonly say: (said: string) => void;
  readonly signal: AbortSignal;
}

async function follow({ sessionId, screen, say, signal }: Follow): Promise<void> {
  const shown = new Shown(screen, say);
  while (!signal.aborted) {
    try {
      const path = pathOf(routes.terminalLive, { id: sessionId });
      for await (const message of events<TerminalMessage>(path, { signal, silenceMs: null })) {
        shown.take(message);
        // What is not on the screen yet is not read on: the server then leaves output out, and says so.
        await screen.settled();
        if (message.type === 'ended') return;
      }
      say('The stream ended; connecting again …');
    } catch (error) {
      if (signal.aborted) return;
      say(`${error instanceof Error ? error.message : error} Connecting again …`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

class Shown {
  readonly #screen: Screen;
  readonly #say: (said: string) => void;
  /** What came too fast for this viewer, and is painted over since. */
  #missedBytes = 0;
  #reason = '';

  constructor(screen: Screen, say: (said: string) => void) {
    this.#screen = screen;
    this.#say = say;
  }

  take(message: TerminalMessage): void {
    if (message.type === 'screen') {
      this.#screen.clear();
      this.#screen.resize(message.cols, message.rows);
      this.#screen.write(bytesOf(message.base64));
      this.#sayLive();
    } else if (message.type === 'output') {
      this.#screen.write(bytesOf(message.base64));
    } else if (message.type === 'resized') {
      this.#screen.resize(message.cols, message.rows);
    } else if (message.type === 'gap') {
      this.#missedBytes += message.to - message.from;
      this.#reason = message.reason;
      this.#sayLive();
    } else {
      const { complete, reason } = message;
      this.#say(
        complete ? 'Ended; its output is complete.' : `Ended; output is missing: ${reason ?? 'nobody knows why'}`,
      );
    }
  }

  #sayLive(): void {
    const missed = `${amount(this.#missedBytes)} bytes were not shown: ${this.#reason}`;
    this.#say(this.#missedBytes === 0 ? 'Live' : `Live; ${missed}`);
  }
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
