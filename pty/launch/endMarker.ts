/**
 * The end of a terminal's output, said in the terminal itself. A terminal has no end of file: what reads it cannot tell
 * "nothing more will come" from "nothing has come yet", and on some Node versions loses what arrives together with the
 * hang-up. So the guardian, when no descendant of the workload remains, writes one APC string (ECMA 48, 8.3.2) that
 * terminals do not show: ESC _ custody;end;NONCE ESC \. The workload never learns the nonce, so whatever it prints is
 * output.
 */
const escapeByte = 0x1b;
const nonceForm = /^[0-9a-f]{32}$/;

/** The bytes that end the output of the launch with this nonce (32 hex digits). Throws RangeError for another form. */
export function endMarkerBytes(nonce: string): Buffer {
  if (!nonceForm.test(nonce)) throw new RangeError('the nonce of an end marker is 32 lowercase hex digits');
  return Buffer.from(`\x1b_custody;end;${nonce}\x1b\\`, 'latin1');
}

export interface EndMarkerScanner {
  /** What of it is output for certain, in order, as pieces that may share memory with the chunk. */
  push(chunk: Buffer): Buffer[];
  /** The marker is complete: so is the output, and whatever follows is none. */
  readonly isReached: boolean;
  /** What is held back because it could begin the marker: output after all, when the terminal ends without the marker. */
  rest(): Buffer[];
}

/** For each length of a matched prefix: the longest shorter one that is also its ending (Knuth, Morris, Pratt). */
function fallbacks(marker: Buffer): Uint8Array {
  const table = new Uint8Array(marker.length + 1);
  for (let at = 1, matched = 0; at < marker.length; at++) {
    while (matched > 0 && marker[at] !== marker[matched]) matched = table[matched]!;
    if (marker[at] === marker[matched]) matched++;
    table[at + 1] = matched;
  }
  return table;
}

/** Separates output from the end marker, byte for byte, however the stream is cut into chunks; each byte is seen once. */
export function createEndMarkerScanner(nonce: string): EndMarkerScanner {
  const marker = endMarkerBytes(nonce);
  const fallback = fallbacks(marker);
  let matched = 0; // held back: marker[0..matched)
  let isReached = false;

  /** Returns how many bytes of the chunk have been looked at when the marker is complete or the chunk is used up. */
  const advance = (chunk: Buffer): number => {
    for (let at = 0; at < chunk.length; at++) {
      if (matched === 0) {
        at = chunk.indexOf(escapeByte, at);
        if (at < 0) return chunk.length;
      }
      while (matched > 0 && chunk[at] !== marker[matched]) matched = fallback[matched]!;
      if (chunk[at] === marker[matched]) matched++;
      if (matched === marker.length) return at + 1;
    }
    return chunk.length;
  };

  return {
    push: (chunk) => {
      if (isReached) return [];
      const held = matched;
      const length = held + advance(chunk) - matched; // of the output, counted from the first byte held
      isReached = matched === marker.length;
      const pieces = [marker.subarray(0, Math.min(held, length)), chunk.subarray(0, Math.max(0, length - held))];
      return pieces.filter((piece) => piece.length > 0);
    },
    get isReached() {
      return isReached;
    },
    rest: () => (matched === 0 || isReached ? [] : [marker.subarray(0, matched)]),
  };
}
