/** The last lines of a transcript, for somebody who wants to see how it ended. */
import { TranscriptRangeError } from './errors.ts';
import type { Extent } from './extents.ts';
import { type RawPlace, RawReader } from './rawReader.ts';

export interface Tail {
  /** Offset of the first byte. */
  readonly from: number;
  readonly bytes: Buffer;
  /** Fewer lines than asked for, because the limit came first, or what lies before is not stored. */
  readonly truncated: boolean;
}

const stepBytes = 16 * 1024;

/**
 * The last `lines` lines of an extent, as raw bytes. A line end at the very end closes the last line and starts no other.
 * At most `maxBytes`, because a line may be as long as the transcript. Throws TranscriptRangeError.
 */
export async function tailLines(
  place: RawPlace,
  extent: Extent,
  { lines, maxBytes = 1024 * 1024 }: { readonly lines: number; readonly maxBytes?: number },
): Promise<Tail> {
  const limit = Math.max(extent.from, extent.to - maxBytes);
  const reader = new RawReader(place);
  try {
    const pieces: Buffer[] = [];
    let wanted = lines;
    for (let end = extent.to; end > limit && wanted >= 0; ) {
      const start = Math.max(limit, end - stepBytes);
      const piece = await readWhole(reader, start, end);
      const cut = lineStart(piece, wanted, end === extent.to);
      if (cut.at !== undefined) return tailOf(start + cut.at, [piece.subarray(cut.at), ...pieces], false);
      wanted = cut.left;
      pieces.unshift(piece);
      end = start;
    }
    return tailOf(limit, pieces, limit > 0 && lines > 0);
  } finally {
    reader.close();
  }
}

/** Goes back over `left` line ends. */
function lineStart(piece: Buffer, wanted: number, isLast: boolean): { at?: number; left: number } {
  if (wanted === 0) return { at: piece.length, left: 0 };
  let left = wanted;
  for (let from = piece.length - (isLast ? 2 : 1); from >= 0; from -= 1) {
    from = piece.lastIndexOf(0x0a, from);
    if (from < 0) break;
    left -= 1;
    if (left === 0) return { at: from + 1, left };
  }
  return { left };
}

async function readWhole(reader: RawReader, start: number, end: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(end - start);
  for (let at = 0; at < piece.length; ) {
    const bytes = await reader.read(start + at, piece.subarray(at));
    if (bytes === 0) throw new TranscriptRangeError(start + at);
    at += bytes;
  }
  return piece;
}

function tailOf(from: number, pieces: readonly Buffer[], truncated: boolean): Tail {
  return { from, bytes: Buffer.concat(pieces), truncated };
}
