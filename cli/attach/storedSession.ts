/** A transcript on disk, as far as the command line has to know it without reading the whole index. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { unrecordedMark } from '../../actors/runtime/unrecorded.ts';
import { type Extent, storedExtents } from '../../pty/transcript/extents.ts';
import { readHeader } from '../../pty/transcript/findings.ts';
import type { TranscriptHeader } from '../../pty/transcript/layout.ts';
import type { RawPlace } from '../../pty/transcript/rawReader.ts';

export type Stored = RawPlace & { readonly header: TranscriptHeader };

/** Throws `transcript_unreadable` (exit 9), `transcript_missing` (exit 3) where nothing was kept, or `transcript_not_recorded` (exit 13). */
export async function placeOf(dir: string): Promise<Stored> {
  const header = await readHeader(dir);
  if ('version' in header) return { dir, segmentBytes: header.segmentBytes, header };
  if (existsSync(join(dir, unrecordedMark))) throw unrecorded();
  throw unreadable(header.map(({ code }) => code));
}

const unrecorded = (): OperatingError =>
  new OperatingError({
    code: 'transcript_not_recorded',
    message: 'what this terminal said was by choice not recorded, and is gone with it',
    exitCode: 13,
    next: ['custody runs exec GOAL --pty --transcript -- CMD... records'],
  });

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
