/** What the names in a producer's directory say (docs/notes.md). A name that says nothing is nobody's and is left alone. */
const pattern = /^(\d{20})-([0-9a-f]{32})\.(json|json\.refused|end)$/;
/** The counter, and what a call that is at work or was killed has half made. */
const own = /^(counter|\.note|\.counter-[0-9a-f]{32})$/;

export interface StreamNames {
  readonly present: readonly number[];
  /** Numbers under which there is a note, or was one that has been put aside; ascending. */
  readonly marks: readonly number[];
  /** Numbers of files that were put aside. */
  readonly refused: ReadonlySet<number>;
  /** The last number that an ended stream had given out; 0 when nothing says so. */
  readonly end: number;
}

export interface Names {
  readonly streams: ReadonlyMap<string, StreamNames>;
  readonly strangers: number;
}

export const noteName = (stream: string, seq: number): string => `${String(seq).padStart(20, '0')}-${stream}.json`;
export const endName = (stream: string, seq: number): string => `${String(seq).padStart(20, '0')}-${stream}.end`;

export function readNames(names: readonly string[]): Names {
  const streams = new Map<string, { present: number[]; marks: number[]; refused: Set<number>; end: number }>();
  let strangers = 0;
  for (const name of names) {
    const [, digits = '', stream = '', kind] = pattern.exec(name) ?? [];
    const seq = Number(digits);
    if (kind === undefined || !Number.isSafeInteger(seq)) {
      if (!own.test(name)) strangers += 1;
      continue;
    }
    const found = streams.get(stream) ?? { present: [], marks: [], refused: new Set<number>(), end: 0 };
    streams.set(stream, found);
    if (kind === 'json' && seq > 0) found.present.push(seq);
    else if (kind === 'end') found.end = Math.max(found.end, seq);
    else if (seq > 0) found.refused.add(seq);
  }
  for (const names of streams.values())
    names.marks = [...new Set([...names.present, ...names.refused])].sort((a, b) => a - b);
  return { streams, strangers };
}
