/**
 * Server-sent events, read with `fetch` because `EventSource` sends no header. Yields each `data` parsed as JSON; ends when
 * the server closes, throws when the connection breaks or says nothing for `silenceMs`.
 */
import { fetched } from './server.ts';

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** A stream that is silent for so long is dead, whatever the socket says; null where nobody promised a heartbeat. */
  readonly silenceMs: number | null;
  /** Anything was heard, be it only that somebody is there. */
  readonly onHeard?: () => void;
}

export async function* events<T>(path: string, { signal, silenceMs, onHeard }: StreamOptions): AsyncGenerator<T> {
  const silence = new AbortController();
  const stop = AbortSignal.any([signal, silence.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    if (silenceMs !== null) timer = setTimeout(() => silence.abort(), silenceMs);
  };
  heard();
  try {
    const response = await fetched(path, { signal: stop });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      onHeard?.();
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = dataOf(block);
        if (data !== undefined) yield JSON.parse(data) as T;
      }
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** The `data` lines of one event; undefined for a comment. */
function dataOf(block: string): string | undefined {
  const lines = block.split('\n').filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return undefined;
  return lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n');
}
