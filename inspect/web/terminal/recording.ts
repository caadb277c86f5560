/** A recording as asciicast v2: a header, then one line of JSON for each piece of output or change of size. */

export interface RecordingEvent {
  /** Since the beginning. */
  readonly timeMs: number;
  readonly kind: 'output' | 'resize' | 'marker';
  readonly data: string;
}

export interface Recording {
  readonly cols: number;
  readonly rows: number;
  readonly durationMs: number;
  readonly events: readonly RecordingEvent[];
}

const kinds: Readonly<Record<string, RecordingEvent['kind']>> = { o: 'output', r: 'resize', m: 'marker' };

/** Throws where the header is not one; lines that say something else are left out. */
export function parseRecording(text: string): Recording {
  const [first = '', ...lines] = text.split('\n');
  const { version, width, height } = JSON.parse(first) as { version?: unknown; width?: unknown; height?: unknown };
  if (version !== 2) throw new Error('This recording is of a form that the page does not know.');
  const events = lines.flatMap(eventOf);
  return {
    cols: Number(width) || 80,
    rows: Number(height) || 24,
    durationMs: events.at(-1)?.timeMs ?? 0,
    events,
  };
}

function eventOf(line: string): RecordingEvent[] {
  if (line === '') return [];
  const [seconds, code, data] = JSON.parse(line) as [number, string, string];
  const kind = kinds[code];
  return kind === undefined ? [] : [{ timeMs: seconds * 1_000, kind, data }];
}
