/** Text that somebody else writes for a person at the keyboard, as a terminal would send it. */

const begin = Buffer.from('\x1b[200~');
const finish = Buffer.from('\x1b[201~');

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

function without(bytes: Buffer, sequences: readonly Buffer[]): Buffer {
  let rest = bytes;
  for (let found = find(rest, sequences); found !== undefined; found = find(rest, sequences)) {
    rest = Buffer.concat([rest.subarray(0, found.at), rest.subarray(found.at + found.length)]);
  }
  return rest;
}

function find(
  bytes: Buffer,
  sequences: readonly Buffer[],
): { readonly at: number; readonly length: number } | undefined {
  for (const sequence of sequences) {
    const at = bytes.indexOf(sequence);
    if (at !== -1) return { at, length: sequence.length };
  }
  return undefined;
}
