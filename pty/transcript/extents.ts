/** Which bytes of a session are stored, by what lies in its directory. */
import { closeSync, readdirSync } from 'node:fs';
import { openOwnFile } from './files.ts';
import { type Finding, fileFinding } from './findings.ts';
import { segmentNumber, segmentPath, segmentStart } from './layout.ts';
import type { RawPlace } from './rawReader.ts';

/** Stored bytes without a hole in them: [from, to). */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

export interface Stored {
  readonly extents: readonly Extent[];
  readonly findings: readonly Finding[];
}

/** Looks at every segment from `from` on; what lies before was dropped on purpose. */
export function storedExtents({ dir, segmentBytes }: RawPlace, from: number): Stored {
  const numbers = readdirSync(dir)
    .map(segmentNumber)
    .filter((number) => number !== undefined)
    .filter((number) => segmentStart(number, segmentBytes) >= from)
    .sort((a, b) => a - b);
  const findings: Finding[] = [];
  const extents: Extent[] = [];
  let expected = from / segmentBytes + 1;
  for (const number of numbers) {
    // One finding per hole: a stray file with a large number must not make millions.
    if (expected < number) findings.push({ code: 'segment.missing', at: expected });
    expected = number + 1;
    const path = segmentPath(dir, number);
    const opened = openOwnFile(path);
    if ('problem' in opened) {
      findings.push(fileFinding('segment', opened.problem, path));
      continue;
    }
    closeSync(opened.fd);
    const isLast = number === numbers.at(-1);
    if (opened.size > segmentBytes) findings.push({ code: 'segment.long', at: number });
    if (opened.size < segmentBytes && !isLast) findings.push({ code: 'segment.short', at: number });
    const start = segmentStart(number, segmentBytes);
    join(extents, { from: start, to: start + Math.min(opened.size, segmentBytes) });
  }
  return { extents, findings };
}

function join(extents: Extent[], next: Extent): void {
  const last = extents.at(-1);
  if (next.to === next.from) return;
  if (last?.to === next.from) extents[extents.length - 1] = { from: last.from, to: next.to };
  else extents.push(next);
}
