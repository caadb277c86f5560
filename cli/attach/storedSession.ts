/** A transcript on disk, as far as the command line has to know it without reading the whole index. */
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { type Extent, storedExtents } from '../../pty/transcript/extents.ts';
import { readHeader } from '../../pty/transcript/findings.ts';
import type { TranscriptHeader } from '../../pty/transcript/layout.ts';
import type { RawPlace } from '../../pty/transcript/rawReader.ts';

export type Stored = RawPlace & { readonly header: TranscriptHeader };

/** Throws `transcript_unreadable` (exit 9), or `transcript_missing` (exit 3) where nothing was kept. */
export async function placeOf(dir: string): Promise<Stored> {
  const header = await readHeader(dir);
  if ('version' in header) return { dir, segmentBytes: header.segmentBytes, header };
  throw unreadable(header.map(({ code }) => code));
}

export function unreadable(codes: readonly string[]): OperatingError {
  const isMissing = codes.includes('directory.missing');
  return new OperatingError({
    code: isMissing ? 'transcript_missing' : 'transcript_unreadable',
    message: isMissing
      ? 'nothing of what this terminal said is stored'
      : `what this terminal said cannot be read: ${codes.join(', ')}`,
    exitCode: isMissing ? 3 : 9,
    next: ['custody doctor'],
  });
}

/** The last bytes without a hole in them; undefined when there are none. */
export const lastExtent = (place: RawPlace): Extent | undefined => storedExtents(place, 0).extents.at(-1);
