/** One line of the index: a compact JSON array that starts with a letter and the microseconds since the session began. */

/** Why bytes are missing, for readers that know no error numbers. */
export type LossReason = 'noSpace' | 'quota' | 'ioError' | 'refused';

export type TranscriptRecord =
  /** Bytes up to `end` had been read by then; they begin where the record before ended. */
  | { readonly kind: 'output'; readonly atUs: number; readonly end: number }
  | { readonly kind: 'resize'; readonly atUs: number; readonly cols: number; readonly rows: number }
  /** So many bytes were read at `offset` and could not be stored; offsets count stored bytes only. */
  | {
      readonly kind: 'gap';
      readonly atUs: number;
      readonly offset: number;
      readonly lostBytes: number;
      readonly reason: LossReason;
      readonly errno: number;
    }
  /** The segments of [from, to) were removed to keep below the cap. */
  | { readonly kind: 'dropped'; readonly atUs: number; readonly from: number; readonly to: number }
  /** `complete`, or why the capture ended before the output did. */
  | { readonly kind: 'end'; readonly atUs: number; readonly offset: number; readonly outcome: string };

type Field = 'count' | 'text';
type Kind = TranscriptRecord['kind'];

interface Shape {
  readonly letter: string;
  readonly fields: readonly (readonly [name: string, type: Field])[];
}

const shapes: Readonly<Record<Kind, Shape>> = {
  output: { letter: 'o', fields: [['end', 'count']] },
  resize: {
    letter: 'r',
    fields: [
      ['cols', 'count'],
      ['rows', 'count'],
    ],
  },
  gap: {
    letter: 'g',
    fields: [
      ['offset', 'count'],
      ['lostBytes', 'count'],
      ['reason', 'text'],
      ['errno', 'count'],
    ],
  },
  dropped: {
    letter: 'd',
    fields: [
      ['from', 'count'],
      ['to', 'count'],
    ],
  },
  end: {
    letter: 'e',
    fields: [
      ['offset', 'count'],
      ['outcome', 'text'],
    ],
  },
};

const byLetter = new Map(Object.entries(shapes).map(([kind, shape]) => [shape.letter, { kind, ...shape }]));

export function encodeRecord(record: TranscriptRecord): string {
  const { letter, fields } = shapes[record.kind];
  const values = fields.map(([name]) => (record as unknown as Record<string, unknown>)[name]);
  return `${JSON.stringify([letter, record.atUs, ...values])}\n`;
}

/** Undefined for a line that this version does not understand, a torn one included. */
export function decodeRecord(line: string): TranscriptRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [letter, atUs, ...values] = value as unknown[];
  const shape = byLetter.get(String(letter));
  if (shape === undefined || values.length !== shape.fields.length || !hasType(atUs, 'count')) return undefined;
  if (!shape.fields.every(([, type], index) => hasType(values[index], type))) return undefined;
  const entries = shape.fields.map(([name], index) => [name, values[index]]);
  return { kind: shape.kind, atUs, ...Object.fromEntries(entries) } as TranscriptRecord;
}

function hasType(value: unknown, type: Field): boolean {
  return type === 'text' ? typeof value === 'string' : Number.isSafeInteger(value) && (value as number) >= 0;
}

export function lossReason(code: string | undefined): LossReason {
  if (code === 'ENOSPC') return 'noSpace';
  if (code === 'EDQUOT') return 'quota';
  return code === 'EIO' ? 'ioError' : 'refused';
}
