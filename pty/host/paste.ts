/** Text that somebody else writes for a person at the keyboard, as a terminal would send it. */

const begin = Buffer.from('\x1b[200~');
const finish = Buffer.from('\x1b[201~');
const lastOfBracket = 0x7e;

/**
 * What a terminal sends when text is pasted: line ends as the Return key, and, for a program that asked for it (DECSET
 * 2004), the brackets that tell typing and pasting apart. A closing bracket within the text would end the paste early and
 * have the rest typed, so it is taken out, however often it is nested.
 */
export function pasted(bytes: Buffer, { bracketed }: { readonly bracketed: boolean }): Buffer {
  const text = withReturns(bytes);
  return bracketed ? Buffer.concat([begin, without(text, [begin, finish]), finish]) : text;
}

/** CR LF and LF as CR; bytes, because the text need not be UTF-8. */
function withReturns(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte === 0x0d && bytes[index + 1] === 0x0a) continue;
    out[length++] = byte === 0x0a ? 0x0d : byte;
  }
  return out.subarray(0, length);
}

/** In one pass: taking a sequence out may put another one together from what stood around it. */
function without(bytes: Buffer, sequences: readonly Buffer[]): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    out[length++] = byte;
    if (byte !== lastOfBracket) continue;
    const found = sequences.find((sequence) => endsWith(out, length, sequence));
    if (found !== undefined) length -= found.length;
  }
  return out.subarray(0, length);
}

const endsWith = (bytes: Buffer, length: number, sequence: Buffer): boolean =>
  length >= sequence.length && bytes.compare(sequence, 0, sequence.length, length - sequence.length, length) === 0;
