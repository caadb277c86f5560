/**
 * A set of texts in a fixed amount of memory (a Bloom filter): whatever was added is found; of what was not, a few are found
 * as well. A checkpoint asks it what may be cited, so a mistake keeps a row that could have gone, and never the other way.
 */
const hashes = 4;
const smallest = 1 << 20;
/** 64 MiB. */
const largest = 2 ** 29;

export class TextSet {
  readonly #bits: Uint32Array;
  readonly #size: number;

  /** `texts`: how many are expected; of ten times as many one in a hundred strangers is found. */
  constructor(texts: number) {
    let size = smallest;
    while (size < largest && size < texts * 16) size *= 2;
    this.#size = size;
    this.#bits = new Uint32Array(size / 32);
  }

  add(text: string): void {
    for (const at of this.#places(text)) this.#bits[at >>> 5]! |= 1 << (at & 31);
  }

  has(text: string): boolean {
    return this.#places(text).every((at) => (this.#bits[at >>> 5]! & (1 << (at & 31))) !== 0);
  }

  /** Two independent hashes (FNV-1a with two beginnings), combined (Kirsch and Mitzenmacher 2006). */
  #places(text: string): number[] {
    let one = 0x811c9dc5;
    let two = 0x01000193;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 0x01000193);
      two = Math.imul(two ^ code, 0x85ebca6b) ^ (two >>> 13);
    }
    const mask = this.#size - 1;
    return Array.from({ length: hashes }, (_, n) => (one + Math.imul(n, two | 1)) & mask & 0x7fffffff);
  }
}

/** Every text in a JSON text, names of members included. Never throws: of damaged JSON it finds what looks like one. */
export function* textsIn(json: string): Generator<string> {
  for (const [literal] of json.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
    if (!literal.includes('\\')) {
      yield literal.slice(1, -1);
      continue;
    }
    try {
      yield JSON.parse(literal) as string;
    } catch {
      yield literal.slice(1, -1);
    }
  }
}
